#include "jit/emit/index.h"

#include <algorithm>
#include <numeric>

#include "support/check.h"

namespace tunec::jit {
namespace {

bool FitsInt32(Interval interval) { return interval.lo >= INT32_MIN && interval.hi <= INT32_MAX; }

int64_t Clamp(__int128 value) {
  if (value > kUnbounded) return kUnbounded;
  if (value < -kUnbounded) return -kUnbounded;
  return static_cast<int64_t>(value);
}

/// Returns factor * interval + sum, limited to -kUnbounded .. kUnbounded.
Interval AddScaled(Interval sum, Interval interval, int64_t factor) {
  const __int128 a = static_cast<__int128>(interval.lo) * factor;
  const __int128 b = static_cast<__int128>(interval.hi) * factor;
  return {Clamp(sum.lo + std::min(a, b)), Clamp(sum.hi + std::max(a, b))};
}

}  // namespace

void IndexEmitter::Reset() {
  scopes_.assign(1, Scope{});
  values_.clear();
  bindings_.clear();
  loaded_.clear();
  lanes_ = 1;
}

void IndexEmitter::Enter(IrBlock before) {
  scopes_.emplace_back();
  scopes_.back().before = before;
}

void IndexEmitter::Leave() { scopes_.pop_back(); }

LinearIndex IndexEmitter::NewValue(IrValue value, Interval interval, int64_t multiple) {
  values_.push_back({value, interval, multiple, depth()});
  LinearIndex index;
  index.terms.emplace_back(static_cast<int>(values_.size()) - 1, 1);
  return index;
}

void IndexEmitter::Bind(VarId variable, LinearIndex value) {
  bindings_[variable] = std::move(value);
}

const LinearIndex& IndexEmitter::ValueOf(VarId variable) const {
  const auto it = bindings_.find(variable);
  TUNEC_CHECK(it != bindings_.end(), "loop variable {} is used outside of its loop", variable);
  return it->second;
}

Interval IndexEmitter::IntervalOfVar(VarId variable) const {
  const auto it = bindings_.find(variable);
  return it == bindings_.end() ? kUnknownInterval : Bounds(it->second);
}

LinearIndex IndexEmitter::Scaled(const LinearIndex& a, int64_t factor) {
  return Sum(LinearIndex{}, a, factor);
}

LinearIndex IndexEmitter::Sum(const LinearIndex& a, const LinearIndex& b, int64_t factor) {
  LinearIndex sum;
  if (factor == 0) return a;
  sum.constant = a.constant + factor * b.constant;
  sum.lane_factor = a.lane_factor + factor * b.lane_factor;
  size_t i = 0;
  size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].first < b.terms[j].first)) {
      sum.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].first < a.terms[i].first) {
      sum.terms.emplace_back(b.terms[j].first, b.terms[j].second * factor);
      ++j;
    } else {
      const int64_t total = a.terms[i].second + b.terms[j].second * factor;
      if (total != 0) sum.terms.emplace_back(a.terms[i].first, total);
      ++i, ++j;
    }
  }
  sum.per_lane = a.per_lane;
  if (b.per_lane != nullptr) {
    const IrValue scaled =
        factor == 1 ? b.per_lane : builder_.Mul(b.per_lane, builder_.I64(factor));
    sum.per_lane = sum.per_lane == nullptr ? scaled : builder_.Add(sum.per_lane, scaled);
  }
  return sum;
}

LinearIndex IndexEmitter::LoadedValue(int slot) {
  TUNEC_CHECK(slot >= 0 && slot < static_cast<int>(loaded_.size()), "no loaded value {}", slot);
  const auto& [value, interval] = loaded_[slot];
  if (builder_.LanesOf(value) == 1) return NewValue(value, interval);
  LinearIndex index;
  index.per_lane = value;
  return index;
}

LinearIndex IndexEmitter::Evaluate(const IndexExpr& expr) {
  LinearIndex sum;
  sum.constant = expr.constant();
  for (const IndexTerm& term : expr.terms()) {
    switch (term.atom.kind) {
      case IndexAtom::Kind::kVariable:
        sum = Sum(sum, ValueOf(term.atom.variable()), term.coefficient);
        break;
      case IndexAtom::Kind::kLoaded:
        sum = Sum(sum, LoadedValue(term.atom.id), term.coefficient);
        break;
      case IndexAtom::Kind::kFloorDiv:
        sum = Sum(sum, FloorDivide(Evaluate(*term.atom.numerator), term.atom.divisor),
                  term.coefficient);
        break;
    }
  }
  return sum;
}

