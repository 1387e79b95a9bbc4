// The roles of iterators and statements in products between transforms (transformed.cc).
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
  // A statement after the one that combines the planes of sums.
  struct Follower {
    std::string name;
    std::vector<std::string> loops;  // loops inside its vector loop, unrolled
  };

  // Rounds both operands to bfloat16, for an instruction that multiplies pairs of reduced
  // neighbours.
  const TileIntrinsic* dot = nullptr;

  std::string lowering;
  std::shared_ptr<const Compute> compute;  // after `cache_write`
  Statement sum;                           // sum of registers, plane by plane
  std::optional<Pieces> pieces;            // K-blocks of a long sum; `sum` is then over a K-block's
                                           // products
  VarId plane;
  std::vector<VarId> outer_rows;  // batches
  VarId row;
  VarId column;
  VarId reduced;
  std::string weight;                   // operand that uses the columns; computed from a constant
  std::vector<IndexExpr> weight_index;  // index in the sum
  std::string operand;                  // the other operand
  std::string producer;                 // statement that computes `operand`
  std::string producer_vector;          // loop of `producer` over the reduced dimension
  std::vector<std::string> producer_outer;  // other loops of `producer`
  std::string back;                         // the statement that combines the planes of sums
  std::vector<Follower> followers;
  std::vector<std::string> registers;  // workspace between `back` and its followers

  /// Returns the statement of `compute` that sums the products.
  const std::string& Total() const { return pieces ? pieces->total : sum.name; }
  int64_t Extent(VarId iterator) const { return sum.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const { return sum.name + "." + sum.iterators[iterator].name; }
  std::string Suffix(VarId iterator) const { return "." + sum.iterators[iterator].name; }
};

/// Checks that the Compute transforms a constant before the product. Sketches for the plain
/// products do not combine the planes of sums.
bool HasTransforms(const Compute& compute);

/// Returns a plan if the Compute has this form: a statement that makes planes of an argument's
/// elements; one sum of products of these and of planes of a constant; a statement that combines
/// the planes of sums; elementwise followers.
std::optional<TransformedPlan> MakeTransformedPlan(const NamedCompute& lowering);

/// Splits the sum into K-blocks if it is long and the contract permits a split. Call it last.
void CutLongSum(const RoundingFreedom& rounding, TransformedPlan& plan);

/// Returns the plan with the instruction in place of multiply-adds: one of DotInstructions that
/// works on vectors. Returns nothing if columns and reduced pairs do not fill complete
/// instructions.
std::optional<TransformedPlan> MakeDotPlan(const TransformedPlan& plain,
                                           const NamedCompute& lowering,
                                           const TileIntrinsic& intrinsic);

/// Returns the number of vector instructions, of `lanes` elements, besides the products: loads, and
/// stores, which have half the throughput. Elements that are not contiguous along the vectors count
/// one by one.
double TransformCost(const TransformedPlan& plan, int64_t lanes);

}  // namespace tunec
