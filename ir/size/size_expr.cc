#include "ir/size/size_expr.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/expr/index_expr.h"
#include "ir/size/prove_sizes.h"
#include "support/check.h"

namespace tunec {
namespace {

using Kind = SizeFactor::Kind;
using Factors = std::vector<SizeFactorPtr>;

bool IsInRange(int64_t value) { return -kUnbounded <= value && value <= kUnbounded; }

std::strong_ordering CompareFactors(const Factors& a, const Factors& b) {
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(), [](const SizeFactorPtr& x, const SizeFactorPtr& y) {
        return x == y ? std::strong_ordering::equal : *x <=> *y;
      });
}

bool IsBefore(const SizeTerm& a, const SizeTerm& b) {
  return CompareFactors(a.factors, b.factors) < 0;
}

// Returns all terms of the expression, with the constant as a term without factors.
std::vector<SizeTerm> AllTerms(const SizeExpr& expr) {
  std::vector<SizeTerm> terms = expr.terms();
  if (expr.constant() != 0) terms.push_back({expr.constant(), {}});
  return terms;
}

SizeExpr FactorExpr(SizeFactor factor) {
  return MakeSum({{1, {std::make_shared<const SizeFactor>(std::move(factor))}}});
}

// Returns the term without one of its factors.
SizeTerm Without(SizeTerm term, size_t factor) {
  term.factors.erase(term.factors.begin() + static_cast<std::ptrdiff_t>(factor));
  return term;
}

// Returns the quotient of two products if the division is exact.
std::optional<SizeTerm> Divide(const SizeTerm& dividend, const SizeTerm& divisor) {
  if (dividend.coefficient % divisor.coefficient != 0) return std::nullopt;
  SizeTerm quotient{dividend.coefficient / divisor.coefficient, dividend.factors};
  for (const SizeFactorPtr& factor : divisor.factors) {
    const auto found = std::ranges::find_if(
        quotient.factors, [&](const SizeFactorPtr& f) { return f == factor || *f == *factor; });
    if (found == quotient.factors.end()) return std::nullopt;
    quotient.factors.erase(found);
  }
  return quotient;
}

// A dividend as divisor * whole + rest.
struct Division {
  SizeExpr whole;
  SizeExpr rest;
};

// Divides a sum by a single product. Each term that is divisible moves to `whole`.
Division DivideTerms(const SizeExpr& dividend, const SizeTerm& divisor) {
  Division division;
  for (const SizeTerm& term : AllTerms(dividend)) {
    if (const auto quotient = Divide(term, divisor)) {
      division.whole = division.whole + MakeSum({*quotient});
    } else {
      division.rest = division.rest + MakeSum({term});
    }
  }
  return division;
}

// Divides a sum by a sum with several terms. Returns nullopt unless the rest is 0.
std::optional<SizeExpr> DivideExactly(SizeExpr dividend, const SizeExpr& divisor) {
  const auto leads = [](const SizeTerm& a, const SizeTerm& b) {
    if (a.factors.size() != b.factors.size()) return a.factors.size() < b.factors.size();
    return CompareFactors(a.factors, b.factors) < 0;
  };
  const std::vector<SizeTerm> by = AllTerms(divisor);
  const SizeTerm& lead = *std::ranges::max_element(by, leads);
  SizeExpr whole;
  for (int step = 0; step < SizeExpr::kMostFactors; ++step) {
    if (!dividend.IsKnown()) return std::nullopt;
    const std::vector<SizeTerm> terms = AllTerms(dividend);
    if (terms.empty()) return whole;
    const auto quotient = Divide(*std::ranges::max_element(terms, leads), lead);
    if (!quotient) return std::nullopt;
    whole = whole + MakeSum({*quotient});
    dividend = dividend - MakeSum({*quotient}) * divisor;
  }
  return std::nullopt;
}

// A product of a remainder and other factors.
struct RemainderTerm {
  SizeTerm others;  // with the coefficient
  SizeExpr dividend;
  SizeExpr divisor;
};

// Returns the parts of the term if one of its factors is a remainder.
std::optional<RemainderTerm> AsRemainder(const SizeTerm& term) {
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const SizeFactor& factor = *term.factors[i];
    if (factor.kind == Kind::kRemainder)
      return RemainderTerm{Without(term, i), factor.operands[0], factor.operands[1]};
  }
  return std::nullopt;
}