Interval IndexEmitter::Bounds(const LinearIndex& index) const {
  if (index.per_lane != nullptr) {
    const std::vector<int64_t> lanes = builder_.ConstantLanes(index.per_lane);
    if (lanes.empty()) return kUnknownInterval;
  }
  Interval bounds{index.constant, index.constant};
  for (const auto& [number, factor] : index.terms)
    bounds = AddScaled(bounds, values_[number].interval, factor);
  bounds = AddScaled(bounds, {0, lanes_ - 1}, index.lane_factor);
  if (index.per_lane != nullptr) {
    const std::vector<int64_t> lanes = builder_.ConstantLanes(index.per_lane);
    const auto [least, greatest] = std::ranges::minmax(lanes);
    bounds = AddScaled(bounds, {least, greatest}, 1);
  }
  return bounds;
}

Interval IndexEmitter::Bounds(const IndexExpr& expr, const LinearIndex& value) const {
  const Interval a = Bounds(value);
  if (a.lo == a.hi) return a;
  const Interval b = BoundsOf(
      expr, [&](VarId v) { return IntervalOfVar(v); },
      [&](int slot) {
        return slot < static_cast<int>(loaded_.size()) ? loaded_[slot].second : kUnknownInterval;
      });
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

int64_t IndexEmitter::Multiple(const LinearIndex& index) const {
  int64_t multiple = std::abs(index.constant);
  for (const auto& [number, factor] : index.terms)
    multiple = std::gcd(multiple, factor * values_[number].multiple);
  return index.per_lane == nullptr ? multiple : 1;
}

// --- floor division ---

// Returns floor(N/d). With N = d*A + R the quotient is A + floor(R/d). Let all of R except a
// remainder r + f*lane be a multiple of g, a divisor of d. If 0 <= r + f*lane < g, then floor(R/d)
// does not depend on this remainder.
LinearIndex IndexEmitter::FloorDivide(const LinearIndex& numerator, int64_t divisor) {
  LinearIndex quotient;
  LinearIndex rest;
  rest.constant = FloorModulo(numerator.constant, divisor);
  quotient.constant = tunec::FloorDivide(numerator.constant, divisor);
  for (const auto& [number, factor] : numerator.terms) {
    if (factor % divisor == 0) {
      quotient.terms.emplace_back(number, factor / divisor);
    } else {
      rest.terms.emplace_back(number, factor);
    }
  }
  rest.lane_factor = numerator.lane_factor;
  if (rest.lane_factor % divisor == 0) {
    quotient.lane_factor = rest.lane_factor / divisor;
    rest.lane_factor = 0;
  }
  rest.per_lane = numerator.per_lane;
  const Interval bounds = Bounds(rest);
  const int64_t least = tunec::FloorDivide(bounds.lo, divisor);
  if (least == tunec::FloorDivide(bounds.hi, divisor)) {
    quotient.constant += least;
    return quotient;
  }
  int64_t common = divisor;
  for (const auto& [number, factor] : rest.terms)
    common = std::gcd(common, factor * values_[number].multiple);
  if (rest.per_lane == nullptr && common > 1) {
    const int64_t remainder = FloorModulo(rest.constant, common);
    const Interval lanes = AddScaled({remainder, remainder}, {0, lanes_ - 1}, rest.lane_factor);
    if (lanes.lo >= 0 && lanes.hi < common) {
      rest.constant -= remainder;
      rest.lane_factor = 0;
    }
  }
  return Sum(quotient,
             rest.IsUniform() ? DivideUniform(rest, divisor) : DivideLanes(rest, divisor));
}

LinearIndex IndexEmitter::DivideUniform(const LinearIndex& numerator, int64_t divisor) {
  if (numerator.IsConstant()) {
    LinearIndex constant;
    constant.constant = tunec::FloorDivide(numerator.constant, divisor);
    return constant;
  }
  const int at = DepthOf(numerator);
  auto& cache = scopes_[at].divisions;
  const auto key = std::make_tuple(numerator.terms, numerator.constant, divisor);
  if (const auto it = cache.find(key); it != cache.end()) return it->second;
  IrValue value = Scalar(numerator);
  const Interval bounds = Bounds(numerator);
  {
    const Builder::InsertAtEndOf insert(builder_, EndOf(at));
    if ((divisor & (divisor - 1)) == 0) {
      value = builder_.AShr(value, builder_.I64(std::countr_zero(static_cast<uint64_t>(divisor))));
    } else if (bounds.lo >= 0) {
      value = builder_.UDiv(value, builder_.I64(divisor));
    } else {
      const IrValue sign = builder_.AShr(value, builder_.I64(63));  // -1 if negative
      const IrValue down = builder_.And(sign, builder_.I64(divisor - 1));
      value = builder_.SDiv(builder_.Sub(value, down), builder_.I64(divisor));
    }
  }
  values_.push_back(
      {value,
       {tunec::FloorDivide(bounds.lo, divisor), tunec::FloorDivide(bounds.hi, divisor)},
       1,
       at});
  LinearIndex quotient;
  quotient.terms.emplace_back(static_cast<int>(values_.size()) - 1, 1);
  cache[key] = quotient;
  return quotient;
}

LinearIndex IndexEmitter::DivideLanes(const LinearIndex& numerator, int64_t divisor) {
  LinearIndex quotient;
  const Interval bounds = Bounds(numerator);
  if (numerator.terms.empty() && numerator.per_lane == nullptr) {
    std::vector<int64_t> lanes(lanes_);
    for (int i = 0; i < lanes_; ++i)
      lanes[i] = tunec::FloorDivide(numerator.constant + numerator.lane_factor * i, divisor);
    quotient.per_lane = builder_.IntVector(Element::kI64, lanes);
    return quotient;
  }
  const Element element =
      FitsInt32({bounds.lo - divisor, bounds.hi}) ? Element::kI32 : Element::kI64;
  IrValue value = Vector(numerator, element);
  const IrValue by = builder_.Splat(builder_.Int(element, divisor), lanes_);
  if ((divisor & (divisor - 1)) == 0) {
    value = builder_.AShr(value,
                          builder_.Int(element, std::countr_zero(static_cast<uint64_t>(divisor))));
  } else if (bounds.lo >= 0) {
    value = builder_.UDiv(value, by);
  } else {
    const IrValue sign =
        builder_.AShr(value, builder_.Int(element, element == Element::kI32 ? 31 : 63));
    const IrValue down = builder_.And(sign, builder_.Int(element, divisor - 1));
    value = builder_.SDiv(builder_.Sub(value, down), by);
  }
  quotient.per_lane = element == Element::kI32 ? builder_.SignExtend(value, Element::kI64) : value;
  return quotient;
}

// --- values and addresses ---

int IndexEmitter::DepthOf(const LinearIndex& index) const {
  int deepest = 0;
  for (const auto& [number, factor] : index.terms)
    deepest = std::max(deepest, values_[number].depth);
  return deepest;
}

IrBlock IndexEmitter::EndOf(int depth) const {
  return depth == this->depth() ? nullptr : scopes_[depth + 1].before;
}

IrValue IndexEmitter::AddTerms(IrValue start, const Terms& terms, int at) {
  auto& cache = scopes_[at].sums;
  const auto key = std::make_pair(start, terms);
  if (const auto it = cache.find(key); it != cache.end()) return it->second;
  const Builder::InsertAtEndOf insert(builder_, EndOf(at));
  IrValue sum = nullptr;
  for (const auto& [number, factor] : terms) {
    const IrValue value = values_[number].value;
    const IrValue part = factor == 1 ? value : builder_.Mul(value, builder_.I64(factor));
    sum = sum == nullptr ? part : builder_.Add(sum, part);
  }
  if (start != nullptr)
    sum = builder_.TypeOf(start).element == Element::kPointer ? builder_.Offset(start, sum)
                                                              : builder_.Add(start, sum);
  cache[key] = sum;
  return sum;
}

IrValue IndexEmitter::SumOfTerms(IrValue start, const Terms& terms, int64_t scale) {
  for (int at = 0; at <= depth(); ++at) {
    Terms here;
    for (const auto& [number, factor] : terms)
      if (values_[number].depth == at) here.emplace_back(number, factor * scale);
    if (!here.empty()) start = AddTerms(start, here, at);
  }
  return start;
}

IrValue IndexEmitter::Scalar(const LinearIndex& index) {
  TUNEC_CHECK(index.IsUniform(), "the index differs between lanes");
  const IrValue constant = builder_.I64(index.constant);
  if (index.terms.empty()) return constant;
  const IrValue sum = SumOfTerms(nullptr, index.terms, 1);
  if (index.constant == 0) return sum;
  const Builder::InsertAtEndOf insert(builder_, EndOf(DepthOf(index)));
  return builder_.Add(sum, constant);
}

IrValue IndexEmitter::Address(IrValue pointer, const LinearIndex& index, int64_t scale) {
  const IrValue sum = SumOfTerms(pointer, index.terms, scale);
  return index.constant == 0 ? sum : builder_.Offset(sum, builder_.I64(index.constant * scale));
}

IrValue IndexEmitter::LanePart(const LinearIndex& index) {
  if (index.lane_factor == 0) return index.per_lane;
  std::vector<int64_t> lanes(lanes_);
  for (int i = 0; i < lanes_; ++i) lanes[i] = index.lane_factor * i;
  const IrValue vector = builder_.IntVector(Element::kI64, lanes);
  return index.per_lane == nullptr ? vector : builder_.Add(vector, index.per_lane);
}

IrValue IndexEmitter::Vector(const LinearIndex& index, Element element) {
  LinearIndex uniform = index;
  uniform.lane_factor = 0;
  uniform.per_lane = nullptr;
  IrValue scalar = Scalar(uniform);
  if (element == Element::kI32) scalar = builder_.IntTruncate(scalar, Element::kI32);
  IrValue vector = builder_.Splat(scalar, lanes_);
  if (index.IsUniform()) return vector;
  IrValue lanes = LanePart(index);
  if (element == Element::kI32) lanes = builder_.IntTruncate(lanes, Element::kI32);
  return builder_.Add(vector, lanes);
}

}  // namespace tunec::jit
