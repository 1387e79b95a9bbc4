#include "ir/expr/index_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

int64_t Clamp(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, -kUnbounded, kUnbounded));
}

Interval Scale(Interval interval, int64_t factor) {
  const int64_t a = Clamp(static_cast<__int128>(interval.lo) * factor);
  const int64_t b = Clamp(static_cast<__int128>(interval.hi) * factor);
  return {std::min(a, b), std::max(a, b)};
}

Interval Sum(Interval a, Interval b) {
  return {Clamp(static_cast<__int128>(a.lo) + b.lo), Clamp(static_cast<__int128>(a.hi) + b.hi)};
}

Interval Intersect(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

}  // namespace

std::strong_ordering IndexAtom::operator<=>(const IndexAtom& other) const {
  if (auto c = kind <=> other.kind; c != 0) return c;
  if (kind != Kind::kFloorDiv) return id <=> other.id;
  if (auto c = divisor <=> other.divisor; c != 0) return c;
  if (numerator == other.numerator) return std::strong_ordering::equal;
  return *numerator <=> *other.numerator;
}

std::strong_ordering IndexTerm::operator<=>(const IndexTerm& other) const {
  if (auto c = atom <=> other.atom; c != 0) return c;
  return coefficient <=> other.coefficient;
}

std::strong_ordering IndexExpr::operator<=>(const IndexExpr& other) const {
  if (auto c = std::lexicographical_compare_three_way(terms_.begin(), terms_.end(),
                                                      other.terms_.begin(), other.terms_.end());
      c != 0) {
    return c;
  }
  return constant_ <=> other.constant_;
}

IndexExpr IndexExpr::Var(VarId variable) {
  IndexExpr result;
  result.terms_.push_back({1, {.kind = IndexAtom::Kind::kVariable, .id = variable.number()}});
  return result;
}

IndexExpr IndexExpr::Loaded(int slot) {
  IndexExpr result;
  result.terms_.push_back({1, {.kind = IndexAtom::Kind::kLoaded, .id = slot}});
  return result;
}

IndexExpr IndexExpr::operator+(const IndexExpr& other) const {
  IndexExpr result(constant_ + other.constant_);
  result.terms_.reserve(terms_.size() + other.terms_.size());
  size_t i = 0;
  size_t j = 0;
  while (i < terms_.size() || j < other.terms_.size()) {
    if (j == other.terms_.size() || (i < terms_.size() && terms_[i].atom < other.terms_[j].atom)) {
      result.terms_.push_back(terms_[i++]);
    } else if (i == terms_.size() || other.terms_[j].atom < terms_[i].atom) {
      result.terms_.push_back(other.terms_[j++]);
    } else {
      const int64_t coefficient = terms_[i].coefficient + other.terms_[j].coefficient;
      if (coefficient != 0) result.terms_.push_back({coefficient, terms_[i].atom});
      ++i;
      ++j;
    }
  }
  return result;
}

IndexExpr IndexExpr::operator*(int64_t factor) const {
  if (factor == 0) return IndexExpr(0);
  IndexExpr result = *this;
  result.constant_ *= factor;
  for (IndexTerm& term : result.terms_) term.coefficient *= factor;
  return result;
}

// Returns the normal form of floor(e / d). Multiples of d are moved out of the division. d and the
// rest are divided by the common divisor of d and the coefficients of the rest. The constant of the
// rest is in [0, d). If the rest is a division plus a constant, the two divisions are merged.
IndexExpr IndexExpr::FloorDiv(const IndexExpr& numerator, int64_t divisor) {
  TUNEC_CHECK(divisor > 0, "divisor {}", divisor);
  if (divisor == 1) return numerator;
  IndexExpr whole(FloorDivide(numerator.constant_, divisor));
  IndexExpr rest(FloorModulo(numerator.constant_, divisor));
  int64_t common = divisor;
  for (const IndexTerm& term : numerator.terms_) {
    const int64_t quotient = FloorDivide(term.coefficient, divisor);
    const int64_t remainder = FloorModulo(term.coefficient, divisor);
    if (quotient != 0) whole.terms_.push_back({quotient, term.atom});
    if (remainder != 0) {
      rest.terms_.push_back({remainder, term.atom});
      common = std::gcd(common, remainder);
    }
  }
  if (rest.IsConstant()) return whole;
  rest.constant_ = FloorDivide(rest.constant_, common);
  for (IndexTerm& term : rest.terms_) term.coefficient /= common;
  divisor /= common;
  if (divisor == 1) return whole + rest;
  if (rest.terms_.size() == 1 && rest.terms_[0].coefficient == 1 &&
      rest.terms_[0].atom.kind == IndexAtom::Kind::kFloorDiv) {
    // Merges the divisions by floor((floor(n/d1) + c)/d2) = floor((n + c*d1)/(d1*d2)).
    const IndexAtom& inner = rest.terms_[0].atom;
    return whole +
           FloorDiv(*inner.numerator + rest.constant_ * inner.divisor, inner.divisor * divisor);
  }
  IndexExpr division;
  division.terms_.push_back({1,
                             {.kind = IndexAtom::Kind::kFloorDiv,
                              .numerator = std::make_shared<const IndexExpr>(std::move(rest)),
                              .divisor = divisor}});
  return whole + division;
}

