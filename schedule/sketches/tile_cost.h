// The cost of a register tile, for the analytic choice of its size.
//
// The numbers are estimates without recorded measurements. They only have to rank tiles; the tuner
// measures actual times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// Returns the number of vectors of a tile's sums that fit into registers. Four registers are
/// reserved for the reads of a step of the reduction: a row of the packed operand, and an element
/// of the other operand in all lanes.
inline int64_t AccumulatorRegisters(const Target& target) {
  return target.host.vector_registers - 4;
}

/// Returns the cycles of one step of the reduction in a tile of rows x vectors, if one vector
/// multiply-add took one cycle.
inline double TileCost(double rows, double vectors) {
  // Cost of a load if loads take longer than the products.
  constexpr double kLoad = 0.6;
  // Each sum waits for the previous step. With fewer products than this, units are idle.
  constexpr double kLatency = 8;
  // Cost of a load that the products hide: of tiles with equally many products, the tile with fewer
  // loads should win.
  constexpr double kHiddenLoad = 0.05;
  const double loads = rows + vectors;
  return std::max({rows * vectors, loads * kLoad, kLatency}) + kHiddenLoad * loads;
}

/// The source of the element that an instruction multiplies all its lanes by. Even from memory, a
/// target may need a register for it.
enum class Broadcast : uint8_t { kFromMemory, kFromRegister };

/// Returns the source of the broadcast. Instructions that multiply pairs take it from a register,
/// plain multiply-adds from memory. Around a loop over K-blocks LLVM also keeps it in a register,
/// and spills all sums if no register is free.
inline Broadcast BroadcastOf(const auto& plan) {
  return plan.dot || plan.pieces ? Broadcast::kFromRegister : Broadcast::kFromMemory;
}

/// Returns the number of rows of so many vectors whose sums fit into registers, besides the reads
/// of a step of the reduction. >= 0.
int64_t MostRows(const Target& target, int64_t vectors, Broadcast broadcast);

/// The rows of a tile, and its columns in elements; a vector has `lanes` elements.
struct TileSizes {
  int64_t rows = 1;
  int64_t columns = 16;
};

/// A tile, and the total cost of all tiles of its size.
struct CostedTile {
  TileSizes tile;
  double cost = 0;
};

/// Checks that the constant is already packed for tiles of so many columns.
using HoldsColumns = std::function<bool(int64_t columns)>;

/// Returns the cheapest tile, or one with a single row if the list is empty. Prefers the cheapest
/// tile whose columns are already packed if it costs at most a few percent more, because this saves
/// the memory of another packing.
TileSizes CheapestTile(const std::vector<CostedTile>& tiles, const HoldsColumns& holds);

/// Returns all tiles of at most so many vectors per row, with their cost for rows x columns of
/// sums.
std::vector<CostedTile> TilesFor(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                                 int64_t most_vectors = 4,
                                 Broadcast broadcast = Broadcast::kFromMemory);

/// Returns the cheapest of these.
TileSizes BestTile(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                   int64_t most_vectors = 4, Broadcast broadcast = Broadcast::kFromMemory);

/// Largest number of rows of a tile, and upper limit of its choices.
inline constexpr int64_t kMostTileRows = 28;

/// Returns the cycles of one step of the reduction in all tiles of rows x columns together.
double TilingCost(int64_t rows, int64_t columns, const TileSizes& tile, int64_t lanes);

/// Returns the possible numbers of rows of a tile, of so many rows.
std::vector<int64_t> RowChoices(int64_t rows);

/// Returns a knob that begins with the choice nearest to `initial`.
Knob KnobNear(std::string name, std::vector<int64_t> choices, int64_t initial);

/// Checks that a tile should replace one found before. Estimates that differ by less than half a
/// percent are equal, and the first tile is retained.
inline bool IsCheaper(double cost, double than) { return cost < than * 0.995; }

}  // namespace tunec
