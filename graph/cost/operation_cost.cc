#include "graph/cost/operation_cost.h"

#include <algorithm>

namespace tunec {
namespace {

double Product(std::span<const int64_t> extents) {
  return static_cast<double>(ElementCount(extents));
}

// Results of the operator for each element of the operand, as far as shapes tell.
double Spread(const Graph& graph, const Node& node, ValueId operand) {
  const int64_t elements = graph.value(operand).type.Elements();
  if (elements == 0) return 1;
  return static_cast<double>(graph.value(node.outputs[0]).type.Elements()) /
         static_cast<double>(elements);
}

// Windows of a convolution that an element of its input is in.
double TimesInWindows(const Graph& graph, const Node& node) {
  const auto spatial = [&](ValueId value) {
    const std::vector<int64_t> shape = graph.value(value).type.Shape();
    return Product(std::span(shape).subspan(2));
  };
  return spatial(node.outputs[0]) * spatial(node.inputs[1]) /
         std::max(1.0, spatial(node.inputs[0]));
}

// Passes over the operand that a reduction or normalisation makes.
double Passes(const Node& node) {
  switch (node.op) {
    case Op::kLayerNorm:
    case Op::kInstanceNorm:
    case Op::kGroupNorm:
    case Op::kLogSoftmax:
      return 3;
    case Op::kSoftmax:
    case Op::kRmsNorm:
    case Op::kReduceLogSumExp:
      return 2;
    case Op::kLrn:
      return static_cast<double>(node.Int("size")) + 1;
    default:
      return 1;
  }
}

int PerElementOfFunction(const Node& node) {
  switch (node.op) {
    case Op::kBatchNorm:
      return 2 * kDivisionCost + 7;
    case Op::kResize:
      return node.String("mode") == "cubic" ? 30 : 6;
    case Op::kLrn:
      return 2 * kFunctionCost;
    default:
      return kFunctionCost;
  }
}

}  // namespace

int OperationsPerElement(const Node& node) {
  switch (node.op) {
    case Op::kIdentity:
    case Op::kCopy:
    case Op::kTranspose:
    case Op::kReshape:
    case Op::kExpand:
    case Op::kSlice:
    case Op::kMatmul:
    case Op::kConv:
    case Op::kConvTranspose:
    case Op::kAttention:
      return 0;
    case Op::kCast:
    case Op::kNeg:
    case Op::kAbs:
    case Op::kSign:
    case Op::kNot:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kIsNan:
    case Op::kIsInf:
    case Op::kRelu:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
    case Op::kWhere:
    case Op::kConcat:
    case Op::kPad:
    case Op::kTile:
    case Op::kRange:
      return 1;
    case Op::kClip:
    case Op::kLeakyRelu:
    case Op::kPrelu:
    case Op::kThresholdedRelu:
    case Op::kGather:
    case Op::kGatherElements:
      return 2;
    case Op::kHardSigmoid:
    case Op::kHardSwish:
    case Op::kOneHot:
    case Op::kRotaryEmbedding:
      return 4;
    case Op::kDiv:
    case Op::kReciprocal:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kSoftsign:
    case Op::kMod:
      return kDivisionCost;
    default:
      return PerElementOfFunction(node);
  }
}

bool HasNoWindows(const Graph& graph, const Node& node) {
  if (node.op == Op::kMatmul) return true;
  if (node.op != Op::kConv) return false;
  const std::vector<int64_t> weight = graph.value(node.inputs[1]).type.Shape();
  const auto is_one = [](int64_t extent) { return extent == 1; };
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  return std::all_of(weight.begin() + 2, weight.end(), is_one) &&
         std::ranges::all_of(node.Ints("pads"), is_zero);
}

double TimesComputed(const Graph& graph, const Node& node, ValueId operand, double operations) {
  const bool first = !node.inputs.empty() && node.inputs[0] == operand;
  switch (PatternOf(node.op)) {
    case OpPattern::kReduction:
    case OpPattern::kComposite:
      if (!first) return Spread(graph, node, operand);
      if (node.op == Op::kMaxPool || node.op == Op::kAveragePool)
        return Spread(graph, node, operand) * Product(node.Ints("kernel"));
      return operations > kRecomputeLimit ? 1 : Passes(node);
    case OpPattern::kContraction:
      return node.op == Op::kConv && first ? TimesInWindows(graph, node)
                                           : Spread(graph, node, operand);
    case OpPattern::kInjective:
      if (node.op == Op::kRotaryEmbedding && first) return 2;
      return node.op == Op::kConcat || node.op == Op::kPad ? 1 : Spread(graph, node, operand);
    default:
      return Spread(graph, node, operand);
  }
}

}  // namespace tunec