IndexExpr IndexExpr::Mod(const IndexExpr& value, int64_t modulus) {
  return value - FloorDiv(value, modulus) * modulus;
}

std::optional<VarId> IndexExpr::AsVar() const {
  if (constant_ != 0 || terms_.size() != 1 || terms_[0].coefficient != 1 ||
      terms_[0].atom.kind != IndexAtom::Kind::kVariable) {
    return std::nullopt;
  }
  return terms_[0].atom.variable();
}

int64_t IndexExpr::Coefficient(VarId variable) const {
  for (const IndexTerm& term : terms_) {
    if (term.atom.kind == IndexAtom::Kind::kVariable && term.atom.variable() == variable) {
      return term.coefficient;
    }
  }
  return 0;
}

bool IndexExpr::Uses(VarId variable) const {
  return std::ranges::any_of(terms_, [&](const IndexTerm& term) {
    if (term.atom.kind == IndexAtom::Kind::kVariable) return term.atom.variable() == variable;
    return term.atom.kind == IndexAtom::Kind::kFloorDiv && term.atom.numerator->Uses(variable);
  });
}

bool IndexExpr::UsesLoaded() const {
  return std::ranges::any_of(terms_, [](const IndexTerm& term) {
    if (term.atom.kind == IndexAtom::Kind::kLoaded) return true;
    return term.atom.kind == IndexAtom::Kind::kFloorDiv && term.atom.numerator->UsesLoaded();
  });
}

void IndexExpr::CollectVars(std::vector<VarId>& into) const {
  for (const IndexTerm& term : terms_) {
    if (term.atom.kind == IndexAtom::Kind::kFloorDiv) {
      term.atom.numerator->CollectVars(into);
    } else if (term.atom.kind == IndexAtom::Kind::kVariable &&
               std::ranges::find(into, term.atom.variable()) == into.end()) {
      into.push_back(term.atom.variable());
    }
  }
}

namespace {

IndexExpr FromAtom(const IndexAtom& atom, int64_t coefficient) {
  switch (atom.kind) {
    case IndexAtom::Kind::kVariable:
      return IndexExpr::Var(atom.variable()) * coefficient;
    case IndexAtom::Kind::kLoaded:
      return IndexExpr::Loaded(atom.id) * coefficient;
    case IndexAtom::Kind::kFloorDiv:
      break;
  }
  return IndexExpr::FloorDiv(*atom.numerator, atom.divisor) * coefficient;
}

Interval AtomBounds(const IndexAtom& atom, const IntervalOf& variables,
                    const LoadedIntervalOf& loaded) {
  switch (atom.kind) {
    case IndexAtom::Kind::kVariable:
      return variables ? variables(atom.variable()) : kUnknownInterval;
    case IndexAtom::Kind::kLoaded:
      return loaded ? loaded(atom.id) : kUnknownInterval;
    case IndexAtom::Kind::kFloorDiv:
      break;
  }
  const Interval inner = BoundsOf(*atom.numerator, variables, loaded);
  return {FloorDivide(inner.lo, atom.divisor), FloorDivide(inner.hi, atom.divisor)};
}

Interval TermwiseBounds(const IndexExpr& expr, const IntervalOf& variables,
                        const LoadedIntervalOf& loaded) {
  Interval total{expr.constant(), expr.constant()};
  for (const IndexTerm& term : expr.terms()) {
    total = Sum(total, Scale(AtomBounds(term.atom, variables, loaded), term.coefficient));
  }
  return total;
}

// Returns an interval that contains n mod d for every n in an interval.
Interval ModuloBounds(Interval numerator, int64_t divisor) {
  if (FloorDivide(numerator.lo, divisor) == FloorDivide(numerator.hi, divisor)) {
    return {FloorModulo(numerator.lo, divisor), FloorModulo(numerator.hi, divisor)};
  }
  return {0, divisor - 1};
}

}  // namespace

