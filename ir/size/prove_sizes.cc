// A proof of d >= 0 removes the factors of d until only named sizes are left.
//
// A maximum is replaced by each of its operands: d >= 0 must hold for all of them. If the
// coefficient is positive, one operand is enough.
//
// A division floor(a / p) with p >= 1 is between (a - p + 1) / p and a / p. So p * d is bounded by
// an expression e without the division. Since d is an integer, e > -p is enough.
//
// A remainder a mod p with p >= 1 is between 0 and p - 1. It is at most a if a >= 0.
//
// Then each named size n with the least value l is replaced by n + l. The result is not negative if
// no coefficient is negative. The number of steps is limited, since operands multiply the cases.
#include "ir/size/prove_sizes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tunec {
namespace {

using Kind = SizeFactor::Kind;

int64_t Clamp(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, -kUnbounded, kUnbounded));
}

Interval Sum(Interval a, Interval b) {
  // An unbounded end stays unbounded, whatever is added.
  const auto add = [](int64_t x, int64_t y, int64_t infinity) {
    return x == infinity || y == infinity ? infinity : Clamp(static_cast<__int128>(x) + y);
  };
  return {add(a.lo, b.lo, -kUnbounded), add(a.hi, b.hi, kUnbounded)};
}

Interval Product(Interval a, Interval b) {
  const __int128 products[] = {
      static_cast<__int128>(a.lo) * b.lo, static_cast<__int128>(a.lo) * b.hi,
      static_cast<__int128>(a.hi) * b.lo, static_cast<__int128>(a.hi) * b.hi};
  return {Clamp(std::ranges::min(products)), Clamp(std::ranges::max(products))};
}

