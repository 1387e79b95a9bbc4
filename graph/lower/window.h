// Windows over the spatial axes of convolutions and pools.
#pragma once

#include <string>
#include <vector>

#include "graph/lower/context.h"

namespace tunec::lower {

/// One spatial axis. If it is not transposed, output o reads inputs o*stride + k*dilation - pad for
/// 0 <= k < kernel.
struct WindowAxis {
  std::string output_name;  // "oh"
  std::string input_name;   // "ih"
  std::string kernel_name;  // "kh"
  int64_t input = 0;        // extents of the axis
  int64_t output = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;  // at the beginning

  /// Returns whether the window of some output has only padding. Returns true without a check if
  /// more than 2^26 windows begin in the padding.
  bool MayBeEmpty() const;
  /// Returns whether some output of a transposed convolution gets no input: input i contributes to
  /// output o if o = i*stride + k*dilation - pad. Returns true without a check if there are
  /// more than 2^26 pairs of an output and k.
  bool MayBeEmptyTransposed() const;
};

/// Returns the spatial axes. Missing strides and dilations are 1, missing pads are 0. `input` and
/// `output` have two more axes at the front; `kernel` does not.
std::vector<WindowAxis> WindowAxes(const Node& node, const std::vector<int64_t>& input,
                                   const std::vector<int64_t>& output,
                                   const std::vector<int64_t>& kernel);

/// Returns "n", then `channels`, then the axes' output names.
std::vector<std::string> OutputNames(const std::vector<WindowAxis>& axes,
                                     std::vector<std::string> channels);

/// Returns the conditions, each >= 0, under which input position `at` exists on this axis.
std::vector<IndexExpr> ConditionsInside(const WindowAxis& axis, const IndexExpr& at);

/// Conditions of a padded read (ReadPadded). An element exists if all expressions of `inside` are
/// >= 0. Otherwise the statement has no instance. But if a window may have no element at all
/// (`some_window_empty`), every instance exists, because every element of the result must be
/// written. Then the read gives `outside` where no element exists.
struct Padding {
  std::vector<IndexExpr> inside;
  double outside = 0;
  bool some_window_empty = false;
};
Expr ReadPadded(StatementBuilder& builder, const Lazy& x, const Index& index,
                const Padding& padding);

}  // namespace tunec::lower
