// Each node of the group becomes a lazy value, in order; see context.h.
#include "graph/lower/lower.h"

#include <fmt/format.h>

#include "graph/lower/lower_node.h"
#include "graph/lower/merge_writes.h"
#include "graph/lower/tidy_compute.h"

namespace tunec {
namespace lower {
namespace {

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

// Returns a value without elements. Nothing is computed or read, because the operands may also have
// no elements.
Lazy WithoutElements(DataType type, const std::vector<int64_t>& shape, LowerContext& context) {
  return context.Define(type, shape, 0, [type](StatementBuilder&, const Index&) {
    return Expr::Constant(0, ComputeType(type));
  });
}

}  // namespace

Result<Lazy> LowerNode(LowerContext& context, const Node& node) {
  const Lowerer lower = LowererOf(node.op).lower;
  if (lower == nullptr || node.outputs.size() != 1)
    return FailAt(node.where, ErrorCode::kUnsupported, "'{}': operator {} has no lowering",
                  node.name, Name(node.op));
  const std::vector<int64_t> shape = context.OutputShape(node);
  if (ElementCount(shape) == 0) return WithoutElements(context.OutputType(node), shape, context);
  return lower(context, node);
}

}  // namespace lower

Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group,
                                    const FusionMachine& machine, Transforms transforms) {
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
      lowerings.push_back({fmt::format("streaming,rows={},chunk={}{}", sizes.rows, sizes.chunk,
                                       sizes.ends ? ",ends" : ""),
                           std::move(streaming)});
    }
  }
  bool winograd = false;
  for (const NodeId id : group.nodes) winograd |= lower::HasWinogradVariant(graph, graph.node(id));
  using Named = std::pair<lower::Variant, const char*>;
  for (const auto& [variant, name] : {Named(lower::Variant::kWinograd, "winograd"),
                                      Named(lower::Variant::kWinograd4, "winograd,tile=4")}) {
    const bool is_accurate = variant == lower::Variant::kWinograd;
    if (!winograd || !(is_accurate || transforms == Transforms::kAll)) break;
    TUNEC_ASSIGN(Compute transformed, lower::Build(graph, group, machine, variant));
    lowerings.push_back({name, std::move(transformed)});
  }
  return lowerings;
}

}  // namespace tunec