Interval Intersect(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

// Returns the range of floor(a / b) where b > 0.
Interval Quotient(Interval a, Interval b) {
  const int64_t least = std::max<int64_t>(b.lo, 1);
  const int64_t greatest = std::max(b.hi, least);
  const int64_t low = std::min(FloorDivide(a.lo, least), FloorDivide(a.lo, greatest));
  const int64_t high = std::max(FloorDivide(a.hi, least), FloorDivide(a.hi, greatest));
  // A part of infinity is infinite.
  return {a.lo == -kUnbounded ? a.lo : low, a.hi == kUnbounded ? a.hi : high};
}

// Returns the range of a mod b where b > 0.
Interval Remainder(Interval a, Interval b) {
  const Interval range{0, b.hi == kUnbounded ? kUnbounded : std::max<int64_t>(b.hi - 1, 0)};
  return a.lo >= 0 ? Intersect(range, {0, a.hi}) : range;
}

// The ranges of expressions whose named sizes have given ranges. Each factor is visited once.
class RangeFinder {
 public:
  explicit RangeFinder(const SizeRanges& ranges) : ranges_(ranges) {}

  Interval Of(const SizeExpr& expr) {
    if (!expr.IsKnown()) return kUnknownInterval;
    Interval range = OfTerms(expr);
    // c * (a mod p) is c * a - c * p * floor(a / p). The terms of c * a may cancel others.
    for (const SizeTerm& term : expr.terms()) {
      if (term.factors.size() != 1 || term.factors[0]->kind != Kind::kRemainder) continue;
      const SizeExpr rest =
          expr - MakeSum({term}) + term.factors[0]->operands[0] * term.coefficient;
      if (!rest.IsKnown() || rest.terms().size() + 1 >= expr.terms().size()) continue;
      const auto [dividend, divisor] = OfOperands(term.factors[0]);
      if (divisor.lo < 0) continue;
      const Interval multiple = Product(Quotient(dividend, divisor), divisor);
      const Interval scaled = Product(multiple, {-term.coefficient, -term.coefficient});
      range = Intersect(range, Sum(OfTerms(rest), scaled));
    }
    return range;
  }

  Interval OfFactor(const SizeFactorPtr& factor) {
    if (factor->kind == Kind::kName) {
      const auto found = ranges_.find(factor->name);
      return found == ranges_.end() ? Interval{0, kUnbounded} : found->second;
    }
    if (factor->kind == Kind::kMaximum) return OfMaximum(factor);
    const auto [dividend, divisor] = OfOperands(factor);
    // A divisor of 0 has no value, so a divisor that is not negative is positive.
    if (divisor.lo < 0) return kUnknownInterval;
    return factor->kind == Kind::kDivision ? Quotient(dividend, divisor)
                                           : Remainder(dividend, divisor);
  }

 private:
  // Returns the ranges of the dividend and the divisor.
  std::pair<Interval, Interval> OfOperands(const SizeFactorPtr& factor) {
    const auto found = operands_.find(factor);
    if (found != operands_.end()) return found->second;
    const std::pair pair(Of(factor->operands[0]), Of(factor->operands[1]));
    operands_.emplace(factor, pair);
    return pair;
  }

  Interval OfMaximum(const SizeFactorPtr& factor) {
    const auto found = maxima_.find(factor);
    if (found != maxima_.end()) return found->second;
    Interval range{-kUnbounded, -kUnbounded};
    for (const SizeExpr& operand : factor->operands) {
      const Interval other = Of(operand);
      range = {std::max(range.lo, other.lo), std::max(range.hi, other.hi)};
    }
    maxima_.emplace(factor, range);
    return range;
  }

  Interval OfTerm(const SizeTerm& term) {
    Interval range{term.coefficient, term.coefficient};
    for (size_t i = 0; i < term.factors.size();) {
      // A power with an even exponent is not negative.
      size_t end = i;
      while (end < term.factors.size() && *term.factors[end] == *term.factors[i]) ++end;
      const Interval factor = OfFactor(term.factors[i]);
      Interval power{1, 1};
      for (size_t n = i; n < end; ++n) power = Product(power, factor);
      if ((end - i) % 2 == 0) power.lo = std::max<int64_t>(power.lo, 0);
      range = Product(range, power);
      i = end;
    }
    return range;
  }

  // Returns the sum of the ranges of the terms.
  Interval OfTerms(const SizeExpr& expr) {
    Interval range{expr.constant(), expr.constant()};
    for (const SizeTerm& term : expr.terms()) range = Sum(range, OfTerm(term));
    return range;
  }

  const SizeRanges& ranges_;
  std::map<SizeFactorPtr, std::pair<Interval, Interval>> operands_;
  std::map<SizeFactorPtr, Interval> maxima_;
};

class Prover {
 public:
  Prover(const SizeRanges& ranges, int steps) : ranges_(ranges), steps_(steps) {}

  // Returns true if expr >= 0 is proved.
  bool IsNonNegative(const SizeExpr& expr) {
    if (!expr.IsKnown() || steps_-- <= 0) return false;
    if (ranges_.Of(expr).lo >= 0) return true;
    const SizeFactorPtr factor = AnyFactor(expr);
    if (factor == nullptr) return HasNoNegativeTerm(expr);
    return factor->kind == Kind::kMaximum ? ByOperands(expr, *factor) : ByDivisor(expr, *factor);
  }

 private:
  // The part of a sum that has a factor once: sum = with * factor + without.
  struct Split {
    SizeExpr with;
    SizeExpr without;
    std::optional<int> sign;  // 1 if `with` is never negative, -1 if it is never positive
  };

  Split SplitBy(const SizeExpr& expr, const SizeFactor& factor) {
    Split split{0, expr.constant(), std::nullopt};
    bool is_linear = true;
    for (const SizeTerm& term : expr.terms()) {
      std::vector<SizeFactorPtr> others;
      for (const SizeFactorPtr& f : term.factors)
        if (*f != factor) others.push_back(f);
      const size_t power = term.factors.size() - others.size();
      if (power > 1) is_linear = false;
      SizeExpr& part = power == 0 ? split.without : split.with;
      part = part + MakeSum({{term.coefficient, std::move(others)}});
    }
    const Interval range = is_linear ? ranges_.Of(split.with) : kUnknownInterval;
    if (range.lo >= 0) {
      split.sign = 1;
    } else if (range.hi <= 0) {
      split.sign = -1;
    }
    return split;
  }

  // Returns the greatest factor that is not a name: a maximum if there is one.
  static SizeFactorPtr AnyFactor(const SizeExpr& expr) {
    SizeFactorPtr found;
    for (const SizeTerm& term : expr.terms()) {
      for (const SizeFactorPtr& factor : term.factors)
        if (factor->kind != Kind::kName && (!found || *found < *factor)) found = factor;
    }
    return found;
  }

  SizeExpr With(const SizeExpr& expr, const SizeFactor& factor, const SizeExpr& replacement) {
    return ReplaceFactors(expr, [&](const SizeFactor& other) {
      return other == factor ? std::optional(replacement) : std::nullopt;
    });
  }

  bool ByOperands(const SizeExpr& expr, const SizeFactor& factor) {
    const auto holds = [&](const SizeExpr& operand) {
      return IsNonNegative(With(expr, factor, operand));
    };
    if (SplitBy(expr, factor).sign == 1) return std::ranges::any_of(factor.operands, holds);
    return std::ranges::all_of(factor.operands, holds);
  }

  bool ByDivisor(const SizeExpr& expr, const SizeFactor& factor) {
    const SizeExpr& dividend = factor.operands[0];
    const SizeExpr& divisor = factor.operands[1];
    const auto [with, without, sign] = SplitBy(expr, factor);
    if (!sign || ranges_.Of(divisor).lo < 0) return false;
    if (factor.kind == Kind::kDivision) {
      const SizeExpr scaled = *sign > 0 ? dividend - divisor + 1 : dividend;
      return IsNonNegative(without * divisor + with * scaled + divisor - 1);
    }
    if (*sign > 0) return IsNonNegative(without);
    return IsNonNegative(without + with * (divisor - 1)) ||
           (ranges_.Of(dividend).lo >= 0 && IsNonNegative(without + with * dividend));
  }

  // Returns true if no coefficient is negative after each size is counted from its least value.
  // Requires: all factors are names.
  bool HasNoNegativeTerm(const SizeExpr& expr) {
    SizeExpr shifted = expr.constant();
    for (const SizeTerm& term : expr.terms()) {
      SizeExpr product = term.coefficient;
      for (const SizeFactorPtr& factor : term.factors) {
        const int64_t least = ranges_.OfFactor(factor).lo;
        if (least == -kUnbounded) return false;
        product = product * (SizeExpr::Named(factor->name) + least);
      }
      shifted = shifted + product;
    }
    const auto is_positive = [](const SizeTerm& term) { return term.coefficient > 0; };
    return shifted.IsKnown() && shifted.constant() >= 0 &&
           std::ranges::all_of(shifted.terms(), is_positive);
  }

  RangeFinder ranges_;
  int steps_;
};

}  // namespace

Interval RangeOf(const SizeExpr& expr, const SizeRanges& ranges) {
  return RangeFinder(ranges).Of(expr);
}

bool ProveAtMost(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges, int steps) {
  return Prover(ranges, steps).IsNonNegative(b - a);
}

bool ProveEqual(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges) {
  const SizeExpr difference = a - b;
  return difference.IsKnown() &&
         (difference == 0 || (ProveAtMost(a, b, ranges) && ProveAtMost(b, a, ranges)));
}

}  // namespace tunec
