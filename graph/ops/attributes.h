// The attributes of a node: its fixed parameters besides the operands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tunec {

/// The value of an attribute. op_table.cc lists the attributes of each operator.
using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// Returns whether both have the same names with the same values. NaN equals NaN.
bool HaveSameAttributes(const Attributes& a, const Attributes& b);

}  // namespace tunec
