// Sums over windows. The elements of a window are gathered by constant positions and multiplied by
// constant weights. If taps are few, each tap is a separate gather and product, so that the
// elements of a vector are neighbouring outputs. Many taps are gathered along a new axis and summed
// over this axis. In either form the sum becomes one kernel.
//
// All windows get as many taps as the longest one. A shorter window repeats elements, and copies
// share the element's weight. So no window reads an element outside the window with weight zero.
#include "graph/onnx/handlers/windowed_sum.h"

#include <algorithm>

namespace tunec::onnx_import {
namespace {

constexpr size_t kMostUnrolled = 16;

size_t LongestOf(const std::vector<TapWindow>& windows) {
  size_t longest = 1;
  for (const TapWindow& window : windows) longest = std::max(longest, window.size());
  return longest;
}

/// Returns the tap at `position` of the window stretched to `longest` taps. Stretching repeats taps
/// and divides the weight of each tap by the number of its copies.
WindowTap TapAt(const TapWindow& window, size_t position, size_t longest) {
  const auto tap_of = [&](size_t at) { return at * window.size() / longest; };
  WindowTap tap = window[tap_of(position)];
  int64_t times = 0;
  for (size_t at = 0; at < longest; ++at) times += tap_of(at) == tap_of(position) ? 1 : 0;
  tap.weight /= static_cast<double>(times);
  return tap;
}

/// Positions and weights of a range of taps, for all windows: [taps, windows].
struct TapTable {
  Array positions;
  Array weights;
};

TapTable TableOf(const std::vector<TapWindow>& windows, size_t begin, size_t end, DataType type) {
  const size_t longest = LongestOf(windows);
  const auto count = static_cast<int64_t>(windows.size());
  const std::vector<int64_t> shape = {static_cast<int64_t>(end - begin), count};
  TapTable table{Array(DataType::kI64, shape), Array(type, shape)};
  for (int64_t w = 0; w < count; ++w) {
    for (size_t position = begin; position < end; ++position) {
      const WindowTap tap = TapAt(windows[static_cast<size_t>(w)], position, longest);
      const int64_t at = static_cast<int64_t>(position - begin) * count + w;
      table.positions.SetInt(at, tap.index);
      table.weights.SetDouble(at, tap.weight);
    }
  }
  return table;
}

bool IsSelection(const std::vector<TapWindow>& windows) {
  return std::ranges::all_of(windows, [](const TapWindow& window) {
    return window.size() == 1 && window.front().weight == 1;
  });
}

/// Returns for each window the element at its tap number `position`, times the weight of the tap.
Formula Tap(const Formula& x, int64_t axis, const std::vector<TapWindow>& windows,
            size_t position) {
  TapTable table = TableOf(windows, position, position + 1, x.type());
  const auto count = static_cast<int64_t>(windows.size());
  Formula taken = Gather(x, Constant(x.node(), table.positions.Reshaped({count})), axis);
  if (IsSelection(windows)) return taken;
  std::vector<int64_t> across(static_cast<size_t>(x.rank() - axis), 1);
  across.front() = count;
  return taken * Constant(x.node(), table.weights.Reshaped(across));
}

}  // namespace

Formula SumWindows(const Formula& x, int64_t axis, const std::vector<TapWindow>& windows) {
  if (!x.ok()) return x;
  const size_t longest = LongestOf(windows);
  if (longest <= kMostUnrolled) {
    Formula sum = Tap(x, axis, windows, 0);
    for (size_t position = 1; position < longest; ++position)
      sum = sum + Tap(x, axis, windows, position);
    return sum;
  }
  TapTable table = TableOf(windows, 0, longest, x.type());
  std::vector<int64_t> across(static_cast<size_t>(x.rank() - axis) + 1, 1);
  std::ranges::copy(table.positions.shape(), across.begin());
  const Formula taken = Gather(x, Constant(x.node(), std::move(table.positions)), axis);
  return Sum(taken * Constant(x.node(), table.weights.Reshaped(across)), {axis});
}

}  // namespace tunec::onnx_import
