// Plans and tiles for two sums in a chain: the second sum's operand is computed from the first
// sum's results.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/target.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_cost.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

struct Chain {
  NamedCompute second;                      // the Compute without the first sum
  std::shared_ptr<const ChainedSum> first;  // the first sum
};

/// Returns the Compute's two sums. Returns nothing, for example, if the Compute has other sums, or
/// if the first sum adds many elements.
std::optional<Chain> FindChain(const NamedCompute& lowering, const Target& target);

/// Adds the first sum to `plan`, the plan of the second sum. Returns false, and adds nothing,
/// unless both sums have the same rows, and the second one reduces only the columns of the first.
bool AddFirstSum(const Chain& chain, TilePlan& plan);

/// Returns tiles of the second sum, of at most `most_vectors` vectors per row, with the cost of
/// both sums. A tile of the first sum has the same rows.
std::vector<CostedTile> ChainTiles(const TilePlan& plan, const Target& target, int64_t lanes,
                                   int64_t most_vectors);

/// Returns the first sum's register tiles with `rows` rows.
std::vector<CostedTile> FirstTiles(const TilePlan& plan, const Target& target, int64_t rows,
                                   int64_t lanes);

}  // namespace tunec
