// Which positions of a padded axis are those of the exact one. Internal to graph/pad.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tunec::pad {

/// A factor of an axis: the first `exact` of `padded` positions. An open one has a parameter, which
/// holds `exact` when the graph runs; a fixed one has as many positions in both graphs.
struct Part {
  int64_t padded = 1;
  int64_t exact = 1;
  int parameter = -1;
  bool IsOpen() const { return parameter >= 0; }
};

/// An extent in both graphs.
struct Extents {
  int64_t exact = 1;
  int64_t padded = 1;
};

/// The product of its parts, the first the slowest. Parts of one position are left out, fixed parts
/// beside each other are one.
class Axis {
 public:
  Axis() = default;  // of one position
  explicit Axis(std::vector<Part> parts);
  static Axis Fixed(int64_t extent) { return Axis({Part{extent, extent}}); }
  /// Its elements are all alike: whichever are taken for the exact ones, it is right.
  static Axis Repeated(Part part);

  const std::vector<Part>& parts() const { return parts_; }
  Extents extents() const;
  bool IsOpen() const;
  bool is_repeated() const { return repeated_; }
  /// The same parts, of elements that are not alike.
  Axis Different() const { return Axis(parts_); }
  /// Whether the exact positions are the first ones, in order: no part but the slowest is open.
  bool IsPrefix() const;
  /// Of a position in the padded axis, its place in each part.
  std::vector<int64_t> Digits(int64_t position) const;
  /// Where a position of the exact axis lies in the padded one.
  int64_t Embed(int64_t position) const;

 private:
  std::vector<Part> parts_;
  bool repeated_ = false;
};
using Axes = std::vector<Axis>;

/// How an axis that two operands share lies in both; none where it lies differently.
std::optional<Axis> Unify(const Axis& a, const Axis& b);

/// A parameter for an open part with the extents of `from` over `fast`, which a reshape cuts.
using ParameterFor = std::function<int(const Part& from, int64_t fast)>;

/// The parts of `axes`, in order, as axes of these extents: what a reshape does. None where the
/// parts cannot be put together, or cut, so.
std::optional<Axes> Regroup(const Axes& axes, const std::vector<Extents>& wanted,
                            const ParameterFor& parameter_for);

}  // namespace tunec::pad