// Returns the largest divisor of all coefficients, and of `divisor`.
int64_t CommonDivisor(const SizeExpr& expr, int64_t divisor) {
  for (const SizeTerm& term : expr.terms()) divisor = std::gcd(divisor, term.coefficient);
  return divisor;
}

// Returns floor(expr / divisor). Requires: the divisor divides all coefficients but the constant.
SizeExpr DivideCoefficients(const SizeExpr& expr, int64_t divisor) {
  if (!expr.IsKnown()) return expr;
  std::vector<SizeTerm> terms = expr.terms();
  for (SizeTerm& term : terms) term.coefficient /= divisor;
  return MakeSum(std::move(terms)) + FloorDivide(expr.constant(), divisor);
}

// Returns true if all coefficients are between the limits, and the constant is in [0, high).
bool HasCoefficientsIn(const SizeExpr& expr, int64_t low, int64_t high) {
  return 0 <= expr.constant() && expr.constant() < high &&
         std::ranges::all_of(expr.terms(), [&](const SizeTerm& term) {
           return low < term.coefficient && term.coefficient < high;
         });
}

// Replaces c * (x mod p) by c * x - c * p * floor(x / p) where `divisor` divides c * p. A
// replacement must not add terms. `whole` receives the quotient of the second part.
Division ExpandRemainders(const SizeExpr& dividend, int64_t divisor) {
  Division division{0, dividend};
  for (const SizeTerm& term : dividend.terms()) {
    const std::optional<RemainderTerm> found = AsRemainder(term);
    if (!found) continue;
    const SizeExpr others = MakeSum({found->others});
    const SizeExpr product = others * found->divisor;
    const Division quotient = DivideTerms(product, {divisor, {}});
    if (quotient.rest != 0) continue;
    const SizeExpr rest = division.rest - MakeSum({term}) + others * found->dividend;
    if (!rest.IsKnown() || rest.terms().size() >= division.rest.terms().size()) continue;
    division.rest = rest;
    division.whole =
        division.whole - quotient.whole * SizeExpr::FloorDiv(found->dividend, found->divisor);
  }
  return division;
}

// Returns floor(dividend / divisor) for divisor > 1.
SizeExpr DivideByNumber(const SizeExpr& dividend, int64_t divisor) {
  const auto [from_remainders, expanded] = ExpandRemainders(dividend, divisor);
  SizeExpr whole = from_remainders + FloorDivide(expanded.constant(), divisor);
  std::vector<SizeTerm> terms;
  std::vector<SizeTerm> quotients;
  for (const SizeTerm& term : expanded.terms()) {
    // Coefficients are divided towards 0, so that -n stays -n.
    const int64_t quotient = term.coefficient / divisor;
    if (quotient != 0) quotients.push_back({quotient, term.factors});
    const int64_t rest = term.coefficient - quotient * divisor;
    if (rest != 0) terms.push_back({rest, term.factors});
  }
  whole = whole + MakeSum(std::move(quotients));
  SizeExpr rest = MakeSum(std::move(terms)) + FloorModulo(expanded.constant(), divisor);
  if (!rest.IsKnown()) return rest;
  // MakeSum may have replaced divisions by remainders.
  if (!HasCoefficientsIn(rest, -divisor, divisor)) return whole + SizeExpr::FloorDiv(rest, divisor);
  const int64_t common = CommonDivisor(rest, divisor);
  rest = DivideCoefficients(rest, common);
  divisor /= common;
  const Interval range = RangeOf(rest, {});
  const int64_t low = FloorDivide(range.lo, divisor);
  if (range.lo > -kUnbounded && range.hi < kUnbounded && low == FloorDivide(range.hi, divisor))
    return whole + low;
  if (divisor == 1) return whole + rest;
  // The first coefficient is positive, by floor(a / d) = -floor((-a + d - 1) / d).
  if (rest.terms()[0].coefficient < 0)
    return whole - SizeExpr::FloorDiv(-rest + (divisor - 1), divisor);
  // Merges divisions by floor((floor(x / p) + c) / d) = floor((x + c * p) / (p * d)).
  if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 &&
      rest.terms()[0].factors.size() == 1 && rest.terms()[0].factors[0]->kind == Kind::kDivision) {
    const std::vector<SizeExpr>& inner = rest.terms()[0].factors[0]->operands;
    return whole + SizeExpr::FloorDiv(inner[0] + inner[1] * rest.constant(), inner[1] * divisor);
  }
  return whole + FactorExpr({Kind::kDivision, {}, {rest, divisor}});
}

