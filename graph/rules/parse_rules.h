// Parser of rule files (docs/reference/rules.md).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "graph/rules/rule.h"

namespace tunec {

/// Parses rules. Fails with kParse for a syntax error, and for other mistakes in a rule. Examples
/// are an unknown operator, a wrong number of operands, and a variable that the pattern does not
/// bind. The error has the file, line and column.
Result<std::vector<Rule>> ParseRules(std::string_view text, std::string_view file_name);

/// Reads and parses the rules of several files, in order. Fails if a file cannot be read or parsed.
Result<RuleSet> ReadRuleFiles(const std::vector<std::string>& paths);

}  // namespace tunec
