#include "graph/graph.h"

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

std::vector<std::vector<NodeId>> Graph::Users() const {
  std::vector<std::vector<NodeId>> users(values().size());
  for (size_t i = 0; i < nodes().size(); ++i)
    for (const ValueId input : nodes()[i].inputs)
      if (input.valid()) users[input.index].push_back({static_cast<int32_t>(i)});
  return users;
}

}  // namespace tunec
