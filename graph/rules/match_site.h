// The context in which a rule is tried.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// A placeholder for the output of the node that a rule is tried on. The graph may lack this node.
inline constexpr ValueId kRootValue{INT32_MAX};

/// A view of a node that is in a graph or may be added to a graph.
struct NodeView {
  Op op = Op::kInput;
  const Attributes* attributes = nullptr;
  std::span<const ValueId> inputs;
};

/// A cache of the number that all elements of a constant equal, or of its absence.
class UniformValues {
 public:
  std::optional<double> Of(const Graph& graph, ValueId value);

 private:
  std::unordered_map<int32_t, std::optional<double>> known_;
};

/// A graph, and the node on which a rule is tried (the root). A graph under construction does not
/// contain the root. If only ranges are computed, the root can be empty.
struct MatchSite {
  const Graph& graph;  // contains the root's operands
  NodeView root;
  const ValueType& root_type;
  std::span<const int> uses;  // number of users per value of the graph; the root is a user
  FloatRules rules;
  UniformValues& uniform;

  /// Returns the node that computes the value. If that node has several outputs or nested graphs,
  /// returns a view with the operator kInput instead.
  NodeView NodeOf(ValueId value) const;
  const ValueType& TypeOf(ValueId value) const;
  /// Returns the elements of a constant; null for all other values, the root, and omitted operands.
  const Array* ConstantOf(ValueId value) const;
  /// Returns the number that all elements of a constant equal, or nothing if there is none.
  std::optional<double> Uniform(ValueId value) const;
};

/// The binding of a rule's variable. The variable's kind decides whether `value`, `rest` or
/// `attribute` is used.
struct RuleBinding {
  bool bound = false;
  ValueId value;
  std::vector<ValueId> rest;
  Attribute attribute;
};
using RuleBindings = std::vector<RuleBinding>;  // one per variable

}  // namespace tunec
