// What parsers say of a word that stands where an operator should.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// "matmu is no operator; did you mean matmul?"; `where` may narrow it down: " for a rule".
std::string NoOperator(std::string_view name, std::string_view where = "");

}  // namespace tunec
