#include "graph/reference/run.h"
#include "support/check.h"

namespace tunec {
namespace reference {
namespace {

/// Null for what the reference does not execute.
RunOp Find(Op op) {
  switch (op) {
    case Op::kCast:
      return RunCast;
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      return RunComparison;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kPow:
    case Op::kMin:
    case Op::kMax:
    case Op::kMod:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
    case Op::kPrelu:
      return RunBinary;
    case Op::kWhere:
      return RunWhere;
    case Op::kMatmul:
      return RunMatmul;
    case Op::kConv:
    case Op::kConvTranspose:
      return RunConv;
    case Op::kAttention:
      return RunAttention;
    case Op::kMaxPool:
    case Op::kAveragePool:
      return RunPool;
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kReduceProd:
    case Op::kReduceL1:
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
    case Op::kReduceLogSumExp:
      return RunReduction;
    case Op::kArgMax:
    case Op::kArgMin:
      return RunArg;
    case Op::kCumSum:
      return RunCumSum;
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return RunSoftmax;
    case Op::kBatchNorm:
      return RunBatchNorm;
    case Op::kInstanceNorm:
    case Op::kGroupNorm:
      return RunInstanceNorm;
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return RunAxisNorm;
    case Op::kLrn:
      return RunLrn;
    case Op::kReshape:
    case Op::kIdentity:
    case Op::kCopy:
    case Op::kToDevice:
      return RunReshape;
    case Op::kTranspose:
    case Op::kExpand:
    case Op::kSlice:
    case Op::kPad:
    case Op::kTile:
      return RunMovement;
    case Op::kConcat:
      return RunConcat;
    case Op::kGather:
      return RunGather;
    case Op::kGatherElements:
      return RunGatherElements;
    case Op::kResize:
      return RunResize;
    case Op::kRange:
      return RunRange;
    case Op::kOneHot:
      return RunOneHot;
    case Op::kRotaryEmbedding:
      return RunRotaryEmbedding;
    case Op::kAlloc:
      return RunAlloc;
    case Op::kFree:
      return [](const RunContext&) -> Outputs { return std::vector<Array>{}; };
    case Op::kInput:
    case Op::kConstant:
    case Op::kIf:
    case Op::kWhile:
    case Op::kScan:
      return nullptr;
    default:
      return RunUnary;  // the remaining elementwise operators of one operand
  }
}

/// A result that memory cannot hold is the model's fault, not a reason to stop.
Status CheckOutputs(const Node& node, std::span<const ValueType> types) {
  constexpr int64_t kMostElements = int64_t{1} << 33;
  for (const ValueType& type : types) {
    if (!type.IsFixed())
      return Fail(ErrorCode::kUnsupported, "node {}: {} has a result of unknown size", node.name,
                  Name(node.op));
    const int64_t count = ElementCount(type.Shape());
    if (count < 0 || count > kMostElements)
      return Fail(ErrorCode::kResourceLimit,
                  "node {}: {} has a result of {} elements, wanted at most {}", node.name,
                  Name(node.op), count, kMostElements);
  }
  return {};
}

}  // namespace
}  // namespace reference

Result<std::vector<Array>> RunNode(const Node& node, std::span<const Array> inputs,
                                   std::span<const ValueType> output_types, Precision precision) {
  TUNEC_RETURN_IF_ERROR(reference::CheckOutputs(node, output_types));
  const reference::RunOp run = reference::Find(node.op);
  if (run == nullptr)
    return Fail(ErrorCode::kUnsupported, "node {}: the reference does not execute {}", node.name,
                Name(node.op));
  TUNEC_ASSIGN(std::vector<Array> outputs, run({node, inputs, output_types, precision}));
  if (precision == Precision::kFloat64)
    for (Array& output : outputs) output = reference::Widened(output);
  return outputs;
}

}  // namespace tunec
