// The roles that iterators and statements play in products between transforms (transformed.cc).
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
    std::vector<std::string> loops;  // below its vectors' place, unrolled
  };

  // Rounds both operands to bfloat16, where an instruction multiplies pairs of reduced neighbours.
  const TileIntrinsic* dot = nullptr;

  std::string lowering;
  std::shared_ptr<const Compute> compute;  // as `cache_write` leaves it
  Statement sum;                           // plane by plane, of registers
  std::optional<Pieces> pieces;            // of a long sum; `sum` is of a piece's products then
  VarId plane;
  std::vector<VarId> outer_rows;  // batches
  VarId row;
  VarId column;
  VarId reduced;
  std::string weight;                   // the operand that knows the columns; made of a constant
  std::vector<IndexExpr> weight_index;  // as the sum reads it
  std::string operand;                  // the other one
  std::string producer;                 // the statement that makes it
  std::string producer_vector;          // its loop over what is reduced
  std::vector<std::string> producer_outer;  // its other loops
  std::string back;                         // the statement that combines the planes of sums
  std::vector<Follower> followers;
  std::vector<std::string> registers;  // workspace between `back` and its followers

  /// The statement of `compute` that adds up the products.
  const std::string& Total() const { return pieces ? pieces->total : sum.name; }
  int64_t Extent(VarId iterator) const { return sum.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const { return sum.name + "." + sum.iterators[iterator].name; }
  std::string Suffix(VarId iterator) const { return "." + sum.iterators[iterator].name; }
};

/// Whether the Compute transforms a constant before it is multiplied: what fits its products as
/// they are does not know that the planes of sums belong together.
bool HasTransforms(const Compute& compute);

/// None when the Compute is not: a statement that makes planes of an argument's elements; one sum
/// of products of these and of planes of a constant; a statement that combines the planes of sums;
/// and others that follow it element by element.
std::optional<TransformedPlan> MakeTransformedPlan(const NamedCompute& lowering);

/// Cuts the sum into pieces if it is long and the contract allows that. To be called last.
void CutLongSum(const RoundingFreedom& rounding, TransformedPlan& plan);

/// The same plan with the instruction in place of multiply-adds: one of DotInstructions that works
/// on vectors. None where columns and pairs of what is reduced do not fill whole instructions.
std::optional<TransformedPlan> MakeDotPlan(const TransformedPlan& plain,
                                           const NamedCompute& lowering,
                                           const TileIntrinsic& intrinsic);

/// Vector instructions, of `lanes` elements, that everything but the products takes: loads, and
/// stores, of which a processor does half as many. Elements that do not lie side by side along the
/// vectors count one by one.
double TransformCost(const TransformedPlan& plan, int64_t lanes);

}  // namespace tunec
