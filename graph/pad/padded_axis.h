// The exact positions of a padded axis. Only graph/pad uses this file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/pad/pad_graph.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_expr.h"

namespace tunec::pad {

/// A factor of an axis: `padded` positions, of which the first `exact` are exact. The exact extent
/// of an open part contains named sizes. A fixed part has the same extent in the exact graph and in
/// the padded graph.
struct Part : PaddedExtent {
  bool IsOpen() const { return !exact.IsConstant(); }
};
inline Part FixedPart(int64_t extent) { return {{.padded = extent, .exact = extent}}; }

/// An extent in the exact graph and in the padded graph.
using Extents = PaddedExtent;

/// A function that requires a condition. It returns false if the condition is false for all sizes.
using Requirement = std::function<bool(const SizeCondition& condition)>;
inline SizeCondition Equal(const SizeExpr& left, const SizeExpr& right) {
  return {SizeCondition::Kind::kEqual, left, right};
}
inline SizeCondition AtMost(const SizeExpr& left, const SizeExpr& right) {
  return {SizeCondition::Kind::kAtMost, left, right};
}

/// An axis as the product of its parts, the first one slowest. Fixed parts of one position are left
/// out, and neighbouring fixed parts are merged. An axis without parts has one position.
class Axis {
 public:
  Axis() = default;  // one position
  explicit Axis(const std::vector<Part>& parts);
  static Axis Fixed(int64_t extent) { return Axis({FixedPart(extent)}); }
  /// Returns an axis along which all elements are equal. So any position may be used as exact.
  static Axis Repeated(Part part);

  const std::vector<Part>& parts() const { return parts_; }
  Extents extents() const;
  int64_t padded() const { return extents().padded; }
  SizeExpr exact() const { return extents().exact; }
  bool IsOpen() const;
  bool is_repeated() const { return repeated_; }
  /// Returns an axis of the same parts that is not repeated.
  Axis Different() const { return Axis(parts_); }
  /// Returns whether the exact positions are the first ones, in order: no part except the slowest
  /// is open.
  bool IsPrefix() const;
  /// Returns the position within each part for a position in the padded axis.
  std::vector<int64_t> Digits(int64_t position) const;

 private:
  std::vector<Part> parts_;
  bool repeated_ = false;
};
using Axes = std::vector<Axis>;

/// Returns the axis that results from broadcasting axes of two operands. Requires that exact
/// extents are equal. Returns nullopt if the exact positions may differ.
std::optional<Axis> Unify(const Axis& a, const Axis& b, const Requirement& require);

/// Regroups the parts of `axes`, in order, as axes of the extents `shape`, as a reshape does.
/// Returns nullopt if the parts cannot be merged or split accordingly. `is_cut` becomes true if an
/// open part is split.
std::optional<Axes> Regroup(const Axes& axes, const std::vector<Extents>& shape,
                            const Requirement& require, bool& is_cut);

}  // namespace tunec::pad
