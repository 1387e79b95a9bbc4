// Operands of flash attention in pairs of bfloat16, for an instruction that multiplies two pairs
// element by element and adds both products (ir/tile_intrinsic.h). The elements of a pair are
// consecutive along the reduced dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/tile_intrinsic.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"
#include "schedule/sketches/stream_plan.h"

namespace tunec {

struct StreamPairs {
  /// A copy of a product's operand in bfloat16, and the statement of the same name that computes
  /// the copy.
  struct Copy {
    std::string name;
    std::vector<std::string> ones;   // iterators of dimensions that the product does not use
    std::vector<std::string> outer;  // iterators of other dimensions
    /// The iterator over pairs of consecutive reduced elements. In the copy of keys: the iterator
    /// over keys.
    std::string group;
    std::string lanes;                // iterator along a vector of the instruction
    std::optional<std::string> pair;  // iterator inside a pair; empty for keys, stored in pairs
    std::vector<int64_t> order;       // order of the dimensions in a task's buffer
    int64_t groups = 1;
    int64_t length = 1;  // extent along the lanes
    double elements = 0;
    bool partial = false;  // some elements of the last pairs or vectors are padding zeros
  };

  const TileIntrinsic* intrinsic = nullptr;
  std::vector<ComputeStep> steps;
  Copy queries;                    // the queries of a block of rows
  Copy weights;                    // the weights of a KV block
  Copy values;                     // all values, computed in an earlier phase
  std::optional<Copy> keys;        // all keys, computed in an earlier phase, if they need rounding
  int64_t depths = 1, widths = 1;  // extents padded to complete instructions
  bool odd_columns = false;        // the number of columns is odd, so the last column is in no pair

  int64_t Group() const { return intrinsic->Extent(TileAxis::kGroup); }
  int64_t Lanes() const { return intrinsic->Extent(TileAxis::kColumn); }
};

/// Returns the plan's products by the instruction, which must work on vectors. Returns nothing if
/// the products do not fit, for example in these cases: an operand is neither float32 nor bfloat16;
/// the rows are not complete vectors; an index does not determine the consecutive elements of a
/// pair; the contract requires unrounded operands.
std::optional<StreamPairs> MakeStreamPairs(const StreamPlan& plan, const TileIntrinsic& intrinsic,
                                           const RoundingFreedom& rounding);

}  // namespace tunec
