// Two sums in a chain: the second one's operand is made of the first one's results.
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
  NamedCompute second;                      // the second sum, with what makes its operand
  std::shared_ptr<const ChainedSum> first;  // what that is made of
};

/// The Compute's two sums, where each element of the second one's operand is made of one result of
/// the first, which sums few elements.
std::optional<Chain> FindChain(const NamedCompute& lowering, const Target& target);

/// Makes the first sum a part of the plan, which is one of the second; false where it is none that
/// computes its operand by blocks of rows, with what is reduced side by side.
bool AddFirstSum(const Chain& chain, TilePlan& plan);

/// The second sum's tiles of at most so many vectors, whose rows are those of the first sum's
/// tiles, too, with what both together cost.
std::vector<CostedTile> ChainTiles(const TilePlan& plan, const Target& target, int64_t lanes,
                                   int64_t most_vectors);

/// The first sum's register tiles of so many rows.
std::vector<CostedTile> FirstTiles(const TilePlan& plan, const Target& target, int64_t rows,
                                   int64_t lanes);

}  // namespace tunec
