// Elements of images at positions computed at run time, weighted: what grid sampling, region
// pooling and deformable convolution share. Internal to graph/onnx.
#pragma once

#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// The elements of one axis that a position takes, along a last axis of equal shapes.
struct Taps {
  Formula index;   // i64, within the axis
  Formula weight;  // 0 where nothing lies
};

/// Linear interpolation at `position`; outside of the axis lie zeros.
Taps LinearTapsAmongZeros(const Formula& position, int64_t extent);

/// x, [n, c, d1, ...], at all combinations of taps, weighted: the shape that `image` (i64: which of
/// the n, [...]) broadcasts to with the taps' positions, then one axis of taps for each d, then c.
Formula SampleTaps(const Formula& x, const Formula& image, const std::vector<Taps>& taps);

}  // namespace tunec::onnx_import
