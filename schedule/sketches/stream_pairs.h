// A stream whose products an instruction does that multiplies pairs of bfloat16, reduced
// neighbours, and adds both products (ir/tile_intrinsic.h).
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
  /// A rounded copy of what a product multiplies, and the statement of that name that makes it.
  struct Copy {
    std::string name;
    std::vector<std::string> ones;   // iterators of dimensions that the product does not walk
    std::vector<std::string> outer;  // of others
    /// Over pairs of reduced neighbours; of keys, over the neighbours themselves.
    std::string group;
    std::string lanes;                // what a vector of the instruction lies along
    std::optional<std::string> pair;  // within a pair; none of keys, which lie in pairs as they are
    std::vector<int64_t> order;       // of its dimensions in a task's buffer
    int64_t groups = 1;
    int64_t length = 1;  // along the lanes
    double elements = 0;
    bool partial = false;  // some of its elements are 0
  };

  const TileIntrinsic* intrinsic = nullptr;
  std::vector<ComputeStep> steps;
  Copy queries;                    // of a block of rows
  Copy weights;                    // of a chunk
  Copy values;                     // all of them, in a phase before
  std::optional<Copy> keys;        // the same, where they have to be rounded
  int64_t depths = 1, widths = 1;  // padded to whole instructions
  bool odd_columns = false;        // the last one is in no pair

  int64_t Group() const { return intrinsic->Extent(TileAxis::kGroup); }
  int64_t Lanes() const { return intrinsic->Extent(TileAxis::kColumn); }
};

/// The plan's products by the instruction, one on vectors. None where an operand is not float32 or
/// bfloat16, where the rows are no whole vectors, where an index does not say what neighbours are,
/// and where the contract wants the operands as they are.
std::optional<StreamPairs> MakeStreamPairs(const StreamPlan& plan, const TileIntrinsic& intrinsic,
                                           const RoundingFreedom& rounding);

}  // namespace tunec
