// Long sums in pieces: where a sum of very many products would be one chain of additions for each
// element, its products are added up in pieces that begin at zero, and the pieces afterwards. The
// rounding error of a chain grows with its length (0028).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

/// A sum that `reduce_split` cuts, so that a statement of each name is there afterwards.
struct Pieces {
  std::string total;     // adds up the pieces; the statement's name before
  std::string iterator;  // that is cut
  VarId along;           // the same, of the statement before
  int64_t length = 0;    // of a piece, in values of that iterator
  int64_t products = 0;  // in a piece, over all iterators
  bool whole = true;     // whether all pieces have that length

  std::string Sum() const { return total + ".part"; }
  std::string Loop() const { return Sum() + "." + iterator + "o"; }
  ReduceSplitStep Step() const { return {total, iterator, length, ReduceSplitStep::Keep::kOuter}; }
};

/// The statement's sum in pieces of about 128 products, if it adds up more than 144 in float32 and
/// the order is free. `loops`: iterators that may be cut, that of the innermost loop first.
std::optional<Pieces> PiecesOf(const Compute& compute, const Statement& statement,
                               const std::vector<VarId>& loops, const RoundingFreedom& rounding);

/// The statement that adds up the products of a piece, as sketches name its loops.
Statement SumOfPiece(const Statement& statement, const Pieces& pieces);

/// Adds the steps by which a piece begins at zero and joins the total, in this loop: that over
/// pieces or one inside it. To be called when the sum's loops have their order.
void JoinPieces(const Pieces& pieces, const std::string& loop, Schedule& schedule);

}  // namespace tunec
