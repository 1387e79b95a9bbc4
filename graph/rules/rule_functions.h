// The functions that conditions and attributes of rules may call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/rules/match_site.h"

namespace tunec {

/// The result of an expression. True is the integer 1. Empty: undefined, for example the value of a
/// constant with different elements, or an element past the end of a list. A condition with an
/// undefined result is false.
using RuleValue = std::optional<Attribute>;

struct RuleArgument {
  ValueId value;        // for parameters that are values of the graph
  Attribute attribute;  // for other parameters
};

struct RuleFunction {
  std::string_view name;
  /// One letter per parameter: 'v' a value of the graph, 'e' an expression.
  std::string_view parameters;
  RuleValue (*call)(const MatchSite& site, std::span<const RuleArgument> arguments);
};

/// Returns the function, or null if it does not exist. Operators are called by their sign.
const RuleFunction* FindRuleFunction(std::string_view name);

std::optional<double> AsNumber(const Attribute& attribute);
bool IsTrue(const RuleValue& value);
/// Returns whether the attributes are equal. Integers and floats compare as numbers.
bool EqualAttributes(const Attribute& a, const Attribute& b);

/// Returns the value of the expression under these bindings.
RuleValue Evaluate(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings);

/// Returns the node's attribute, or its default.
RuleValue AttributeOf(const NodeView& node, std::string_view name);

}  // namespace tunec
