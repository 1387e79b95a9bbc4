// The functions that conditions and attributes of rules may call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/rules/match_site.h"

namespace tunec {

/// Truth is the integer 1. Nothing: not defined here (the value of a constant that has several,
/// an element past the end of a list); a condition of that does not hold.
using RuleValue = std::optional<Attribute>;

struct RuleArgument {
  ValueId value;        // of parameters that are values of the graph
  Attribute attribute;  // of the others
};

struct RuleFunction {
  std::string_view name;
  /// One letter per parameter: 'v' a value of the graph, 'e' an expression.
  std::string_view parameters;
  RuleValue (*call)(const MatchSite& site, std::span<const RuleArgument> arguments);
};

/// Null when there is none. Operators are called by their sign.
const RuleFunction* FindRuleFunction(std::string_view name);

std::optional<double> AsNumber(const Attribute& attribute);
bool IsTrue(const RuleValue& value);
/// Numbers compare as numbers, whether written as integers or not.
bool EqualAttributes(const Attribute& a, const Attribute& b);

/// The value of the expression under these bindings.
RuleValue Evaluate(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings);

/// The node's attribute, or its default.
RuleValue AttributeOf(const NodeView& node, std::string_view name);

}  // namespace tunec
