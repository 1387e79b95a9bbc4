// Long sums in K-blocks. A sum of very many products would be one long chain of additions for each
// element. Instead the products are summed in K-blocks that begin at zero, and the results of the
// K-blocks are summed afterwards. The rounding error of a chain grows with its length (0028).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

/// A sum that `reduce_split` splits into two statements.
struct Pieces {
  std::string total;     // statement that sums the K-blocks; the original name
  std::string iterator;  // iterator that is split
  VarId along;           // this iterator in the original statement
  int64_t length = 0;    // length of a K-block, in values of the iterator
  int64_t products = 0;  // number of products in a K-block, over all iterators
  bool whole = true;     // all K-blocks have this length

  std::string Sum() const { return total + ".part"; }
  std::string Loop() const { return Sum() + "." + iterator + "o"; }
  ReduceSplitStep Step() const { return {total, iterator, length, ReduceSplitStep::Keep::kOuter}; }
};

/// Returns the statement's sum in K-blocks of about 128 products. Requires more than 144 products
/// in float32 and a free order, else returns nothing. `loops` are the iterators that may be split,
/// innermost loop first.
std::optional<Pieces> PiecesOf(const Compute& compute, const Statement& statement,
                               const std::vector<VarId>& loops, const RoundingFreedom& rounding);

/// Returns the statement that sums the products of a K-block, with the loop names that sketches
/// use.
Statement SumOfPiece(const Statement& statement, const Pieces& pieces);

/// Adds the steps that start a K-block at zero and add it to the total, in this loop. The loop is
/// over K-blocks or inside such a loop. Call it when the sum's loops have their order.
void JoinPieces(const Pieces& pieces, const std::string& loop, Schedule& schedule);

}  // namespace tunec
