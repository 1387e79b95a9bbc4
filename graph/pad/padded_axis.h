// The exact positions of a padded axis. Only graph/pad uses this file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tunec::pad {

/// A factor of an axis: `padded` positions, of which the first `exact` are exact. An open part has
/// a parameter, which holds `exact` at run time. A fixed part has the same extent in the exact
/// graph and in the padded graph.
struct Part {
  int64_t padded = 1;
  int64_t exact = 1;
  int parameter = -1;
  bool IsOpen() const { return parameter >= 0; }
};

/// An extent in the exact graph and in the padded graph.
struct Extents {
  int64_t exact = 1;
  int64_t padded = 1;
};

/// An axis as the product of its parts, the first one slowest. Parts of one position are left out,
/// and neighbouring fixed parts are merged.
class Axis {
 public:
  Axis() = default;  // one position
  explicit Axis(const std::vector<Part>& parts);
  static Axis Fixed(int64_t extent) { return Axis({Part{extent, extent}}); }
  /// Returns an axis along which all elements are equal. So any position may be used as exact.
  static Axis Repeated(Part part);

  const std::vector<Part>& parts() const { return parts_; }
  Extents extents() const;
  bool IsOpen() const;
  bool is_repeated() const { return repeated_; }
  /// Returns an axis of the same parts that is not repeated.
  Axis Different() const { return Axis(parts_); }
  /// Returns whether the exact positions are the first ones, in order: no part except the slowest
  /// is open.
  bool IsPrefix() const;
  /// Returns the position within each part for a position in the padded axis.
  std::vector<int64_t> Digits(int64_t position) const;
  /// Returns the position in the padded axis for a position in the exact axis.
  int64_t Embed(int64_t position) const;

 private:
  std::vector<Part> parts_;
  bool repeated_ = false;
};
using Axes = std::vector<Axis>;

/// Returns the axis that results from broadcasting axes of two operands; nullopt if their exact
/// positions may differ.
std::optional<Axis> Unify(const Axis& a, const Axis& b);

/// A function that returns the parameter of an open part with the extents of `from` divided by
/// `fast`, for a reshape that splits `from`.
using ParameterFor = std::function<int(const Part& from, int64_t fast)>;

/// Regroups the parts of `axes`, in order, as axes of the extents `required`, as a reshape does.
/// Returns nullopt if the parts cannot be merged or split accordingly.
std::optional<Axes> Regroup(const Axes& axes, const std::vector<Extents>& required,
                            const ParameterFor& parameter_for);

}  // namespace tunec::pad