// Returns true if -a - 1 has smaller coefficients than a, modulo the divisor. A remainder has two
// forms, since a mod d = d - 1 - (-a - 1) mod d. Requires: the coefficients are in [0, divisor).
bool IsGreaterThanNegated(const SizeExpr& dividend, int64_t divisor) {
  for (const SizeTerm& term : dividend.terms())
    if (2 * term.coefficient != divisor) return 2 * term.coefficient > divisor;
  return 2 * dividend.constant() > divisor - 1;
}

// Returns dividend mod divisor for divisor > 1.
SizeExpr ModuloNumber(const SizeExpr& dividend, int64_t divisor) {
  std::vector<SizeTerm> terms;
  for (const SizeTerm& term : dividend.terms()) {
    const SizeTerm reduced{FloorModulo(term.coefficient, divisor), term.factors};
    if (reduced.coefficient == 0) continue;
    // c * (x mod p) is c * x modulo a divisor of c * p.
    if (const std::optional<RemainderTerm> inner = AsRemainder(reduced)) {
      const SizeExpr others = MakeSum({inner->others});
      if (DivideTerms(others * inner->divisor, {divisor, {}}).rest == 0)
        return SizeExpr::Mod(dividend - MakeSum({term}) + others * inner->dividend, divisor);
    }
    terms.push_back(reduced);
  }
  SizeExpr rest = MakeSum(std::move(terms)) + FloorModulo(dividend.constant(), divisor);
  if (!rest.IsKnown()) return rest;
  // MakeSum may have replaced divisions by remainders.
  if (!HasCoefficientsIn(rest, 0, divisor)) return SizeExpr::Mod(rest, divisor);
  const Interval range = RangeOf(rest, {});
  if (range.lo >= 0 && range.hi < divisor) return rest;
  // (g * x + c) mod (g * d) = g * ((x + floor(c / g)) mod d) + c mod g.
  const int64_t common = CommonDivisor(rest, divisor);
  if (common > 1) {
    return SizeExpr::Mod(DivideCoefficients(rest, common), divisor / common) * common +
           FloorModulo(rest.constant(), common);
  }
  if (IsGreaterThanNegated(rest, divisor))
    return SizeExpr(divisor - 1) - SizeExpr::Mod(-rest - 1, divisor);
  return FactorExpr({Kind::kRemainder, {}, {rest, divisor}});
}

// Returns the operands of rest + c * max(a, b), which are rest + c * a and rest + c * b, for c > 0.
// Returns an empty list if there is no such maximum.
std::vector<SizeExpr> DistributeMaximum(const SizeExpr& expr) {
  for (const SizeTerm& term : expr.terms()) {
    if (term.coefficient < 0 || term.factors.size() != 1) continue;
    const SizeFactor& factor = *term.factors[0];
    if (factor.kind != Kind::kMaximum) continue;
    std::vector<SizeExpr> operands;
    for (const SizeExpr& operand : factor.operands)
      operands.push_back(expr - MakeSum({term}) + operand * term.coefficient);
    return operands;
  }
  return {};
}