namespace {

// A division floor(numerator/divisor).
struct Division {
  IndexExpr numerator;
  int64_t divisor;
};

// Returns divisions that equal the division floor(n/d) in a sum. The first is floor(n/d) itself. If
// the sum has a term with floor(n/e) and e divides d, floor(floor(n/e) / (d/e)) is another one.
// With row = floor(n/e), BoundsOf finds row mod (d/e) by the second form.
std::vector<Division> ReadingsOf(const IndexAtom& division, const IndexExpr& sum) {
  const IndexExpr& n = *division.numerator;
  std::vector<Division> readings = {{n, division.divisor}};
  for (const auto& [coefficient, atom] : sum.terms()) {
    if (atom.kind != IndexAtom::Kind::kFloorDiv || atom.divisor >= division.divisor) continue;
    if (division.divisor % atom.divisor != 0 || *atom.numerator != n) continue;
    readings.push_back({FromAtom(atom, 1), division.divisor / atom.divisor});
  }
  return readings;
}

// Returns integers k with which callers may write a sum with the term c*floor(n/d) as c*floor(n/d)
// + k*n + rest. If d divides c, one k is -c/d, because c*floor(n/d) + k*n is then k*(n mod d).
// Another k is the integer quotient, if there is one, of the coefficients that the first term of n
// has in the sum and in n.
std::vector<int64_t> TimesBeside(const IndexExpr& sum, int64_t c, const Division& division) {
  std::vector<int64_t> times;
  if (c % division.divisor == 0) times.push_back(-c / division.divisor);
  const std::vector<IndexTerm>& numerator = division.numerator.terms();
  if (numerator.empty()) return times;
  const auto here = std::ranges::find(sum.terms(), numerator[0].atom, &IndexTerm::atom);
  if (here == sum.terms().end() || here->coefficient % numerator[0].coefficient != 0) return times;
  times.push_back(here->coefficient / numerator[0].coefficient);
  return times;
}

}  // namespace

Interval BoundsOf(const IndexExpr& expr, const IntervalOf& variables,
                  const LoadedIntervalOf& loaded) {
  Interval best = TermwiseBounds(expr, variables, loaded);
  // c*floor(n/d) + k*n equals (c + k*d)*floor(n/d) + k*(n mod d). The bounds of the second form can
  // be tighter than the sum of the bounds of all terms. For n mod d itself, k is 1 and c is -d.
  for (const auto& [c, atom] : expr.terms()) {
    if (atom.kind != IndexAtom::Kind::kFloorDiv) continue;
    for (const Division& division : ReadingsOf(atom, expr)) {
      const auto& [n, d] = division;
      for (const int64_t k : TimesBeside(expr, c, division)) {
        const IndexExpr rest = expr - FromAtom(atom, c) - n * k;
        if (rest.terms().size() >= expr.terms().size()) continue;
        const Interval numerator = BoundsOf(n, variables, loaded);
        const Interval quotient{FloorDivide(numerator.lo, d), FloorDivide(numerator.hi, d)};
        const Interval parts =
            Sum(Scale(quotient, c + k * d), Scale(ModuloBounds(numerator, d), k));
        best = Intersect(best, Sum(BoundsOf(rest, variables, loaded), parts));
      }
    }
  }
  return best;
}

