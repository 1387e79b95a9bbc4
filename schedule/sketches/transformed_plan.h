// The roles of iterators and statements in a Winograd convolution, which transforms both operands,
// multiplies them and transforms the sums back (transformed.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/tile_intrinsic.h"
#include "schedule/schedule.h"
#include "schedule/sketch.h"
#include "schedule/sketches/pieces.h"

namespace tunec {

struct TransformedPlan {
  // An elementwise statement after the statement that combines the planes of sums.
  struct Follower {
    std::string name;
    std::vector<std::string> loops;  // loops inside its vector loop, unrolled
  };

  // The instruction that computes the products, or null for multiply-adds. Its operands are rounded
  // to bfloat16. It takes two elements of each operand, consecutive along the reduced dimension.
  const TileIntrinsic* dot = nullptr;

  std::string lowering;
  std::shared_ptr<const Compute> compute;  // after `cache_write`
  Statement sum;                           // sum of products, in registers for each plane
  std::optional<Pieces> pieces;            // K-blocks of a long sum; `sum` then has the names of
                                           // the sum of a K-block (SumOfPiece)
  VarId plane;
  std::vector<VarId> outer_rows;  // batches
  VarId row;
  VarId column;
  VarId reduced;
  std::string weight;  // operand that uses the columns; a statement computes it from a constant
  std::vector<IndexExpr> weight_index;      // index of the weight in the sum
  std::string operand;                      // the other operand
  std::string producer;                     // statement that computes `operand`
  std::string producer_vector;              // loop of `producer` over the reduced dimension
  std::vector<std::string> producer_outer;  // other loops of `producer`
  std::string back;                         // the statement that combines the planes of sums
  std::vector<Follower> followers;
  std::vector<std::string> registers;  // workspace between `back` and its followers

  /// Returns the name of the statement of `compute` that sums the products.
  const std::string& Total() const { return pieces ? pieces->total : sum.name; }
  int64_t Extent(VarId iterator) const { return sum.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const { return sum.name + "." + sum.iterators[iterator].name; }
  std::string Suffix(VarId iterator) const { return "." + sum.iterators[iterator].name; }
};

/// Checks that a statement of the Compute transforms a constant at compile time. Sketches for plain
/// products do not fit such a Compute, because no such sketch combines planes of sums.
bool HasTransforms(const Compute& compute);

/// Returns a plan if the Compute has these statements: one that makes planes of an argument's
/// elements; one sum of products of these planes and of planes of a constant; one that combines the
/// planes of sums; one or more elementwise followers. Otherwise returns nothing.
std::optional<TransformedPlan> MakeTransformedPlan(const NamedCompute& lowering);

/// Sets `pieces` and `sum` for a sum in K-blocks, if PiecesOf returns some. Does nothing with a
/// `dot`. Call CutLongSum last.
void CutLongSum(const RoundingFreedom& rounding, TransformedPlan& plan);

/// Returns the plan with the instruction, one of DotInstructions that works on vectors, in place of
/// multiply-adds. Returns nothing if the columns or the reduced elements do not fill complete
/// instructions, or if an operand cannot be rounded to bfloat16.
std::optional<TransformedPlan> MakeDotPlan(const TransformedPlan& plain,
                                           const NamedCompute& lowering,
                                           const TileIntrinsic& intrinsic);

/// Returns the estimated cost besides the products, in vector instructions of `lanes` elements.
/// Only loads and stores count; a store counts twice, because stores have half the throughput.
/// Elements that are not contiguous along the vectors count one by one.
double TransformCost(const TransformedPlan& plan, int64_t lanes);

}  // namespace tunec
