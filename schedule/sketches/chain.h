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
  NamedCompute second;                      // the second sum, with the statements that compute its
                                            // operand
  std::shared_ptr<const ChainedSum> first;  // the first sum
};

/// Returns the Compute's two sums. Each element of the second sum's operand must be computed from
/// one result of the first sum, and the first sum must add few elements. Returns nothing for any
/// other Compute.
std::optional<Chain> FindChain(const NamedCompute& lowering, const Target& target);

/// Adds the first sum to `plan`, the plan of the second sum. Returns false, and adds nothing,
/// unless the plan computes its operand by blocks of rows, contiguous along its only reduced loop.
bool AddFirstSum(const Chain& chain, TilePlan& plan);

/// Returns tiles of the second sum, of at most `most_vectors` vectors per row, with the cost of
/// both sums. A tile of the first sum has the same rows.
std::vector<CostedTile> ChainTiles(const TilePlan& plan, const Target& target, int64_t lanes,
                                   int64_t most_vectors);

/// Returns the first sum's register tiles with `rows` rows.
std::vector<CostedTile> FirstTiles(const TilePlan& plan, const Target& target, int64_t rows,
                                   int64_t lanes);

}  // namespace tunec
