// Builds the replacement of a match.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// A replacement with types and attributes, before any node is built.
struct ReplacementPlan {
  enum class Kind : uint8_t { kExisting, kConstant, kNode };
  Kind kind = Kind::kExisting;
  ValueType type;
  ValueId value;   // kExisting
  Array constant;  // kConstant
  Op op = Op::kIdentity;
  Attributes attributes;
  std::vector<ReplacementPlan> operands;  // kNode; an omitted operand is an invalid kExisting
};

/// Returns the plan if the replacement can be typed and has the root's type and shape. Numbers take
/// the element type of the operand beside them. Nodes whose operands are all constants are
/// computed, if the result is at most 64 KiB, or at most as large as an operand without other
/// users. Returns nullopt if the element type cannot hold the result (joined_constant.h).
std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site);

/// Builds the nodes of the plan. One node takes the name of the replaced node: the one with the
/// same operator, otherwise the last.
Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder);

}  // namespace tunec
