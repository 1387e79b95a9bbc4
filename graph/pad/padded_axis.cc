#include "graph/pad/padded_axis.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace tunec::pad {
namespace {

bool SameExtents(const Part& a, const Part& b) {
  return a.padded == b.padded && a.exact == b.exact;
}

/// Unifies open axes of equal extents. If all parts have equal extents, a part of the result is
/// open if it is open in `a` or `b`. If the parts differ, returns `a` if the exact positions are
/// the first positions in both axes, otherwise nullopt.
std::optional<Axis> UnifyParts(const Axis& a, const Axis& b) {
  if (!std::ranges::equal(a.parts(), b.parts(), SameExtents))
    return a.IsPrefix() && b.IsPrefix() ? std::optional(a) : std::nullopt;
  std::vector<Part> parts = a.parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].IsOpen()) parts[i].parameter = b.parts()[i].parameter;
  }
  return Axis(parts);
}

/// The parts that Regroup has not assigned to an axis yet. The next part is the last element.
class Rest {
 public:
  Rest(const Axes& axes, const ParameterFor& parameter_for) : parameter_for_(parameter_for) {
    for (const Axis& axis : axes) {
      rest_.insert(rest_.end(), axis.parts().begin(), axis.parts().end());
    }
    rest_ = Axis(rest_).parts();
    std::ranges::reverse(rest_);
  }

  bool empty() const { return rest_.empty(); }

  std::optional<Axis> Take(Extents required) {
    std::vector<Part> taken;
    while (required.padded > 1) {
      const std::optional<Part> part = TakePart(required);
      if (!part) return std::nullopt;
      required.padded /= part->padded;
      required.exact /= part->exact;
      taken.push_back(*part);
    }
    if (required.exact != 1) return std::nullopt;
    return Axis(taken);
  }

 private:
  std::optional<Part> TakePart(Extents required) {
    if (rest_.empty()) return std::nullopt;
    Part part = rest_.back();
    rest_.pop_back();
    if (required.padded % part.padded == 0 && part.exact > 0 && required.exact % part.exact == 0)
      return part;
    return Cut(part, required);
  }

  /// Splits a part into a slow part with the extents `required` and a fixed fast part. Returns the
  /// slow part, and leaves the fast part for the next axis. Returns nullopt if the part's extents
  /// are not `required` times the same factor.
  std::optional<Part> Cut(const Part& part, Extents required) {
    if (part.padded % required.padded != 0) return std::nullopt;
    const int64_t fast = part.padded / required.padded;
    if (part.exact != required.exact * fast) return std::nullopt;
    rest_.push_back({fast, fast});
    Part slow{required.padded, required.exact};
    if (part.IsOpen()) slow.parameter = parameter_for_(part, fast);
    return slow;
  }

  std::vector<Part> rest_;
  const ParameterFor& parameter_for_;
};

}  // namespace

Axis::Axis(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.padded == 1) continue;
    const bool joins = !parts_.empty() && !parts_.back().IsOpen() && !part.IsOpen();
    if (joins) {
      parts_.back().padded *= part.padded;
      parts_.back().exact *= part.exact;
    } else {
      parts_.push_back(part);
    }
  }
}

Axis Axis::Repeated(Part part) {
  Axis axis({part});
  axis.repeated_ = true;
  return axis;
}

Extents Axis::extents() const {
  Extents product;
  for (const Part& part : parts_) {
    product.exact *= part.exact;
    product.padded *= part.padded;
  }
  return product;
}

bool Axis::IsPrefix() const {
  return std::ranges::none_of(parts_ | std::views::drop(1), &Part::IsOpen);
}

bool Axis::IsOpen() const { return std::ranges::any_of(parts_, &Part::IsOpen); }

std::vector<int64_t> Axis::Digits(int64_t position) const {
  std::vector<int64_t> digits(parts_.size());
  for (size_t i = parts_.size(); i-- > 0; position /= parts_[i].padded)
    digits[i] = position % parts_[i].padded;
  return digits;
}

int64_t Axis::Embed(int64_t position) const {
  int64_t embedded = 0, stride = 1;
  for (size_t i = parts_.size(); i-- > 0; position /= parts_[i].exact) {
    embedded += position % parts_[i].exact * stride;
    stride *= parts_[i].padded;
  }
  return embedded;
}

std::optional<Axis> Unify(const Axis& a, const Axis& b) {
  const Extents left = a.extents(), right = b.extents();
  if (left.padded == 1 && left.exact == 1) return b;
  if (right.padded == 1 && right.exact == 1) return a;
  if (left.padded != right.padded || left.exact != right.exact) return std::nullopt;
  if (a.is_repeated() || (!a.IsOpen() && !b.is_repeated())) return b;
  if (b.is_repeated() || !b.IsOpen()) return a;
  return UnifyParts(a, b);
}

std::optional<Axes> Regroup(const Axes& axes, const std::vector<Extents>& required,
                            const ParameterFor& parameter_for) {
  Rest rest(axes, parameter_for);
  Axes result;
  for (const Extents extents : required) {
    std::optional<Axis> axis = rest.Take(extents);
    if (!axis) return std::nullopt;
    result.push_back(*std::move(axis));
  }
  if (!rest.empty()) return std::nullopt;
  return result;
}

}  // namespace tunec::pad
