#include "compiler/sized/size_formula.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tunec {
namespace {

// Greatest divisor of a quotient. The strides of consecutive convolutions multiply.
constexpr int kGreatestDivisor = 64;
constexpr size_t kFewestValues = 3;  // different values of a term; fewer may agree by chance

// Returns true if the numbers are equal, also after rounding to float32. A model's constants may
// have been rounded to float32.
bool SameNumber(double a, double b) {
  return a == b || static_cast<float>(a) == static_cast<float>(b);
}

bool IsWhole(double number) { return number == std::round(number); }

/// Returns the change of the value per unit of a dimension, from two samples that differ in this
/// dimension alone; none if there are no such samples.
std::optional<double> Slope(std::span<const SizeSample> samples, size_t dimension) {
  for (const SizeSample& a : samples) {
    for (const SizeSample& b : samples) {
      Sizes moved = a.sizes;
      moved[dimension] = b.sizes[dimension];
      if (moved != b.sizes || a.sizes == b.sizes) continue;
      return (b.value - a.value) / static_cast<double>(b.sizes[dimension] - a.sizes[dimension]);
    }
  }
  return std::nullopt;
}

bool Agrees(const SizeFormula& formula, std::span<const SizeSample> samples) {
  return std::ranges::all_of(samples, [&](const SizeSample& sample) {
    return SameNumber(formula.At(sample.sizes), sample.value);
  });
}

std::optional<SizeFormula> FitSum(std::span<const SizeSample> samples) {
  SizeFormula formula;
  const Sizes& first = samples[0].sizes;
  formula.factors.assign(first.size(), 0);
  formula.constant = samples[0].value;
  for (size_t d = 0; d < first.size(); ++d) {
    formula.factors[d] = Slope(samples, d).value_or(0);
    // A slope that is not whole may come from a quotient that is rounded down at other sizes.
    if (!IsWhole(formula.factors[d])) return std::nullopt;
    formula.constant -= formula.factors[d] * static_cast<double>(first[d]);
  }
  if (!Agrees(formula, samples)) return std::nullopt;
  return formula;
}

bool SameBetween(const SizeFormula& a, const SizeFormula& b, std::span<const SizeSample> samples) {
  constexpr int64_t kMostLookedAt = 4096;
  Sizes sizes = samples[0].sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto [low, high] =
        std::ranges::minmax(samples, {}, [d](const SizeSample& sample) { return sample.sizes[d]; });
    if (high.sizes[d] - low.sizes[d] > kMostLookedAt) return false;
    for (int64_t size = low.sizes[d]; size <= high.sizes[d]; ++size) {
      sizes[d] = size;
      if (a.At(sizes) != b.At(sizes)) return false;
    }
    sizes[d] = samples[0].sizes[d];
  }
  return true;
}

// Returns floor((size + c) / divisor) for one size, where a window and its pads make c. Few samples
// agree with many divisors. So all quotients that agree must be equal at all sizes between the
// samples, otherwise the result is none.
std::optional<SizeFormula> FitQuotient(std::span<const SizeSample> samples) {
  std::optional<SizeFormula> found;
  const Sizes& first = samples[0].sizes;
  for (size_t d = 0; d < first.size(); ++d) {
    for (int divisor = 2; divisor <= kGreatestDivisor; ++divisor) {
      SizeFormula formula;
      formula.divisor = divisor;
      formula.factors.assign(first.size(), 0);
      formula.factors[d] = 1;
      const double base = samples[0].value * divisor - static_cast<double>(first[d]);
      for (int added = 0; added < divisor; ++added) {
        formula.constant = base + added;
        if (!Agrees(formula, samples)) continue;
        if (found && !SameBetween(*found, formula, samples)) return std::nullopt;
        if (!found) found = formula;
      }
    }
  }
  return found;
}

std::optional<SizeFormula> FitProduct(std::span<const SizeSample> samples, SizeFormula::Form form) {
  const size_t dimensions = samples[0].sizes.size();
  for (uint32_t chosen = 1; chosen < uint32_t{1} << dimensions; ++chosen) {
    SizeFormula formula;
    formula.form = form;
    formula.constant = 1;
    for (size_t d = 0; d < dimensions; ++d)
      formula.factors.push_back((chosen >> d & 1U) != 0 ? 1 : 0);
    formula.constant = samples[0].value / formula.At(samples[0].sizes);
    // The constant is only nearly whole if the value was rounded to float32.
    const double whole = std::round(formula.constant);
    if (std::abs(formula.constant - whole) < 1e-6) formula.constant = whole;
    if (form == SizeFormula::Form::kProduct && !IsWhole(formula.constant)) continue;
    if (Agrees(formula, samples)) return formula;
  }
  return std::nullopt;
}

std::optional<SizeFormula> FitProducts(std::span<const SizeSample> samples) {
  using Form = SizeFormula::Form;
  for (const Form form : {Form::kProduct, Form::kOverProduct, Form::kOverRoot}) {
    if (auto product = FitProduct(samples, form)) return product;
  }
  return std::nullopt;
}

std::optional<SizeFormula> FitForms(std::span<const SizeSample> samples) {
  if (auto sum = FitSum(samples)) return sum;
  if (auto product = FitProducts(samples)) return product;
  return FitQuotient(samples);
}

}  // namespace

SizeFormula FormulaOf(const SizeExpression& expression) {
  SizeFormula formula;
  if (const std::optional<int64_t> constant = expression.AsConstant()) {
    formula.constant = static_cast<double>(*constant);
  } else if (const std::optional<size_t> size = expression.AsSize()) {
    formula.factors.assign(*size + 1, 0);
    formula.factors[*size] = 1;
  } else {
    formula.factors = {1};
    formula.terms = {expression};
  }
  return formula;
}

std::optional<SizeFormula> FitFormulaOfTerms(std::span<const SizeSample> samples,
                                             std::span<const SizeExpression> terms) {
  std::vector<SizeExpression> known;
  std::vector<std::vector<int64_t>> values;  // by term and sample
  for (const SizeExpression& term : terms) {
    std::vector<int64_t> found;
    for (const SizeSample& sample : samples) found.push_back(term.At(sample.sizes).value_or(0));
    if (std::set<int64_t>(found.begin(), found.end()).size() < kFewestValues) continue;
    known.push_back(term);
    values.push_back(std::move(found));
  }
  for (size_t i = 0; i < known.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      std::vector<SizeSample> of_terms(samples.begin(), samples.end());
      for (size_t s = 0; s < samples.size(); ++s) {
        of_terms[s].sizes = {values[i][s]};
        if (j < i) of_terms[s].sizes.push_back(values[j][s]);
      }
      std::optional<SizeFormula> formula = j < i ? FitProducts(of_terms) : FitForms(of_terms);
      if (!formula) continue;
      formula->terms = {known[i]};
      if (j < i) formula->terms.push_back(known[j]);
      return formula;
    }
  }
  return std::nullopt;
}

std::optional<SizeFormula> FitFormula(std::span<const SizeSample> samples) {
  if (samples.empty() || samples[0].sizes.size() > 8) return std::nullopt;
  return FitForms(samples);
}

}  // namespace tunec
