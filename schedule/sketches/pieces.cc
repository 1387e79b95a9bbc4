#include "schedule/sketches/pieces.h"

#include <algorithm>

#include "schedule/access_analysis.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kLongSum = 224;   // products; two pieces of fewer gain little
constexpr int64_t kPiece = 128;     // products to aim at
constexpr int64_t kUnrolled = 4;    // steps that a loop takes at once: lengths are multiples
constexpr int64_t kLeastSteps = 4;  // of the loop within a piece

int64_t ProductsOf(const Statement& statement) {
  int64_t products = 1;
  for (const VarId v : ReducedIterators(statement)) products *= statement.iterators[v].extent;
  return products;
}

// About `wanted` of them, so that pieces are whole if that is possible: code for a last one that is
// shorter would be a second copy of the tile's.
int64_t LengthOf(int64_t extent, int64_t wanted) {
  const int64_t least = std::max<int64_t>(kLeastSteps, wanted * 5 / 8);
  std::optional<int64_t> best;
  for (int64_t length = CeilDivide(least, kUnrolled) * kUnrolled; length <= wanted * 3 / 2;
       length += kUnrolled) {
    if (extent % length != 0) continue;
    if (!best || std::abs(length - wanted) < std::abs(*best - wanted)) best = length;
  }
  if (best) return *best;
  const int64_t pieces = std::max<int64_t>(1, (extent + wanted / 2) / wanted);
  return CeilDivide(CeilDivide(extent, pieces), kUnrolled) * kUnrolled;
}

}  // namespace

std::optional<Pieces> PiecesOf(const Compute& compute, const Statement& statement, VarId along,
                               const RoundingFreedom& rounding) {
  if (rounding.order == ReductionOrder::kAsWritten || statement.writes.size() != 1) return {};
  const DataType type = compute.tensors[statement.writes[0].tensor].type;
  if (type != DataType::kF32 || statement.reducer != Reducer::Sum(type)) return {};
  if (UsesIterator(statement.domain, along)) return {};
  const Iterator& iterator = statement.iterators[along];
  const int64_t products = ProductsOf(statement);
  if (products <= kLongSum || iterator.extent < 2 * kLeastSteps) return {};
  const int64_t others = products / iterator.extent;
  const int64_t wanted = std::max<int64_t>(kLeastSteps, kPiece / others);
  const int64_t length = LengthOf(iterator.extent, wanted);
  if (length >= iterator.extent) return {};
  Pieces pieces{.total = statement.name,
                .iterator = iterator.name,
                .length = length,
                .whole = iterator.extent % length == 0};
  if (!Apply(compute, pieces.Step())) return {};  // names that are taken
  return pieces;
}

Statement SumOfPiece(const Statement& statement, VarId along, const Pieces& pieces) {
  Statement sum = statement;
  sum.name = pieces.Sum();
  sum.iterators[along].name += "i";
  return sum;
}

}  // namespace tunec
