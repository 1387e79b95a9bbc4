// Parser of rule files (docs/reference/rules.md).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// Parses rules. Fails with kParse for a syntax error, an unknown operator or attribute, and a
/// wrong number of operands. Also fails for a variable that the pattern does not bind, and for an
/// attribute of the wrong kind. The message has file:line:column.
Result<std::vector<Rule>> ParseRules(std::string_view text, std::string_view file_name);

/// Reads and parses the rules of several files, in order. Fails if a file cannot be read or parsed.
Result<RuleSet> ReadRuleFiles(const std::vector<std::string>& paths);

}  // namespace tunec
