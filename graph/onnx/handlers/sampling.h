// Sampling of images at positions computed at run time, for grid sampling, region pooling and
// deformable convolution. Only graph/onnx uses this file.
#pragma once

#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// The elements of one axis that each position reads. The last axis of both members has one entry
/// for each tap.
struct Taps {
  Formula index;   // i64, within the axis
  Formula weight;  // 0 for a tap outside the axis
};

/// Returns the taps of linear interpolation at `position`. Elements outside the axis are zeros.
Taps LinearTapsAmongZeros(const Formula& position, const Dim& extent);

/// Returns the weighted elements of x, [n, c, d1, ...], at all combinations of taps. `image` is i64
/// and selects one of the n images. The result's shape is the broadcast of `image` with the taps'
/// positions, then one axis of taps for each spatial axis, then c.
Formula SampleTaps(const Formula& x, const Formula& image, const std::vector<Taps>& taps);

}  // namespace tunec::onnx_import
