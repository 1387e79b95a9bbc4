#include "runtime/sized/size_formula.h"

#include <algorithm>
#include <cmath>

namespace tunec {

double SizeFormula::Sum(const Sizes& sizes) const {
  double sum = constant;
  for (size_t d = 0; d < factors.size(); ++d) sum += factors[d] * static_cast<double>(sizes[d]);
  return divisor == 1 ? sum : std::floor(sum / divisor);
}

double SizeFormula::Product(const Sizes& sizes) const {
  double product = 1;
  for (size_t d = 0; d < factors.size(); ++d)
    product *= factors[d] != 0 ? static_cast<double>(sizes[d]) : 1;
  return product;
}

double SizeFormula::At(const Sizes& sizes) const {
  if (terms.empty()) return Evaluate(sizes);
  Sizes values;
  for (const SizeExpression& term : terms) {
    const std::optional<int64_t> value = term.At(sizes);
    if (!value) return 0;
    values.push_back(*value);
  }
  return Evaluate(values);
}

double SizeFormula::Evaluate(const Sizes& sizes) const {
  switch (form) {
    case Form::kSum:
      return Sum(sizes);
    case Form::kProduct:
      return constant * Product(sizes);
    case Form::kOverProduct:
      return constant / Product(sizes);
    case Form::kOverRoot:
      return constant / std::sqrt(Product(sizes));
  }
  return 0;
}

std::optional<int64_t> SizeFormula::ExtentAt(const Sizes& sizes) const {
  constexpr double kMost = int64_t{1} << 48;
  const double value = At(sizes);
  // This condition also rejects NaN, for which both comparisons are false.
  if (!(value >= 0 && value <= kMost)) return std::nullopt;
  return static_cast<int64_t>(value);
}

int SizeFormula::dimension() const {
  if (form != Form::kSum || constant != 0 || divisor != 1 || !terms.empty()) return -1;
  int found = -1;
  for (size_t d = 0; d < factors.size(); ++d) {
    if (factors[d] == 0) continue;
    if (factors[d] != 1 || found >= 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

bool SizeFormula::IsConstant() const {
  return form == Form::kSum && std::ranges::all_of(factors, [](double f) { return f == 0; });
}

}  // namespace tunec