namespace {

// A sum in two parts; the first part is a multiple of a divisor.
struct Parts {
  IndexExpr divisible;
  IndexExpr rest;
};

Parts TermsByDivisor(const IndexExpr& sum, int64_t divisor) {
  Parts parts{0, sum.constant()};
  for (const IndexTerm& term : sum.terms()) {
    IndexExpr& side = term.coefficient % divisor == 0 ? parts.divisible : parts.rest;
    side += FromAtom(term.atom, term.coefficient);
  }
  return parts;
}

// Splits the sum like TermsByDivisor, and then c*floor(n/m) into two terms, if the first term is a
// multiple of the divisor: (c + k*m)*floor(n/m) - k*m*floor(n/m). The second term can form k*(n mod
// m) with a k*n of the sum. Normal forms hide these remainders. For example, floor((x mod 4 +
// 4*y)/32) has the numerator x + 4*y + 28*floor(x/4). Its parts are 32*floor(x/4) and x -
// 4*floor(x/4) + 4*y.
Parts RemaindersByDivisor(const IndexExpr& sum, int64_t divisor) {
  Parts parts = TermsByDivisor(sum, divisor);
  for (const IndexTerm& term : sum.terms()) {
    if (term.atom.kind != IndexAtom::Kind::kFloorDiv || term.coefficient % divisor == 0) continue;
    const Division division{*term.atom.numerator, term.atom.divisor};
    for (const int64_t k : TimesBeside(sum, term.coefficient, division)) {
      const int64_t multiple = term.coefficient + k * term.atom.divisor;
      if (multiple == 0 || multiple % divisor != 0) continue;
      parts.divisible += FromAtom(term.atom, multiple);
      parts.rest -= FromAtom(term.atom, multiple);
      break;
    }
  }
  return parts;
}

// Simplifies floor(n/d) if n splits into a part divisible by d and a rest whose quotient
// floor(rest/d) the intervals decide.
IndexExpr SimplifyDivision(const IndexExpr& numerator, int64_t divisor,
                           const IntervalOf& variables) {
  for (const auto split : {TermsByDivisor, RemaindersByDivisor}) {
    const auto [divisible, rest] = split(numerator, divisor);
    const Interval bounds = BoundsOf(rest, variables);
    const int64_t low = FloorDivide(bounds.lo, divisor);
    if (bounds.lo > -kUnbounded && bounds.hi < kUnbounded &&
        low == FloorDivide(bounds.hi, divisor)) {
      return IndexExpr::FloorDiv(divisible, divisor) + low;
    }
  }
  return IndexExpr::FloorDiv(numerator, divisor);
}

// Drops small terms s that cannot carry: floor((m*r + s)/(m*q)) = floor((r + low)/q) if floor(s/m)
// is always low. Tries as m the divisor's common factor with each coefficient. If nothing can be
// dropped, calls SimplifyDivision.
IndexExpr DropSmallTerms(const IndexExpr& numerator, int64_t divisor, const IntervalOf& variables) {
  for (const IndexTerm& pivot : numerator.terms()) {
    const int64_t modulus = std::gcd(pivot.coefficient, divisor);
    if (modulus <= 1) continue;
    IndexExpr large(0);
    IndexExpr small(numerator.constant());
    for (const IndexTerm& term : numerator.terms()) {
      IndexExpr& side = term.coefficient % modulus == 0 ? large : small;
      side += FromAtom(term.atom, term.coefficient);
    }
    const Interval bounds = BoundsOf(small, variables);
    const int64_t low = FloorDivide(bounds.lo, modulus);
    if (bounds.lo <= -kUnbounded || bounds.hi >= kUnbounded ||
        low != FloorDivide(bounds.hi, modulus)) {
      continue;
    }
    if (small.IsConstant() && FloorModulo(small.constant(), modulus) == 0) continue;
    // The division has fewer terms or a smaller divisor now, so the intervals may decide it.
    return Simplify(IndexExpr::FloorDiv(large + low * modulus, divisor), variables);
  }
  return SimplifyDivision(numerator, divisor, variables);
}

}  // namespace

IndexExpr Simplify(const IndexExpr& expr, const IntervalOf& variables) {
  IndexExpr result(expr.constant());
  for (const IndexTerm& term : expr.terms()) {
    if (term.atom.kind != IndexAtom::Kind::kFloorDiv) {
      result += FromAtom(term.atom, term.coefficient);
      continue;
    }
    IndexExpr division =
        IndexExpr::FloorDiv(Simplify(*term.atom.numerator, variables), term.atom.divisor);
    IndexExpr simplified(division.constant());
    for (const IndexTerm& part : division.terms()) {
      simplified += part.atom.kind == IndexAtom::Kind::kFloorDiv
                        ? DropSmallTerms(*part.atom.numerator, part.atom.divisor, variables) *
                              part.coefficient
                        : FromAtom(part.atom, part.coefficient);
    }
    result += simplified * term.coefficient;
  }
  const Interval bounds = BoundsOf(result, variables);
  return bounds.lo == bounds.hi && !result.UsesLoaded() ? IndexExpr(bounds.lo) : result;
}

