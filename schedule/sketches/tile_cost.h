// What a register tile costs, for the analytic choice of its size.
//
// The numbers are estimates: no measurement of any of them is on record. They only have to rank
// tiles; what a tile really takes, the tuner measures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// How many vectors of a tile's sums stay in registers. The four others are for what a step of the
/// reduction reads: a row of the packed operand, and an element of the other in all lanes.
inline int64_t AccumulatorRegisters(const Target& target) {
  return target.host.vector_registers - 4;
}

/// Cycles that one step of the reduction costs in a tile of rows x vectors, were one multiply-add
/// of vectors done in each.
inline double TileCost(double rows, double vectors) {
  // What a load takes, where the loads take longer than the products.
  constexpr double kLoad = 0.6;
  // A sum waits for its own of the step before: with fewer products than this, units are idle.
  constexpr double kLatency = 8;
  // What a load takes where the products hide it: of tiles with as many products, the one with
  // fewer loads is to win.
  constexpr double kHiddenLoad = 0.05;
  const double loads = rows + vectors;
  return std::max({rows * vectors, loads * kLoad, kLatency}) + kHiddenLoad * loads;
}

/// Where an instruction takes the element from that all its lanes multiply by. From memory a target
/// may still need a register for it.
enum class Broadcast : uint8_t { kFromMemory, kFromRegister };

/// An instruction that multiplies pairs takes what it broadcasts from a register, where plain ones
/// take it from memory. Around a loop over pieces LLVM keeps it in a register, too, and spills all
/// sums where there is none left.
inline Broadcast BroadcastOf(const auto& plan) {
  return plan.dot || plan.pieces ? Broadcast::kFromRegister : Broadcast::kFromMemory;
}

/// How many rows of so many vectors the sums of a tile may have that stay in registers, beside what
/// a step of the reduction reads. >= 0.
int64_t MostRows(const Target& target, int64_t vectors, Broadcast broadcast);

/// Rows, and columns in elements, of which a vector has `lanes`.
struct TileSizes {
  int64_t rows = 1;
  int64_t columns = 16;
};

/// A tile, and what all tiles of its size cost together.
struct CostedTile {
  TileSizes tile;
  double cost = 0;
};

/// Whether the constant that is packed for tiles of so many columns is in memory already.
using HoldsColumns = std::function<bool(int64_t columns)>;

/// The cheapest of the tiles; one of one row, where there are none. If its columns are not held,
/// the cheapest of those whose columns are, if that costs at most a few percent more: what is not
/// packed again takes no memory.
TileSizes CheapestTile(const std::vector<CostedTile>& tiles, const HoldsColumns& holds);

/// All tiles of at most so many vectors a row, with what they cost for rows x columns of sums.
std::vector<CostedTile> TilesFor(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                                 int64_t most_vectors = 4,
                                 Broadcast broadcast = Broadcast::kFromMemory);

/// The cheapest of these.
TileSizes BestTile(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                   int64_t most_vectors = 4, Broadcast broadcast = Broadcast::kFromMemory);

/// How many rows a tile of so many may have at most, and what they are chosen among.
inline constexpr int64_t kMostTileRows = 28;

/// Cycles that one step of the reduction costs in all tiles of rows x columns together.
double TilingCost(int64_t rows, int64_t columns, const TileSizes& tile, int64_t lanes);

/// How many rows a tile may have, of so many.
std::vector<int64_t> RowChoices(int64_t rows);

/// A knob that begins with the choice that is nearest to `initial`.
Knob KnobNear(std::string name, std::vector<int64_t> choices, int64_t initial);

/// Whether a tile is to take the place of one that was found before. What differs by less than half
/// a percent is equal to such an estimate, and the first one stays.
inline bool IsCheaper(double cost, double than) { return cost < than * 0.995; }

}  // namespace tunec
