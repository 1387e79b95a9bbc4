#include "graph/graph.h"

#include <numeric>

#include "graph/ops/op_table.h"
#include "support/check.h"

namespace tunec {
namespace {

template <class T>
const T& Get(const Node& node, std::string_view name) {
  const Attribute* value = nullptr;
  if (const auto found = node.attributes.find(name); found != node.attributes.end()) {
    value = &found->second;
  } else if (const AttributeSpec* spec = FindAttribute(node.op, name);
             spec != nullptr && spec->absence == Absence::kDefault) {
    value = &spec->default_value;
  }
  TUNEC_CHECK(value != nullptr, "node {}: {} has no attribute {}", node.name, Name(node.op), name);
  const T* typed = std::get_if<T>(value);
  TUNEC_CHECK(typed != nullptr, "node {}: attribute {} is {}", node.name, name,
              Name(KindOf(*value)));
  return *typed;
}

}  // namespace

int64_t Node::Int(std::string_view name) const { return Get<int64_t>(*this, name); }
double Node::Float(std::string_view name) const { return Get<double>(*this, name); }
const std::string& Node::String(std::string_view name) const {
  return Get<std::string>(*this, name);
}
const std::vector<int64_t>& Node::Ints(std::string_view name) const {
  return Get<std::vector<int64_t>>(*this, name);
}
const std::vector<double>& Node::Floats(std::string_view name) const {
  return Get<std::vector<double>>(*this, name);
}
bool Node::Has(std::string_view name) const { return attributes.contains(name); }

const Array* Graph::ConstantOf(ValueId id) const {
  const Node& node = producer(id);
  return node.op == Op::kConstant ? &node.constant : nullptr;
}

ValueUsers Graph::Users() const { return ValueUsers(*this); }

ValueUsers::ValueUsers(const Graph& graph) : begins_(graph.values().size() + 1) {
  for (const Node& node : graph.nodes())
    for (const ValueId input : node.inputs)
      if (input.valid()) ++begins_[input.index + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  users_.resize(static_cast<size_t>(begins_.back()));
  std::vector<int32_t> next = begins_;
  for (int32_t n = 0; n < std::ssize(graph.nodes()); ++n)
    for (const ValueId input : graph.nodes()[n].inputs)
      if (input.valid()) users_[next[input.index]++] = {n};
}

}  // namespace tunec
