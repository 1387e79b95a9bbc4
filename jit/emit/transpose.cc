// Loads of transposed blocks: the lanes of a vector loop read strided elements, and the copies of
// the enclosing unrolled loop read consecutive elements.
//
//   unrolled for i < 16 { vector for j < 16 { y[i, j] = x[j, i]
//
// A gather would load each of the 256 elements separately. Here the elements that all copies read
// in one lane are one vector load, and the block is transposed in registers. The transposition
// takes log2(16) rounds of two-input shuffles (Eklundh 1972). Each round exchanges blocks of twice
// the size.
#include "jit/emit/transpose.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tunec::jit {
namespace {

/// Exchanges blocks of `step` lanes between two rows that are `step` apart. The blocks with odd
/// numbers in `first` and those with even numbers in `second` change places.
void Exchange(Builder& b, IrValue& first, IrValue& second, int step, int width) {
  std::vector<int> upper(static_cast<size_t>(width)), lower(static_cast<size_t>(width));
  for (int lane = 0; lane < width; ++lane) {
    const bool left = (lane & step) == 0;
    upper[static_cast<size_t>(lane)] = left ? lane : width + lane - step;
    lower[static_cast<size_t>(lane)] = left ? lane + step : width + lane;
  }
  const IrValue new_first = b.Shuffle(first, second, upper);
  second = b.Shuffle(first, second, lower);
  first = new_first;
}

/// Returns whether the copy that is `distance` later reads the element `distance` after `here`.
bool Reads(EmitState& state, const UnrolledLoop& loop, const IndexExpr& offset,
           const LinearIndex& here, int64_t distance) {
  LinearIndex copy;
  copy.constant = loop.at + distance;
  state.index.Bind(loop.var, copy);
  LinearIndex there = state.index.Evaluate(offset);
  copy.constant = loop.at;
  state.index.Bind(loop.var, copy);
  return there.constant == here.constant + distance && there.terms == here.terms &&
         there.lane_factor == here.lane_factor && there.per_lane == nullptr;
}

IrValue Concatenate(Builder& b, IrValue first, IrValue second) {
  std::vector<int> lanes(static_cast<size_t>(2 * b.LanesOf(first)));
  std::iota(lanes.begin(), lanes.end(), 0);
  return b.Shuffle(first, second, lanes);
}

}  // namespace

int CountNeighbourCopies(EmitState& state, const IndexExpr& offset, const LinearIndex& here) {
  constexpr int kFewest = 4;  // with fewer copies, a gather is as fast
  if (state.unrolled.empty() || state.lanes.width < kFewest) return 0;
  const UnrolledLoop& loop = state.unrolled.back();
  // In another scope the read is under a condition, or in a loop that other copies may skip.
  if (loop.depth != state.index.depth()) return 0;
  const auto most = static_cast<uint64_t>(std::min<int64_t>(loop.end - loop.at, state.lanes.width));
  int copies = 1;
  while (copies < static_cast<int>(std::bit_floor(most)) &&
         Reads(state, loop, offset, here, copies))
    ++copies;
  copies = static_cast<int>(std::bit_floor(static_cast<unsigned>(copies)));
  return copies < kFewest ? 0 : copies;
}

std::vector<IrValue> Transpose(Builder& builder, std::vector<IrValue> rows) {
  const size_t length = static_cast<size_t>(builder.LanesOf(rows[0]));
  // If there are more rows than elements in a row, the square blocks are placed side by side. The
  // exchanges below transpose each block.
  while (rows.size() > length) {
    const size_t half = rows.size() / 2;
    std::vector<IrValue> pairs;
    for (size_t i = 0; i < half; ++i) {
      const size_t first = i / length * 2 * length + i % length;
      pairs.push_back(Concatenate(builder, rows[first], rows[first + length]));
    }
    rows = std::move(pairs);
  }
  const int width = builder.LanesOf(rows[0]);
  for (size_t step = 1; step < rows.size(); step *= 2)
    for (size_t row = 0; row < rows.size(); ++row)
      if ((row & step) == 0)
        Exchange(builder, rows[row], rows[row + step], static_cast<int>(step), width);
  return rows;
}

}  // namespace tunec::jit
