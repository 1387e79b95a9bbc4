// Each node of the group in order becomes a lazy value; see context.h.
#include "graph/lower/lower.h"

#include <fmt/format.h>

#include "graph/lower/lower_node.h"
#include "graph/lower/merge_writes.h"
#include "graph/lower/tidy_compute.h"

namespace tunec {
namespace lower {
namespace {

using Lowerer = Result<Lazy> (*)(LowerContext&, const Node&);

// Operators that are neither elementwise nor listed here have no lowering.
Lowerer LowererOf(Op op) {
  switch (op) {
    case Op::kBatchNorm:
      return LowerBatchNorm;
    case Op::kMatmul:
      return LowerMatmul;
    case Op::kConv:
      return LowerConv;
    case Op::kConvTranspose:
      return LowerConvTranspose;
    case Op::kAttention:
      return LowerAttention;
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kReduceProd:
    case Op::kReduceL1:
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
      return LowerReduce;
    case Op::kReduceLogSumExp:
      return LowerLogSumExp;
    case Op::kArgMax:
    case Op::kArgMin:
      return LowerArgReduce;
    case Op::kCumSum:
      return LowerCumSum;
    case Op::kMaxPool:
      return LowerMaxPool;
    case Op::kAveragePool:
      return LowerAveragePool;
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return LowerSoftmax;
    case Op::kLayerNorm:
      return LowerLayerNorm;
    case Op::kRmsNorm:
      return LowerRmsNorm;
    case Op::kInstanceNorm:
      return LowerInstanceNorm;
    case Op::kGroupNorm:
      return LowerGroupNorm;
    case Op::kLrn:
      return LowerLrn;
    case Op::kTranspose:
      return LowerTranspose;
    case Op::kReshape:
      return LowerReshape;
    case Op::kExpand:
      return LowerExpand;
    case Op::kSlice:
      return LowerSlice;
    case Op::kConcat:
      return LowerConcat;
    case Op::kTile:
      return LowerTile;
    case Op::kPad:
      return LowerPad;
    case Op::kGather:
      return LowerGather;
    case Op::kGatherElements:
      return LowerGatherElements;
    case Op::kOneHot:
      return LowerOneHot;
    case Op::kRange:
      return LowerRange;
    case Op::kResize:
      return LowerResize;
    case Op::kRotaryEmbedding:
      return LowerRotaryEmbedding;
    default:
      return PatternOf(op) == OpPattern::kElementwise ? LowerElementwise : nullptr;
  }
}

Result<Compute> Build(const Graph& graph, const FusionGroup& group, const FusionMachine& machine,
                      Variant variant, StreamingSizes sizes = {}) {
  LowerContext context(graph, group, machine, variant, sizes);
  for (const NodeId id : group.nodes) {
    const Node& node = graph.node(id);
    TUNEC_ASSIGN(Lazy value, LowerNode(context, node));
    TUNEC_RETURN_IF_ERROR(context.Bind(node.outputs[0], std::move(value)));
  }
  return MergeWrites(Tidy(std::move(context).Finish()));
}

Status CheckTypes(const Graph& graph, const FusionGroup& group) {
  const auto check = [&](ValueId value) -> Status {
    if (graph.value(value).type.IsFixed()) return {};
    return Fail(ErrorCode::kUnsupported, "'{}' has a dimension that is not fixed",
                graph.value(value).name);
  };
  for (const ValueId input : group.inputs) TUNEC_RETURN_IF_ERROR(check(input));
  for (const NodeId id : group.nodes)
    for (const ValueId output : graph.node(id).outputs) TUNEC_RETURN_IF_ERROR(check(output));
  return {};
}

// Nothing is computed and nothing read: the operands may have no elements either.
Lazy WithoutElements(DataType type, const std::vector<int64_t>& shape, LowerContext& context) {
  return context.Define(type, shape, 0, [type](StatementBuilder&, const Index&) {
    return Expr::Constant(0, ComputeType(type));
  });
}

}  // namespace

Result<Lazy> LowerNode(LowerContext& context, const Node& node) {
  const Lowerer lower = LowererOf(node.op);
  if (lower == nullptr || node.outputs.size() != 1)
    return FailAt(node.where, ErrorCode::kUnsupported, "'{}': operator {} has no lowering",
                  node.name, Name(node.op));
  const std::vector<int64_t> shape = context.OutputShape(node);
  if (ElementCount(shape) == 0) return WithoutElements(context.OutputType(node), shape, context);
  return lower(context, node);
}

}  // namespace lower

Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group,
                                    const FusionMachine& machine) {
  TUNEC_RETURN_IF_ERROR(lower::CheckTypes(graph, group));
  bool flat = false;
  for (const NodeId id : group.nodes) flat |= lower::HasFlatVariant(graph, graph.node(id));
  std::vector<Lowering> lowerings;
  if (flat) {
    TUNEC_ASSIGN(Compute compute, lower::Build(graph, group, machine, lower::Variant::kFlat));
    lowerings.push_back({"flat", std::move(compute)});
  }
  TUNEC_ASSIGN(Compute compute, lower::Build(graph, group, machine, lower::Variant::kDirect));
  lowerings.push_back({"direct", std::move(compute)});
  for (const NodeId id : group.nodes) {
    for (const lower::StreamingSizes& sizes : lower::StreamingSizesOf(graph, graph.node(id))) {
      TUNEC_ASSIGN(Compute streaming,
                   lower::Build(graph, group, machine, lower::Variant::kStreaming, sizes));
      lowerings.push_back({fmt::format("streaming,rows={},chunk={}", sizes.rows, sizes.chunk),
                           std::move(streaming)});
    }
  }
  return lowerings;
}

}  // namespace tunec
