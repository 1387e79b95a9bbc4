#include "graph/pad/padded_axis.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace tunec::pad {
namespace {

/// Returns whether the sizes are equal, or required to be. A named size is not required to equal a
/// number: a padded graph for a single size would be useless.
bool AreEqual(const SizeExpr& a, const SizeExpr& b, const Requirement& require) {
  return a == b || (a.IsConstant() == b.IsConstant() && require(Equal(a, b)));
}

/// Returns a / b if b divides a at all sizes.
std::optional<SizeExpr> DivideExactly(const SizeExpr& a, const SizeExpr& b) {
  if (a == b) return SizeExpr(1);
  if (b == 0 || SizeExpr::Mod(a, b) != 0) return std::nullopt;
  return SizeExpr::FloorDiv(a, b);
}

/// Unifies open axes of equal padded extents. If all parts have equal padded extents, the parts
/// must be equal. Otherwise the exact positions must be the first ones in both axes.
std::optional<Axis> UnifyParts(const Axis& a, const Axis& b, const Requirement& require) {
  if (!std::ranges::equal(a.parts(), b.parts(), {}, &Part::padded, &Part::padded)) {
    const bool is_same = a.IsPrefix() && b.IsPrefix() && AreEqual(a.exact(), b.exact(), require);
    return is_same ? std::optional(a) : std::nullopt;
  }
  for (size_t i = 0; i < a.parts().size(); ++i)
    if (!AreEqual(a.parts()[i].exact, b.parts()[i].exact, require)) return std::nullopt;
  return a;
}

/// The parts that Regroup has not assigned to an axis yet. The next part is the last element.
class Rest {
 public:
  Rest(const Axes& axes, const Requirement& require, bool& is_cut)
      : require_(require), is_cut_(is_cut) {
    for (const Axis& axis : axes) {
      rest_.insert(rest_.end(), axis.parts().begin(), axis.parts().end());
    }
    rest_ = Axis(rest_).parts();
    std::ranges::reverse(rest_);
  }

  bool empty() const { return rest_.empty(); }

  std::optional<Axis> Take(Extents extents) {
    std::vector<Part> taken;
    while (extents.exact != 1) {
      const std::optional<Part> part = TakePart(extents);
      if (!part) return std::nullopt;
      extents.padded /= part->padded;
      extents.exact = *DivideExactly(extents.exact, part->exact);
      taken.push_back(*part);
    }
    return Axis(taken);
  }

 private:
  std::optional<Part> TakePart(const Extents& extents) {
    if (rest_.empty()) return std::nullopt;
    Part part = rest_.back();
    rest_.pop_back();
    if (extents.padded % part.padded == 0 && DivideExactly(extents.exact, part.exact)) return part;
    return Cut(part, extents);
  }

  /// Splits a part into a slow part with these extents and a fixed fast part. Returns the slow
  /// part, and leaves the fast part for the next axis. Returns nullopt if the part's extents are
  /// not these extents times the same factor.
  std::optional<Part> Cut(const Part& part, const Extents& extents) {
    if (part.padded % extents.padded != 0) return std::nullopt;
    const int64_t fast = part.padded / extents.padded;
    if (!AreEqual(part.exact, extents.exact * fast, require_)) return std::nullopt;
    is_cut_ = is_cut_ || part.IsOpen();
    if (fast > 1) rest_.push_back(FixedPart(fast));
    return Part{extents};
  }

  std::vector<Part> rest_;
  const Requirement& require_;
  bool& is_cut_;
};

}  // namespace

Axis::Axis(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.exact == 1) continue;
    const bool joins = !parts_.empty() && !parts_.back().IsOpen() && !part.IsOpen();
    if (joins) {
      parts_.back() = FixedPart(parts_.back().padded * part.padded);
    } else {
      parts_.push_back(part);
    }
  }
}

Axis Axis::Repeated(Part part) {
  Axis axis({std::move(part)});
  axis.repeated_ = true;
  return axis;
}

Extents Axis::extents() const {
  Extents product;
  for (const Part& part : parts_) {
    product.exact = product.exact * part.exact;
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

std::optional<Axis> Unify(const Axis& a, const Axis& b, const Requirement& require) {
  if (a.parts().empty()) return b;
  if (b.parts().empty()) return a;
  if (a.padded() != b.padded()) return std::nullopt;
  if (a.is_repeated() || b.is_repeated() || a.IsOpen() != b.IsOpen()) {
    if (!AreEqual(a.exact(), b.exact(), require)) return std::nullopt;
    const bool is_b = a.is_repeated() || (!a.IsOpen() && !b.is_repeated());
    return is_b ? b : a;
  }
  return a.IsOpen() ? UnifyParts(a, b, require) : a;
}

std::optional<Axes> Regroup(const Axes& axes, const std::vector<Extents>& shape,
                            const Requirement& require, bool& is_cut) {
  Rest rest(axes, require, is_cut);
  Axes result;
  for (const Extents& extents : shape) {
    std::optional<Axis> axis = rest.Take(extents);
    if (!axis) return std::nullopt;
    result.push_back(*std::move(axis));
  }
  if (!rest.empty()) return std::nullopt;
  return result;
}

}  // namespace tunec::pad
