// Construction of the nodes that replace a match.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// A replacement with types and attributes, before any node is built.
struct ReplacementPlan {
  enum class Kind : uint8_t { kExisting, kConstant, kNode };
  Kind kind = Kind::kExisting;
  ValueType type;
  ValueId value;   // for kExisting
  Array constant;  // for kConstant
  Op op = Op::kIdentity;
  Attributes attributes;
  std::vector<ReplacementPlan> operands;  // for kNode; omitted: kExisting with an invalid value
};

/// Returns the plan if type inference accepts the replacement, and its type and shape are the
/// root's. A number takes the element type of the first operand that is not a number. A node whose
/// operands are all constants is computed if its result is at most 64 KiB, or at most as large as
/// an operand without other users. Returns nothing if the element type cannot represent a computed
/// result (joined_constant.h), or if the result is not finite under FloatRules::kStrict.
std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site);

/// Adds the nodes of the plan and returns their result. The first node with the replaced node's
/// operator takes the replaced node's name. If there is no such node, the last node takes the name.
Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder);

}  // namespace tunec
