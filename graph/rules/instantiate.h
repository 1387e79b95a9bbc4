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

/// Returns the plan if type inference accepts the replacement, and if the replacement has the type
/// and shape of the root. A number usually takes the element type of another operand. A node whose
/// operands are all constants is computed if its result is at most 64 KiB, or at most as large as
/// an operand without other users. Returns nothing if the element type cannot represent a number or
/// a computed result (joined_constant.h). Also returns nothing if an expression has no value, or if
/// a computed result is not finite under FloatRules::kStrict.
std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site);

/// Adds the nodes of the plan and returns the plan's result. In preorder, the first node with the
/// replaced node's operator takes the replaced node's name. If there is none, the root takes the
/// name, unless the root is a constant or an existing value.
Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder);

}  // namespace tunec
