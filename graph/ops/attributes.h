// The attributes of a node: its fixed parameters besides the operands.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/size/size_expr.h"

namespace tunec {

/// The value of an attribute. op_table.cc lists the attributes of each operator. A number with
/// named sizes is a SizeExpr, and a list with such a number is a list of SizeExpr. A graph without
/// named sizes has no attribute of these two kinds.
using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, SizeExpr, std::vector<SizeExpr>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// Returns the numbers of an attribute with named sizes, or an empty span.
std::span<const SizeExpr> SizesOf(const Attribute& attribute);
/// Returns a number as a size. It is unknown for a float that is not an integer below 2^60.
/// Requires: the attribute is a number, with or without named sizes.
SizeExpr ReadSize(const Attribute& attribute);
/// Returns a list of integers or of sizes as sizes.
std::vector<SizeExpr> ReadSizes(const Attribute& attribute);
/// Returns the attribute with the sizes replaced. A number without named sizes becomes an integer.
Attribute Substitute(const Attribute& attribute, const std::map<std::string, SizeExpr>& sizes);

/// Returns whether both have the same names with the same values. NaN equals NaN.
bool HaveSameAttributes(const Attributes& a, const Attributes& b);

}  // namespace tunec
