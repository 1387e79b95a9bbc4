// Parser of rule files (docs/reference/rules.md).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// Parses rules. Errors (kParse) contain file:line:column: an unknown operator or attribute, a
/// wrong number of operands, a variable that the pattern does not bind, an attribute of the wrong
/// kind.
Result<std::vector<Rule>> ParseRules(std::string_view text, std::string_view file_name);

/// Reads the rules of several files, in order.
Result<RuleSet> ReadRuleFiles(const std::vector<std::string>& paths);

}  // namespace tunec
