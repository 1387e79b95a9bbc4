// Two sums in a chain: the second sum's operand is computed from the first sum's results.
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

/// Returns the Compute's two sums, if each element of the second sum's operand is computed from one
/// result of the first, which sums few elements.
std::optional<Chain> FindChain(const NamedCompute& lowering, const Target& target);

/// Adds the first sum to `plan`, the plan of the second. Returns false unless the plan computes its
/// operand by blocks of rows, contiguous along the reduced dimension.
bool AddFirstSum(const Chain& chain, TilePlan& plan);

/// Returns the second sum's tiles of at most `most_vectors` vectors, with the cost of both sums.
/// The first sum's tiles have the same rows.
std::vector<CostedTile> ChainTiles(const TilePlan& plan, const Target& target, int64_t lanes,
                                   int64_t most_vectors);

/// Returns the first sum's register tiles with `rows` rows.
std::vector<CostedTile> FirstTiles(const TilePlan& plan, const Target& target, int64_t rows,
                                   int64_t lanes);

}  // namespace tunec
