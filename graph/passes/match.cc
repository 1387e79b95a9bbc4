#include "graph/passes/match.h"

#include <cmath>

namespace tunec {
namespace {

bool CommutesInGraph(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kMin || op == Op::kMax;
}

std::optional<Bindings> Bind(const Bindings& known, const std::string& name, ValueId value) {
  if (name.empty()) return known;
  if (const auto at = known.find(name); at != known.end())
    return at->second == value ? std::optional(known) : std::nullopt;
  Bindings more = known;
  more.emplace(name, value);
  return more;
}

}  // namespace

std::optional<double> UniformValue(const Graph& graph, ValueId value) {
  const Array* constant = graph.ConstantOf(value);
  if (constant == nullptr || constant->size() == 0) return {};
  const double first = constant->GetDouble(0);
  for (int64_t i = 1; i < constant->size(); ++i)
    if (constant->GetDouble(i) != first) return {};
  return first;
}

Pattern Pattern::Any(std::string name) {
  return Pattern({.kind = Kind::kAny, .name = std::move(name), .operands = {}});
}

Pattern Pattern::Number(double value) {
  return Pattern({.kind = Kind::kNumber, .number = value, .name = {}, .operands = {}});
}

Pattern Pattern::AnyNumber(std::string name) {
  return Pattern({.kind = Kind::kAnyNumber, .name = std::move(name), .operands = {}});
}

Pattern Pattern::Node(Op op, std::vector<Pattern> operands) {
  return Pattern({.kind = Kind::kNode, .op = op, .name = {}, .operands = std::move(operands)});
}

Pattern Pattern::Named(std::string name) const {
  Data data = *data_;
  data.name = std::move(name);
  return Pattern(std::move(data));
}

std::optional<Bindings> Pattern::Match(const Graph& graph, ValueId value) const {
  return Extend(graph, value, {});
}

std::optional<Bindings> Pattern::Extend(const Graph& graph, ValueId value,
                                        const Bindings& known) const {
  if (!value.valid()) return {};
  switch (data_->kind) {
    case Kind::kAny:
      return Bind(known, data_->name, value);
    case Kind::kNode:
      return ExtendNode(graph, value, known);
    case Kind::kAnyNumber:
    case Kind::kNumber:
      break;
  }
  const std::optional<double> number = UniformValue(graph, value);
  if (!number) return {};
  if (data_->kind == Kind::kAnyNumber) return Bind(known, data_->name, value);
  if (std::abs(*number - data_->number) > 1e-4 * std::abs(data_->number)) return {};
  return known;
}

std::optional<Bindings> Pattern::ExtendNode(const Graph& graph, ValueId value,
                                            const Bindings& known) const {
  const tunec::Node& node = graph.producer(value);
  if (node.op != data_->op || node.inputs.size() != data_->operands.size()) return {};
  const std::optional<Bindings> named = Bind(known, data_->name, value);
  if (!named) return {};
  const size_t orders = CommutesInGraph(node.op) ? 2 : 1;
  for (size_t order = 0; order < orders; ++order) {
    std::optional<Bindings> bindings = named;
    for (size_t i = 0; i < node.inputs.size() && bindings; ++i)
      bindings = data_->operands[i].Extend(graph, node.inputs[i ^ order], *bindings);
    if (bindings) return bindings;
  }
  return {};
}

}  // namespace tunec
