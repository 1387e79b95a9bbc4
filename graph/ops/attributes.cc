#include "graph/ops/attributes.h"

#include <algorithm>
#include <cmath>

#include "graph/ops/value_type.h"

namespace tunec {
namespace {

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool SameAttribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* number = std::get_if<double>(&a)) return SameNumber(*number, std::get<double>(b));
  if (const auto* numbers = std::get_if<std::vector<double>>(&a))
    return std::ranges::equal(*numbers, std::get<std::vector<double>>(b), SameNumber);
  return a == b;
}

Attribute AsAttribute(std::vector<SizeExpr> sizes) {
  if (!std::ranges::all_of(sizes, &SizeExpr::IsConstant)) return sizes;
  std::vector<int64_t> integers;
  for (const SizeExpr& size : sizes) integers.push_back(size.Value());
  return integers;
}

}  // namespace

std::span<const SizeExpr> SizesOf(const Attribute& attribute) {
  if (const auto* size = std::get_if<SizeExpr>(&attribute)) return {size, 1};
  if (const auto* sizes = std::get_if<std::vector<SizeExpr>>(&attribute)) return *sizes;
  return {};
}

SizeExpr ReadSize(const Attribute& attribute) {
  if (const auto* size = std::get_if<SizeExpr>(&attribute)) return *size;
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return FixedDim(*integer);
  const double number = std::get<double>(attribute);
  const bool is_integer = std::trunc(number) == number && std::abs(number) < 0x1p60;
  return is_integer ? SizeExpr(static_cast<int64_t>(number)) : SizeExpr::Unknown();
}

std::vector<SizeExpr> ReadSizes(const Attribute& attribute) {
  if (const auto* sizes = std::get_if<std::vector<SizeExpr>>(&attribute)) return *sizes;
  // Integers beyond the range of sizes are errors of every operator, so the limit hides none.
  std::vector<SizeExpr> sizes;
  for (const int64_t integer : std::get<std::vector<int64_t>>(attribute))
    sizes.push_back(FixedDim(integer));
  return sizes;
}

Attribute Substitute(const Attribute& attribute, const std::map<std::string, SizeExpr>& sizes) {
  if (const auto* size = std::get_if<SizeExpr>(&attribute)) {
    const SizeExpr replaced = Substitute(*size, sizes);
    return replaced.IsConstant() ? Attribute(replaced.Value()) : Attribute(replaced);
  }
  if (const auto* list = std::get_if<std::vector<SizeExpr>>(&attribute)) {
    std::vector<SizeExpr> replaced;
    for (const SizeExpr& size : *list) replaced.push_back(Substitute(size, sizes));
    return AsAttribute(std::move(replaced));
  }
  return attribute;
}

bool HaveSameAttributes(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && SameAttribute(left.second, right.second);
  });
}

}  // namespace tunec
