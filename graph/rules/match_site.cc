#include "graph/rules/match_site.h"

#include <algorithm>

namespace tunec {

std::optional<double> UniformValues::Of(const Graph& graph, ValueId value) {
  const Array* constant = graph.ConstantOf(value);
  if (constant == nullptr || constant->size() == 0) return {};
  if (const auto found = known_.find(value.index); found != known_.end()) return found->second;
  const size_t width = SizeOf(constant->type());
  const std::byte* first = constant->data();
  bool equal = true;
  for (int64_t i = 1; i < constant->size() && equal; ++i)
    equal = std::equal(first, first + width, first + static_cast<size_t>(i) * width);
  const auto uniform = equal ? std::optional(constant->GetDouble(0)) : std::nullopt;
  known_.emplace(value.index, uniform);
  return uniform;
}

NodeView MatchSite::NodeOf(ValueId value) const {
  if (value == kRootValue) return root;
  const Node& node = graph.producer(value);
  if (node.outputs.size() != 1 || !node.bodies.empty()) return {};
  return {node.op, &node.attributes, node.inputs};
}

const ValueType& MatchSite::TypeOf(ValueId value) const {
  return value == kRootValue ? root_type : graph.value(value).type;
}

const Array* MatchSite::ConstantOf(ValueId value) const {
  return value == kRootValue || !value.valid() ? nullptr : graph.ConstantOf(value);
}

std::optional<double> MatchSite::Uniform(ValueId value) const {
  if (value == kRootValue || !value.valid()) return {};
  return uniform.Of(graph, value);
}

}  // namespace tunec
