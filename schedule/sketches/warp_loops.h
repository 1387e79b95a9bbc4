// Functions shared by sketches whose warps multiply tiles: loops over the lanes of an accumulator,
// copies in shared storage, and loops that become a block's warps and lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace tunec {

// Extents of the loops over the lanes that own an accumulator's elements, and over a lane's pair. A
// lane has a pair of consecutive elements of a row, in every eighth row.
inline constexpr int64_t kLaneRows = 8;
inline constexpr int64_t kLanePairs = 4;
inline constexpr int64_t kPair = 2;

/// Returns the order of a copy's dimensions in shared storage: first the `groups` leading
/// dimensions of the copy, then the operand's dimensions in the order `dimensions`.
std::vector<int64_t> SharedOrder(int64_t groups, const std::vector<int64_t>& dimensions);

/// The loops of a block that become its threads. Bind adds the steps `bind`, and must be called
/// after all other steps that name these loops.
class WarpLoops {
 public:
  /// Adds the loops over the block's warps: down the rows and across the columns. An empty name
  /// means that there is no such loop.
  void Warps(const std::string& rows, const std::string& columns);
  /// Adds the loop over a warp's lanes.
  void Lanes(const std::string& lanes);

  void Bind(Schedule& schedule) const;

 private:
  std::vector<BindStep> threads_;
};

}  // namespace tunec
