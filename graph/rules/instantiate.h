// What replaces a match.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// A replacement whose types and attributes are known, before anything is built.
struct ReplacementPlan {
  enum class Kind : uint8_t { kExisting, kConstant, kNode };
  Kind kind = Kind::kExisting;
  ValueType type;
  ValueId value;   // kExisting
  Array constant;  // kConstant
  Op op = Op::kIdentity;
  Attributes attributes;
  std::vector<ReplacementPlan> operands;  // kNode; an omitted one is an invalid kExisting
};

/// The plan, when the replacement can be typed there and has the root's type and shape. Numbers
/// take the element type of what they are combined with. Nodes of constants alone are computed,
/// if the result is not larger than 64 KiB or than an operand that has no other user; there is no
/// plan where the element type does not hold what they make (joined_constant.h).
std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site);

/// Adds what the plan needs. The node with the operator of the one that is replaced, if there
/// is one, else the last, takes its name.
Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder);

}  // namespace tunec
