// Windows over the spatial axes of convolutions and pools.
#pragma once

#include <string>
#include <vector>

#include "graph/lower/context.h"

namespace tunec::lower {

/// One spatial axis: output o reads inputs o*stride + k*dilation - pad for k < kernel.
struct WindowAxis {
  std::string output_name;  // "oh"
  std::string input_name;   // "ih"
  std::string kernel_name;  // "kh"
  int64_t input = 0;        // extents
  int64_t output = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;  // at the beginning

  /// Whether some output has no input at all: its window lies in the padding.
  bool MayBeEmpty() const;
  /// The same for a transposed window: output o is fed by input i where o = i*stride +
  /// k*dilation - pad. Of axes with millions of outputs it may be said without need.
  bool MayBeEmptyTransposed() const;
};

/// From strides, dilations and pads (an empty list is the default), and the extents after
/// the first two axes.
std::vector<WindowAxis> WindowAxes(const Node& node, const std::vector<int64_t>& input,
                                   const std::vector<int64_t>& output,
                                   const std::vector<int64_t>& kernel);

/// "n", then `channels`, then the axes' output names.
std::vector<std::string> OutputNames(const std::vector<WindowAxis>& axes,
                                     std::vector<std::string> channels);

/// The conditions, each >= 0, for input position `at` to exist on this axis.
std::vector<IndexExpr> InsideOf(const WindowAxis& axis, const IndexExpr& at);

/// The element of `x` at `index` where `inside` holds. Outside, the statement has no instance;
/// or, when a window may have no element at all (`some_window_empty`), the read gives
/// `outside`: every element of the result must be written.
struct Padding {
  std::vector<IndexExpr> inside;
  double outside = 0;
  bool some_window_empty = false;
};
Expr ReadPadded(StatementBuilder& builder, const Lazy& x, const Index& index,
                const Padding& padding);

}  // namespace tunec::lower
