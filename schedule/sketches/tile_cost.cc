#include "schedule/sketches/tile_cost.h"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace tunec {
int64_t MostRows(const Target& target, int64_t vectors, Broadcast broadcast) {
  // Only AVX-512's instructions take an operand that is broadcast while it is loaded.
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

TileSizes BestTile(int64_t rows, int64_t columns, const Target& target, int64_t lanes,
                   int64_t most_vectors, Broadcast broadcast) {
  TileSizes best;
  double best_cost = 0;
  for (int64_t vectors = 1; vectors <= most_vectors; ++vectors) {
    const int64_t most_rows = std::min(kMostTileRows, MostRows(target, vectors, broadcast));
    for (int64_t mr = 1; mr <= std::min(rows, most_rows); ++mr) {
      const TileSizes tile{mr, vectors * lanes};
      const double cost = TilingCost(rows, columns, tile, lanes);
      if (best_cost == 0 || IsCheaper(cost, best_cost)) {
        best_cost = cost;
        best = tile;
      }
    }
  }
  return best;
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
