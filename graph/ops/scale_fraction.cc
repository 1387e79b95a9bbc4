#include "graph/ops/scale_fraction.h"

#include <cmath>

namespace tunec {

std::optional<Fraction> FractionOfScale(double scale) {
  constexpr int64_t kMostDenominator = 1 << 16;
  constexpr double kMostScale = 1 << 24;
  if (!(scale > 0) || !(scale <= kMostScale)) return {};
  Fraction before{1, 0};
  Fraction now{static_cast<int64_t>(std::floor(scale)), 1};
  double rest = scale - std::floor(scale);
  const auto error = [&] { return std::abs(now.Value() - scale); };
  while (error() > 1e-7 * scale && rest > 1e-12) {
    const double inverse = 1 / rest;
    const auto whole = static_cast<int64_t>(std::floor(inverse));
    const Fraction next{whole * now.numerator + before.numerator,
                        whole * now.denominator + before.denominator};
    if (next.denominator > kMostDenominator) return {};
    before = now;
    now = next;
    rest = inverse - std::floor(inverse);
  }
  if (now.numerator <= 0 || error() > 1e-7 * scale) return {};
  return now;
}

}  // namespace tunec
