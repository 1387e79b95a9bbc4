// Construction of the nodes that replace the match of a rule.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// A value of a replacement before any node is built. It is an existing value, a new constant, or
/// the result of a new node with plans of its operands.
struct ReplacementPlan {
  enum class Kind : uint8_t { kExisting, kConstant, kNode };
  Kind kind = Kind::kExisting;
  ValueType type;
  ValueId value;   // for kExisting
  Array constant;  // for kConstant, and for kExisting if `value` is a constant; else without data
  Op op = Op::kIdentity;
  Attributes attributes;
  std::vector<ReplacementPlan> operands;  // for kNode; omitted: kExisting with an invalid value
};

/// Returns the plan if type inference accepts the replacement, and if its type and shape equal
/// those of the root. A number takes the element type of the first operand that is not one. A node
/// whose operands are all constants is computed if its result is at most 64 KiB, or at most as
/// large as an operand without other users. Returns nothing if the element type cannot represent a
/// computed result (joined_constant.h), or if the result is not finite under FloatRules::kStrict.
std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site);

/// Adds the nodes of the plan and returns their result. The first node with the replaced node's
/// operator takes the replaced node's name. If there is no such node, the last node takes the name.
Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder);

}  // namespace tunec
