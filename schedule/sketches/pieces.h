// Splitting of long sums into K-blocks. The products of each K-block are summed from zero, and then
// these sums are added up. Otherwise each element would be one long chain of additions, and the
// rounding error of a chain grows with its length (docs/decisions/0028).
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
  ReduceSplitStep Step() const {
    return {total, iterator, length, ReduceSplitStep::Parallel::kOuter};
  }
};

/// Returns the statement's sum in K-blocks, of about 128 terms if a split of one loop allows it.
/// Returns nothing unless the statement is a float32 sum of more than 144 terms, the contract
/// permits any order, and a loop of `loops` can be split. `loops` are the candidates, innermost
/// loop first.
std::optional<Pieces> PiecesOf(const Compute& compute, const Statement& statement,
                               const std::vector<VarId>& loops, const RoundingFreedom& rounding);

/// Returns the statement that sums the products of a K-block, with the names of the statement and
/// the iterators after `reduce_split`. The extents are still those of the whole sum.
Statement SumOfPiece(const Statement& statement, const Pieces& pieces);

/// Adds the steps that start a K-block's sum at zero and add this sum to the total, inside `loop`.
/// This loop is over K-blocks or inside such a loop. Call JoinPieces after the loops down to `loop`
/// are in their final order.
void JoinPieces(const Pieces& pieces, const std::string& loop, Schedule& schedule);

}  // namespace tunec
