#include "schedule/sketches/pieces.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "schedule/access_analysis.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Largest number of products that are summed without K-blocks: 3x3 taps of 16 channels.
constexpr int64_t kLongSum = 144;
constexpr int64_t kPiece = 128;  // intended number of products in a K-block

int64_t ProductsOf(const Statement& statement) {
  int64_t products = 1;
  for (const VarId v : ReducedIterators(statement)) products *= statement.iterators[v].extent;
  return products;
}

// Conditions on the number of iterations of a loop in a K-block.
struct Steps {
  int64_t least = 1;
  int64_t unrolled = 1;  // unrolled iterations; multiples of this number are preferred
};

// Returns a length of about `wanted` that divides the extent, if there is one. A shorter last
// K-block would need a second copy of the tile's code.
int64_t LengthOf(int64_t extent, int64_t wanted, const Steps& steps) {
  const auto distance = [&](int64_t length) {
    return std::abs(length - wanted) + (length % steps.unrolled == 0 ? 0 : wanted / 8);
  };
  std::optional<int64_t> best;
  for (int64_t length = std::max(steps.least, wanted * 5 / 8); length <= wanted * 3 / 2; ++length) {
    if (extent % length == 0 && (!best || distance(length) < distance(*best))) best = length;
  }
  if (best) return *best;
  const int64_t pieces = std::max<int64_t>(1, (extent + wanted / 2) / wanted);
  return CeilDivide(CeilDivide(extent, pieces), steps.unrolled) * steps.unrolled;
}

std::optional<Pieces> PiecesAlong(const Statement& statement, VarId along, const Steps& steps) {
  if (UsesIterator(statement.domain, along)) return {};
  const Iterator& iterator = statement.iterators[along];
  const int64_t others = ProductsOf(statement) / iterator.extent;
  const int64_t wanted = std::max(steps.least, kPiece / others);
  const int64_t length = LengthOf(iterator.extent, wanted, steps);
  if (length >= iterator.extent) return {};
  return Pieces{.total = statement.name,
                .iterator = iterator.name,
                .along = along,
                .length = length,
                .products = others * length,
                .whole = iterator.extent % length == 0};
}

// Returns the distance of the K-blocks from the intended length. A shorter last K-block adds a
// penalty.
double Distance(const Pieces& pieces) {
  const double ratio = static_cast<double>(pieces.products) / static_cast<double>(kPiece);
  return std::abs(std::log(ratio)) + (pieces.whole ? 0 : 0.25);
}

}  // namespace

std::optional<Pieces> PiecesOf(const Compute& compute, const Statement& statement,
                               const std::vector<VarId>& loops, const RoundingFreedom& rounding) {
  if (rounding.order == ReductionOrder::kAsWritten || statement.writes.size() != 1) return {};
  const DataType type = compute.tensors[statement.writes[0].tensor].type;
  if (type != DataType::kF32 || statement.reducer != Reducer::Sum(type)) return {};
  if (ProductsOf(statement) <= kLongSum) return {};
  std::optional<Pieces> best;
  for (const VarId along : loops) {
    // The first loop is the innermost one, which should run for some iterations in each K-block.
    const bool goes_on = along == loops.front() && statement.iterators[along].extent >= 8;
    const Steps steps = goes_on ? Steps{.least = 4, .unrolled = 4} : Steps{};
    const std::optional<Pieces> pieces = PiecesAlong(statement, along, steps);
    if (!pieces || !Apply(compute, pieces->Step())) continue;  // the new names may exist already
    if (!best || Distance(*pieces) < Distance(*best)) best = pieces;
  }
  return best;
}

Statement SumOfPiece(const Statement& statement, const Pieces& pieces) {
  Statement sum = statement;
  sum.name = pieces.Sum();
  sum.iterators[pieces.along].name += "i";
  return sum;
}

void JoinPieces(const Pieces& pieces, const std::string& loop, Schedule& schedule) {
  if (!pieces.whole) schedule.Add(IsolateStep{pieces.Loop()});
  schedule.Add(ComputeAtStep{pieces.Sum() + ".init", loop});
  schedule.Add(ComputeAtStep{pieces.total, loop});
}

}  // namespace tunec
