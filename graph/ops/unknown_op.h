// Messages of parsers about unknown operators.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns text such as "matmu is no operator; did you mean matmul?". `where` is inserted after
/// "operator", for example " for a rule".
std::string NoOperator(std::string_view name, std::string_view where = "");

}  // namespace tunec
