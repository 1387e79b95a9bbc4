// What is fixed about a node beside its operands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tunec {

/// Attributes by name. Which an operator has, and their defaults, is in the operator table.
using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// The same names with the same values, a NaN being the same as a NaN.
bool SameAttributes(const Attributes& a, const Attributes& b);

}  // namespace tunec
