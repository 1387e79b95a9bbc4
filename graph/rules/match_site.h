// The data that a rule can access at the node where it is tried.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// A placeholder for the output of the node on which a rule is tried, because that node is not in a
/// graph yet.
inline constexpr ValueId kRootValue{INT32_MAX};

/// A node that is in a graph or about to be added.
struct NodeView {
  Op op = Op::kInput;
  const Attributes* attributes = nullptr;
  std::span<const ValueId> inputs;
};

/// A cache of the values of constants whose elements are all equal.
class UniformValues {
 public:
  std::optional<double> Of(const Graph& graph, ValueId value);

 private:
  std::unordered_map<int32_t, std::optional<double>> known_;
};

/// A node about to be added to a graph under construction, with the data known at that time.
struct MatchSite {
  const Graph& graph;  // holds the root's operands
  NodeView root;
  const ValueType& root_type;
  std::span<const int> uses;  // by value of the graph, including the root's operands
  FloatRules rules;
  UniformValues& uniform;

  /// Returns the producer of a value, if it has one output; otherwise an operator that no pattern
  /// contains.
  NodeView NodeOf(ValueId value) const;
  const ValueType& TypeOf(ValueId value) const;
  /// Returns the constant of a value; null for the root and for computed values.
  const Array* ConstantOf(ValueId value) const;
  /// Returns the value of a constant whose elements are all equal.
  std::optional<double> Uniform(ValueId value) const;
};

/// The binding of a rule's variable. The variable's kind selects the member.
struct RuleBinding {
  bool bound = false;
  ValueId value;
  std::vector<ValueId> rest;
  Attribute attribute;
};
using RuleBindings = std::vector<RuleBinding>;  // one per variable

}  // namespace tunec
