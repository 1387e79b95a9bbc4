// The functions that conditions and attributes of rules may call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/rules/match_site.h"

namespace tunec {

/// The result of a function or an expression. True is the integer 1. If a function is undefined for
/// its arguments, the result has no value. Examples are the number of a constant with different
/// elements, and an element past the end of a list. A condition whose result has no value does not
/// hold.
using RuleValue = std::optional<Attribute>;

struct RuleArgument {
  ValueId value;        // for parameters that are values of the graph
  Attribute attribute;  // for all other parameters
};

struct RuleFunction {
  std::string_view name;
  /// A letter for each parameter: 'v' for a value of the graph, 'e' for an expression.
  std::string_view parameters;
  RuleValue (*call)(const MatchSite& site, std::span<const RuleArgument> arguments);
};

/// Returns the function with this name, or null. The sign of an arithmetic operator or a comparison
/// is the name of a function, too.
const RuleFunction* FindRuleFunction(std::string_view name);

std::optional<double> AsNumber(const Attribute& attribute);
bool IsTrue(const RuleValue& value);
/// Returns whether two attributes are equal. Single integers and floats are compared as doubles.
bool AreEqualAttributes(const Attribute& a, const Attribute& b);

/// Returns the value of the expression under the bindings.
RuleValue Evaluate(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings);

/// Returns the node's attribute, or else its default. The result has no value if both are missing.
RuleValue AttributeOf(const NodeView& node, std::string_view name);

}  // namespace tunec