namespace {

// Returns the sum with its variables and loaded values replaced.
template <class Variable, class LoadedValue>
IndexExpr ReplaceAtoms(const IndexExpr& expr, const Variable& variable, const LoadedValue& loaded) {
  IndexExpr result(expr.constant());
  for (const IndexTerm& term : expr.terms()) {
    switch (term.atom.kind) {
      case IndexAtom::Kind::kVariable:
        result += variable(term.atom.variable()) * term.coefficient;
        break;
      case IndexAtom::Kind::kLoaded:
        result += loaded(term.atom.id) * term.coefficient;
        break;
      case IndexAtom::Kind::kFloorDiv:
        result += IndexExpr::FloorDiv(ReplaceAtoms(*term.atom.numerator, variable, loaded),
                                      term.atom.divisor) *
                  term.coefficient;
        break;
    }
  }
  return result;
}

}  // namespace

IndexExpr Substitute(const IndexExpr& expr, const std::function<IndexExpr(VarId)>& replacement) {
  return ReplaceAtoms(expr, replacement, IndexExpr::Loaded);
}

IndexExpr Substitute(const IndexExpr& expr, std::span<const IndexExpr> replacements) {
  return Substitute(expr, [&](VarId variable) -> IndexExpr {
    TUNEC_CHECK(variable.number() >= 0 && variable.index() < replacements.size(),
                "variable {} of {}", variable, replacements.size());
    return replacements[variable.index()];
  });
}

IndexExpr RenumberLoaded(const IndexExpr& expr, const std::function<int(int)>& slot_of) {
  return ReplaceAtoms(expr, IndexExpr::Var,
                      [&](int slot) { return IndexExpr::Loaded(slot_of(slot)); });
}

int64_t Evaluate(const IndexExpr& expr, std::span<const int64_t> variables,
                 std::span<const int64_t> loaded) {
  int64_t total = expr.constant();
  for (const IndexTerm& term : expr.terms()) {
    switch (term.atom.kind) {
      case IndexAtom::Kind::kVariable:
        total += term.coefficient * variables[term.atom.variable().index()];
        break;
      case IndexAtom::Kind::kLoaded:
        total += term.coefficient * loaded[term.atom.id];
        break;
      case IndexAtom::Kind::kFloorDiv:
        total += term.coefficient *
                 FloorDivide(Evaluate(*term.atom.numerator, variables, loaded), term.atom.divisor);
        break;
    }
  }
  return total;
}

namespace {

std::string PrintAtom(const IndexAtom& atom, const std::function<std::string(VarId)>& name) {
  switch (atom.kind) {
    case IndexAtom::Kind::kVariable:
      return name(atom.variable());
    case IndexAtom::Kind::kLoaded:
      return fmt::format("@{}", atom.id);
    case IndexAtom::Kind::kFloorDiv:
      break;
  }
  std::string inner = Print(*atom.numerator, name);
  if (!atom.numerator->AsVar()) inner = "(" + inner + ")";
  return fmt::format("floor({}/{})", inner, atom.divisor);
}

}  // namespace

std::string Print(const IndexExpr& expr, const std::function<std::string(VarId)>& name) {
  std::string text;
  for (const IndexTerm& term : expr.terms()) {
    const int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (text.empty()) {
      if (term.coefficient < 0) text += "-";
    } else {
      text += term.coefficient < 0 ? " - " : " + ";
    }
    if (magnitude != 1) text += fmt::format("{}*", magnitude);
    text += PrintAtom(term.atom, name);
  }
  if (text.empty()) return fmt::format("{}", expr.constant());
  if (expr.constant() > 0) text += fmt::format(" + {}", expr.constant());
  if (expr.constant() < 0) text += fmt::format(" - {}", -expr.constant());
  return text;
}

std::string Print(const IndexExpr& expr, std::span<const std::string> names) {
  return Print(expr, [&](VarId variable) -> std::string {
    TUNEC_CHECK(variable.number() >= 0 && variable.index() < names.size(), "variable {} of {}",
                variable, names.size());
    return names[variable.index()];
  });
}

}  // namespace tunec