// Returns the terms that all expressions have, and the least constant.
SizeExpr CommonPart(const std::vector<SizeExpr>& exprs) {
  int64_t constant = exprs[0].constant();
  std::vector<SizeTerm> common = exprs[0].terms();
  for (const SizeExpr& expr : exprs) {
    constant = std::min(constant, expr.constant());
    std::erase_if(common, [&](const SizeTerm& term) {
      return std::ranges::none_of(expr.terms(), [&](const SizeTerm& other) {
        return other.coefficient == term.coefficient &&
               CompareFactors(other.factors, term.factors) == 0;
      });
    });
  }
  return MakeSum(std::move(common)) + constant;
}

// Removes each operand that is at most another one.
void RemoveCovered(std::vector<SizeExpr>& operands) {
  // Each operand is compared with each other one, so a proof is short.
  constexpr int kMostSteps = 8;
  std::ranges::sort(operands);
  operands.erase(std::ranges::unique(operands).begin(), operands.end());
  for (size_t i = 0; i < operands.size();) {
    const bool is_covered = std::ranges::any_of(operands, [&](const SizeExpr& other) {
      return &other != &operands[i] && ProveAtMost(operands[i], other, {}, kMostSteps);
    });
    if (is_covered) {
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// Returns the maximum in normal form. The operands have no common terms, no common divisor, and
// contain no maximum with a positive coefficient.
SizeExpr MakeMaximum(std::vector<SizeExpr> operands) {
  constexpr size_t kMostOperands = 8;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].IsKnown() || operands.size() > kMostOperands) return SizeExpr::Unknown();
    const std::vector<SizeExpr> inner = DistributeMaximum(operands[i]);
    if (inner.empty()) continue;
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    operands.insert(operands.end(), inner.begin(), inner.end());
    return MakeMaximum(std::move(operands));
  }
  RemoveCovered(operands);
  if (operands.size() == 1) return operands[0];
  const SizeExpr common = CommonPart(operands);
  int64_t divisor = 0;
  for (SizeExpr& operand : operands) {
    operand = operand - common;
    if (!operand.IsKnown()) return operand;
    divisor = CommonDivisor(operand, std::gcd(divisor, operand.constant()));
  }
  if (common == 0 && divisor == 1) return FactorExpr({Kind::kMaximum, {}, std::move(operands)});
  for (SizeExpr& operand : operands) operand = DivideCoefficients(operand, divisor);
  return common + MakeMaximum(std::move(operands)) * divisor;
}

// Returns the term with a - a mod d for a product d * floor(a / d), if it contains such a product.
std::optional<SizeExpr> MultiplyOut(const SizeTerm& term) {
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const SizeFactor& factor = *term.factors[i];
    if (factor.kind != Kind::kDivision) continue;
    const std::vector<SizeTerm> divisor = AllTerms(factor.operands[1]);
    if (divisor.size() != 1) continue;
    if (const auto quotient = Divide(Without(term, i), divisor[0])) {
      return MakeSum({*quotient}) *
             (factor.operands[0] - SizeExpr::Mod(factor.operands[0], factor.operands[1]));
    }
  }
  return std::nullopt;
}

}  // namespace

SizeExpr::SizeExpr(int64_t value)
    : constant_(IsInRange(value) ? value : 0), is_known_(IsInRange(value)) {}

struct SizeExpr::Sum {
  std::vector<SizeTerm> terms;
  int count = 0;  // counts factors, including those inside other factors
  int depth = 0;
};

std::strong_ordering SizeFactor::operator<=>(const SizeFactor& other) const {
  if (auto c = kind <=> other.kind; c != 0) return c;
  if (auto c = name <=> other.name; c != 0) return c;
  return std::lexicographical_compare_three_way(operands.begin(), operands.end(),
                                                other.operands.begin(), other.operands.end());
}

