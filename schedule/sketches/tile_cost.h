// The cost of a register tile, for the analytic choice of its size.
//
// The numbers are estimates; no measurements were recorded. They only have to rank tiles and
// sketches; the tuner measures actual times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// Returns the number of vector registers for the sums of a tile. Four registers are reserved for
/// the operands of one step of the reduction: a row of four vectors of the packed operand, or a
/// shorter row and an element of the other operand in all lanes.
inline int64_t AccumulatorRegisters(const Target& target) {
  return target.host.vector_registers - 4;
}

/// Returns the cost of one step of the reduction in a tile of `rows` rows of `vectors` vectors. The
/// unit is the time of one multiply-add of vectors.
inline double TileCost(double rows, double vectors) {
  // Cost of a load, in multiply-adds of vectors. Loads determine the time if they cost more than
  // the products and than kLatency.
  constexpr double kLoad = 0.6;
  // Least cost of a step, because each sum waits for its previous step. With fewer products per
  // step, multiply-add units are idle.
  constexpr double kLatency = 8;
  // Additional cost of each load, also of a load that the products hide. Of two tiles with equally
  // many products, the tile with fewer loads should be cheaper.
  constexpr double kHiddenLoad = 0.05;
  const double loads = rows + vectors;
  return std::max({rows * vectors, loads * kLoad, kLatency}) + kHiddenLoad * loads;
}

/// The source of the element that an instruction multiplies by all lanes of a vector. Targets with
/// vectors below 512 bits need a register for the element even if it comes from memory.
enum class Broadcast : uint8_t { kFromMemory, kFromRegister };

/// Returns the source of the element that the plan's instructions multiply by all lanes: a register
/// for instructions that multiply pairs, memory for plain multiply-adds. In a loop over K-blocks,
/// LLVM also uses a register for plain multiply-adds, and spills all sums if no register is free.
inline Broadcast BroadcastOf(const auto& plan) {
  return plan.dot || plan.pieces ? Broadcast::kFromRegister : Broadcast::kFromMemory;
}

/// Returns the largest number of rows, of `vectors` vectors each, whose sums fit into registers
/// together with the operands of one step of the reduction. Returns 0 or less if no row fits.
int64_t MostRows(const Target& target, int64_t vectors, Broadcast broadcast);

/// The number of rows of a tile, and its number of columns in elements.
struct TileSizes {
  int64_t rows = 1;
  int64_t columns = 16;
};

/// A tile, and its cost for comparisons with other tiles.
struct CostedTile {
  TileSizes tile;
  double cost = 0;
};

/// A function that returns whether the constant operand is already packed for tiles of `columns`
/// columns.
using HoldsColumns = std::function<bool(int64_t columns)>;

/// Returns the cheapest tile (IsCheaper); the default TileSizes if the list is empty. If `holds` is
/// not empty, prefers the cheapest tile for whose columns the operand is already packed, if this
/// tile costs at most 5 % more: no second packed copy is then needed.
TileSizes CheapestTile(const std::vector<CostedTile>& tiles, const HoldsColumns& holds);

/// Returns all tiles of at most `rows` and kMostTileRows rows, and 1 to `most_vectors` vectors per
/// row, that fit into registers. Each has the cost of all tiles that cover rows x columns results.
std::vector<CostedTile> TilesFor(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                                 int64_t most_vectors = 4,
                                 Broadcast broadcast = Broadcast::kFromMemory);

/// Returns the cheapest of the tiles from TilesFor (CheapestTile).
TileSizes BestTile(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                   int64_t most_vectors = 4, Broadcast broadcast = Broadcast::kFromMemory);

/// Largest number of rows of a tile, and largest value in RowChoices.
inline constexpr int64_t kMostTileRows = 28;

/// Returns the cost of one step of the reduction in all tiles together that cover rows x columns
/// results.
double TilingCost(int64_t rows, int64_t columns, const TileSizes& tile, int64_t lanes);

/// Returns choices for the number of rows of a tile if the result has `rows` rows.
std::vector<int64_t> RowChoices(int64_t rows);

/// Returns a knob whose initial choice is the one nearest to `initial`.
Knob KnobNear(std::string name, std::vector<int64_t> choices, int64_t initial);

/// Checks that a tile should replace a tile found before, of cost `than`. Costs that differ by at
/// most half a percent count as equal, and the earlier tile stays.
inline bool IsCheaper(double cost, double than) { return cost < than * 0.995; }

}  // namespace tunec
