// What a rule sees where it is tried.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// Stands for the output of the node that a rule is tried on: that node is in no graph yet.
inline constexpr ValueId kRootValue{INT32_MAX};

/// A node, whether it is in a graph or about to be.
struct NodeView {
  Op op = Op::kInput;
  const Attributes* attributes = nullptr;
  std::span<const ValueId> inputs;
};

/// The values of constants of equal elements, found once each.
class UniformValues {
 public:
  std::optional<double> Of(const Graph& graph, ValueId value);

 private:
  std::unordered_map<int32_t, std::optional<double>> known_;
};

/// A node about to be added to a graph that is being built, and what is known there.
struct MatchSite {
  const Graph& graph;  // holds the root's operands
  NodeView root;
  const ValueType& root_type;
  std::span<const int> uses;  // of the graph's values, the root's included
  FloatRules rules;
  UniformValues& uniform;

  /// Of a value with a producer of one output; else an operator that no pattern names.
  NodeView NodeOf(ValueId value) const;
  const ValueType& TypeOf(ValueId value) const;
  /// Null for the root and for what is computed.
  const Array* ConstantOf(ValueId value) const;
  /// The value of a constant whose elements are all equal.
  std::optional<double> Uniform(ValueId value) const;
};

/// What a variable of a rule stands for; which member, its kind says.
struct RuleBinding {
  bool bound = false;
  ValueId value;
  std::vector<ValueId> rest;
  Attribute attribute;
};
using RuleBindings = std::vector<RuleBinding>;  // one per variable

}  // namespace tunec