std::strong_ordering SizeExpr::operator<=>(const SizeExpr& other) const {
  if (auto c = is_known_ <=> other.is_known_; c != 0) return c;
  if (sum_ != other.sum_) {
    const auto compare = [](const SizeTerm& a, const SizeTerm& b) {
      const std::strong_ordering c = CompareFactors(a.factors, b.factors);
      return c != 0 ? c : a.coefficient <=> b.coefficient;
    };
    const auto c = std::lexicographical_compare_three_way(
        terms().begin(), terms().end(), other.terms().begin(), other.terms().end(), compare);
    if (c != 0) return c;
  }
  return constant_ <=> other.constant_;
}

SizeExpr SizeExpr::Named(std::string name) {
  return FactorExpr({Kind::kName, std::move(name), {}});
}

SizeExpr SizeExpr::Unknown() {
  SizeExpr unknown;
  unknown.is_known_ = false;
  return unknown;
}

std::optional<int64_t> SizeExpr::AsConstant() const {
  return IsConstant() ? std::optional(constant_) : std::nullopt;
}

int64_t SizeExpr::Value() const {
  TUNEC_CHECK(IsConstant(), "a size is no integer");
  return constant_;
}

std::optional<std::string> SizeExpr::AsName() const {
  if (!IsKnown() || constant_ != 0 || terms().size() != 1) return std::nullopt;
  const SizeTerm& term = terms()[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return std::nullopt;
  const SizeFactor& factor = *term.factors[0];
  return factor.kind == Kind::kName ? std::optional(factor.name) : std::nullopt;
}

const std::vector<SizeTerm>& SizeExpr::terms() const {
  static const std::vector<SizeTerm> kNone;
  return sum_ == nullptr ? kNone : sum_->terms;
}

std::set<std::string> SizeExpr::Names() const {
  std::set<std::string> names;
  for (const SizeTerm& term : terms()) {
    for (const SizeFactorPtr& factor : term.factors) {
      if (factor->kind == Kind::kName) names.insert(factor->name);
      for (const SizeExpr& operand : factor->operands) names.merge(operand.Names());
    }
  }
  return names;
}

size_t SizeExpr::Hash() const {
  const auto mix = [](size_t hash, size_t value) {
    return (hash ^ value) * size_t{0x9e3779b97f4a7c15} + (hash >> 29);
  };
  size_t hash = mix(is_known_ ? 1 : 0, static_cast<size_t>(constant_));
  for (const SizeTerm& term : terms()) {
    hash = mix(hash, static_cast<size_t>(term.coefficient));
    for (const SizeFactorPtr& factor : term.factors) {
      hash = mix(hash, static_cast<size_t>(factor->kind));
      hash = mix(hash, std::hash<std::string>()(factor->name));
      for (const SizeExpr& operand : factor->operands) hash = mix(hash, operand.Hash());
    }
  }
  return hash;
}

SizeExpr MakeSum(std::vector<SizeTerm> terms) {
  std::ranges::sort(terms, IsBefore);
  auto sum = std::make_shared<SizeExpr::Sum>();
  for (SizeTerm& term : terms) {
    if (!IsInRange(term.coefficient)) return SizeExpr::Unknown();
    if (!sum->terms.empty() && CompareFactors(sum->terms.back().factors, term.factors) == 0) {
      int64_t& coefficient = sum->terms.back().coefficient;
      coefficient += term.coefficient;  // both are at most 2^60
      if (!IsInRange(coefficient)) return SizeExpr::Unknown();
      if (coefficient == 0) sum->terms.pop_back();
    } else if (term.coefficient != 0) {
      sum->terms.push_back(std::move(term));
    }
  }
  for (auto term = sum->terms.begin(); term != sum->terms.end(); ++term) {
    if (const std::optional<SizeExpr> product = MultiplyOut(*term)) {
      sum->terms.erase(term);
      return MakeSum(std::move(sum->terms)) + *product;
    }
  }
  // The constant is the term without factors, which is the first one.
  SizeExpr expr;
  if (!sum->terms.empty() && sum->terms[0].factors.empty()) {
    expr.constant_ = sum->terms[0].coefficient;
    sum->terms.erase(sum->terms.begin());
  }
  for (const SizeTerm& term : sum->terms) {
    for (const SizeFactorPtr& factor : term.factors) {
      ++sum->count;
      for (const SizeExpr& operand : factor->operands) {
        if (!operand.IsKnown()) return SizeExpr::Unknown();
        const SizeExpr::Sum* inner = operand.sum_.get();
        sum->count += inner != nullptr ? inner->count : 0;
        sum->depth = std::max(sum->depth, 1 + (inner != nullptr ? inner->depth : 0));
      }
    }
  }
  if (sum->count > SizeExpr::kMostFactors || sum->depth > SizeExpr::kMostDepth)
    return SizeExpr::Unknown();
  if (!sum->terms.empty()) expr.sum_ = std::move(sum);
  return expr;
}

SizeExpr SizeExpr::operator+(const SizeExpr& other) const {
  if (!IsKnown() || !other.IsKnown()) return Unknown();
  if (IsConstant() && other.IsConstant()) return constant_ + other.constant_;
  std::vector<SizeTerm> sum = AllTerms(*this);
  const std::vector<SizeTerm> more = AllTerms(other);
  sum.insert(sum.end(), more.begin(), more.end());
  return MakeSum(std::move(sum));
}

SizeExpr SizeExpr::operator*(const SizeExpr& other) const {
  if (!IsKnown() || !other.IsKnown()) return Unknown();
  if (IsConstant() && other.IsConstant()) {
    int64_t product = 0;
    const bool overflows = __builtin_mul_overflow(constant_, other.constant_, &product);
    return overflows ? Unknown() : SizeExpr(product);
  }
  std::vector<SizeTerm> products;
  for (const SizeTerm& a : AllTerms(*this)) {
    for (const SizeTerm& b : AllTerms(other)) {
      SizeTerm product{0, a.factors};
      if (__builtin_mul_overflow(a.coefficient, b.coefficient, &product.coefficient))
        return Unknown();
      product.factors.insert(product.factors.end(), b.factors.begin(), b.factors.end());
      if (product.factors.size() > static_cast<size_t>(kMostFactors)) return Unknown();
      std::ranges::sort(product.factors, [](const SizeFactorPtr& x, const SizeFactorPtr& y) {
        return x != y && *x < *y;
      });
      products.push_back(std::move(product));
    }
  }
  return MakeSum(std::move(products));
}

SizeExpr SizeExpr::FloorDiv(const SizeExpr& dividend, const SizeExpr& divisor) {
  if (!dividend.IsKnown() || !divisor.IsKnown() || divisor == 0) return Unknown();
  if (const std::optional<int64_t> number = divisor.AsConstant()) {
    if (*number < 0) return FloorDiv(-dividend, -*number);
    if (dividend.IsConstant()) return FloorDivide(dividend.constant(), *number);
    return *number == 1 ? dividend : DivideByNumber(dividend, *number);
  }
  const std::vector<SizeTerm> by = AllTerms(divisor);
  if (by.size() > 1) {
    if (const auto exact = DivideExactly(dividend, divisor)) return *exact;
    return FactorExpr({Kind::kDivision, {}, {dividend, divisor}});
  }
  const auto [whole, rest] = DivideTerms(dividend, by[0]);
  if (rest == 0) return whole;
  return whole + FactorExpr({Kind::kDivision, {}, {rest, divisor}});
}

SizeExpr SizeExpr::Mod(const SizeExpr& dividend, const SizeExpr& divisor) {
  if (!dividend.IsKnown() || !divisor.IsKnown() || divisor == 0) return Unknown();
  if (const std::optional<int64_t> number = divisor.AsConstant()) {
    if (*number < 0) return -Mod(-dividend, -*number);
    if (dividend.IsConstant()) return FloorModulo(dividend.constant(), *number);
    return *number == 1 ? SizeExpr(0) : ModuloNumber(dividend, *number);
  }
  const std::vector<SizeTerm> by = AllTerms(divisor);
  SizeExpr rest = dividend;
  if (by.size() == 1) {
    rest = DivideTerms(dividend, by[0]).rest;
  } else if (DivideExactly(dividend, divisor)) {
    rest = 0;
  }
  if (rest == 0) return 0;
  return FactorExpr({Kind::kRemainder, {}, {rest, divisor}});
}

SizeExpr SizeExpr::Max(const SizeExpr& a, const SizeExpr& b) {
  if (a.IsConstant() && b.IsConstant()) return std::max(a.constant(), b.constant());
  return MakeMaximum({a, b});
}

SizeExpr ReplaceFactors(
    const SizeExpr& expr,
    const std::function<std::optional<SizeExpr>(const SizeFactor&)>& replacement) {
  if (!expr.IsKnown()) return expr;
  SizeExpr result = expr.constant();
  for (const SizeTerm& term : expr.terms()) {
    SizeTerm kept{term.coefficient, {}};
    SizeExpr product = 1;
    for (const SizeFactorPtr& factor : term.factors) {
      if (const std::optional<SizeExpr> other = replacement(*factor)) {
        product = product * *other;
      } else {
        kept.factors.push_back(factor);
      }
    }
    result = result + MakeSum({kept}) * product;
  }
  return result;
}

SizeExpr Substitute(const SizeExpr& expr, const std::map<std::string, SizeExpr>& sizes) {
  return ReplaceFactors(expr, [&](const SizeFactor& factor) -> std::optional<SizeExpr> {
    if (factor.kind == Kind::kName) {
      const auto found = sizes.find(factor.name);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<SizeExpr> operands;
    for (const SizeExpr& operand : factor.operands) operands.push_back(Substitute(operand, sizes));
    if (factor.kind == Kind::kDivision) return SizeExpr::FloorDiv(operands[0], operands[1]);
    if (factor.kind == Kind::kRemainder) return SizeExpr::Mod(operands[0], operands[1]);
    SizeExpr maximum = operands[0];
    for (const SizeExpr& operand : operands) maximum = SizeExpr::Max(maximum, operand);
    return maximum;
  });
}

namespace {

std::optional<int64_t> ValueOf(const SizeFactor& factor, const SizeValues& sizes) {
  if (factor.kind == Kind::kName) {
    const auto found = sizes.find(factor.name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<int64_t> values;
  for (const SizeExpr& operand : factor.operands) {
    const std::optional<int64_t> value = Evaluate(operand, sizes);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (factor.kind == Kind::kMaximum) return std::ranges::max(values);
  // Divides -a by -b if b < 0, since the divisions of numbers require a positive divisor.
  const int64_t sign = values[1] < 0 ? -1 : 1;
  if (values[1] == 0) return std::nullopt;
  return factor.kind == Kind::kDivision ? FloorDivide(sign * values[0], sign * values[1])
                                        : sign * FloorModulo(sign * values[0], sign * values[1]);
}

}  // namespace

std::optional<int64_t> Evaluate(const SizeExpr& expr, const SizeValues& sizes) {
  if (!expr.IsKnown()) return std::nullopt;
  int64_t sum = expr.constant();
  for (const SizeTerm& term : expr.terms()) {
    int64_t product = term.coefficient;
    for (const SizeFactorPtr& factor : term.factors) {
      const std::optional<int64_t> value = ValueOf(*factor, sizes);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return IsInRange(sum) ? std::optional(sum) : std::nullopt;
}

}  // namespace tunec
