#include "graph/ops/attributes.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

bool HaveSameAttributes(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && SameAttribute(left.second, right.second);
  });
}

}  // namespace tunec
