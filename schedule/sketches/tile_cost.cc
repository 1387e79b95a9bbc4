#include "schedule/sketches/tile_cost.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace tunec {

int64_t MostRows(const Target& target, int64_t vectors, Broadcast broadcast) {
  // Only arithmetic instructions of AVX-512 can broadcast an operand from memory.
  const bool folds = target.host.vector_bits >= 512;
  if (broadcast == Broadcast::kFromMemory && folds) return AccumulatorRegisters(target) / vectors;
  return (target.host.vector_registers - 1) / vectors - 1;
}

double TilingCost(int64_t rows, int64_t columns, const TileSizes& tile, int64_t lanes) {
  const int64_t row_vectors = tile.columns / lanes;
  const auto vectors = static_cast<double>(row_vectors);
  const double column_tiles =
      std::ceil(static_cast<double>(columns) / (vectors * static_cast<double>(lanes)));
  const int64_t whole = rows / tile.rows;
  const int64_t left = rows % tile.rows;
  const double full =
      static_cast<double>(whole) * TileCost(static_cast<double>(tile.rows), vectors);
  const double rest = left > 0 ? TileCost(static_cast<double>(left), vectors) : 0;
  return column_tiles * (full + rest);
}

namespace {

// Largest cost, relative to the cheapest tile, of a tile whose packed operand exists already.
constexpr double kWorthSharing = 1.05;

// Returns the first of the cheapest tiles for which the condition holds. Returns null if there is
// none.
const CostedTile* CheapestWhere(const std::vector<CostedTile>& tiles, const auto& condition) {
  const CostedTile* best = nullptr;
  for (const CostedTile& tile : tiles) {
    if (!condition(tile)) continue;
    if (best == nullptr || IsCheaper(tile.cost, best->cost)) best = &tile;
  }
  return best;
}

}  // namespace

TileSizes CheapestTile(const std::vector<CostedTile>& tiles, const HoldsColumns& holds) {
  const CostedTile* const best = CheapestWhere(tiles, [](const CostedTile&) { return true; });
  if (best == nullptr) return {};
  if (!holds || holds(best->tile.columns)) return best->tile;
  std::map<int64_t, bool> held;  // by number of columns; `holds` is called once for each
  for (const CostedTile& tile : tiles) {
    const auto [at, is_new] = held.try_emplace(tile.tile.columns, false);
    if (is_new) at->second = holds(tile.tile.columns);
  }
  const CostedTile* const shared =
      CheapestWhere(tiles, [&](const CostedTile& tile) { return held.at(tile.tile.columns); });
  const bool is_worth = shared != nullptr && shared->cost <= kWorthSharing * best->cost;
  return is_worth ? shared->tile : best->tile;
}

std::vector<CostedTile> TilesFor(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                                 int64_t most_vectors, Broadcast broadcast) {
  std::vector<CostedTile> tiles;
  for (int64_t vectors = 1; vectors <= most_vectors; ++vectors) {
    const int64_t most_rows = std::min(kMostTileRows, MostRows(target, vectors, broadcast));
    for (int64_t mr = 1; mr <= std::min(rows, most_rows); ++mr) {
      const TileSizes tile{mr, vectors * lanes};
      tiles.push_back({tile, TilingCost(rows, columns, tile, lanes)});
    }
  }
  return tiles;
}

TileSizes BestTile(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                   int64_t most_vectors, Broadcast broadcast) {
  return CheapestTile(TilesFor(rows, columns, target, lanes, most_vectors, broadcast), {});
}

std::vector<int64_t> RowChoices(int64_t rows) {
  std::vector<int64_t> choices;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, kMostTileRows); ++r) {
    if (r <= 16 || r % 4 == 0) choices.push_back(r);
  }
  return choices;
}

Knob KnobNear(std::string name, std::vector<int64_t> choices, int64_t initial) {
  Knob knob{.name = std::move(name), .choices = std::move(choices)};
  for (size_t i = 0; i < knob.choices.size(); ++i) {
    if (std::abs(knob.choices[i] - initial) <
        std::abs(knob.choices[static_cast<size_t>(knob.initial)] - initial)) {
      knob.initial = static_cast<int>(i);
    }
  }
  return knob;
}

}  // namespace tunec
