#include "graph/onnx/handlers/sampling.h"

#include <optional>

namespace tunec::onnx_import {
namespace {

/// Returns x with `before` axes of extent 1 before its last axis, the taps' axis, and with `behind`
/// axes of extent 1 after it.
Formula WithTapAxis(const Formula& x, size_t before, size_t behind) {
  if (!x.ok()) return x;
  std::vector<Dim> shape = x.shape();
  if (shape.empty()) return x;
  shape.insert(shape.end() - 1, before, 1);
  shape.insert(shape.end(), behind, 1);
  return x.Reshape(shape);
}

}  // namespace

Taps LinearTapsAmongZeros(const Formula& position, const Dim& extent) {
  const Formula floor = Apply(Op::kFloor, {position});
  const Formula fraction = position - floor;
  const Formula index = Concat({floor.Unsqueeze(-1), (floor + 1).Unsqueeze(-1)}, position.rank());
  const Formula weight =
      Concat({(1 - fraction).Unsqueeze(-1), fraction.Unsqueeze(-1)}, position.rank());
  const Formula inside =
      And(LessOrEqual(index.Number(0), index), LessOrEqual(index, index.Size(extent - 1)));
  return {ClampedIndex(index, extent - 1), Where(inside, weight, weight.Number(0))};
}

Formula SampleTaps(const Formula& x, const Formula& image, const std::vector<Taps>& taps) {
  if (!x.ok()) return x;
  const size_t axes = taps.size();
  const auto rank = static_cast<int64_t>(axes) + 2;
  if (const Status fits = x.node().RequireRank(*x.value(), rank, rank); !fits) {
    return {x.node(), std::unexpected(fits.error())};
  }
  const std::vector<Dim> shape = x.shape();
  std::vector<int64_t> perm = AllAxes(x.rank());
  perm.erase(perm.begin() + 1);
  perm.push_back(1);  // channels last: each position reads one row
  const Formula table = x.Transpose(perm).Reshape({shape[0] * x.shape().Elements(2), shape[1]});
  Formula row = image;
  for (size_t d = 0; d < axes; ++d) row = row.Unsqueeze(-1);
  std::optional<Formula> weight;
  for (size_t d = 0; d < axes; ++d) {
    row = row * row.Size(shape[d + 2]) + WithTapAxis(taps[d].index, d, axes - 1 - d);
    const Formula factor = WithTapAxis(taps[d].weight, d, axes - 1 - d);
    weight = weight ? *weight * factor : factor;
  }
  // A tap outside the image must not contribute, not even as 0 times an infinity.
  const Formula factor = weight->Unsqueeze(-1).Cast(x.type());
  const Formula zero = factor.Number(0);
  return Where(Equal(factor, zero), zero, Gather(table, row) * factor);
}

}  // namespace tunec::onnx_import
