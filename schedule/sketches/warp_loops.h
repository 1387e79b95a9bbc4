// Functions shared by sketches whose warps multiply tiles: lanes of an accumulator, copies in
// shared storage, and loops that become a block's warps and lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace tunec {

// Loops over the accumulator's owner map. A lane has two neighbours of a row, in every eighth row.
inline constexpr int64_t kLaneRows = 8;
inline constexpr int64_t kLanePairs = 4;
inline constexpr int64_t kPair = 2;

/// Returns the order of a copy's dimensions in shared storage. The groups come first, then the
/// operand's dimensions in the given order, which is their order in memory. The copied elements are
/// then contiguous at both ends.
std::vector<int64_t> SharedOrder(int64_t groups, const std::vector<int64_t>& dimensions);

/// The collected loops of a block. Bind adds their steps, after the last step that names these
/// loops.
class WarpLoops {
 public:
  /// Adds the loops over the block's warps, down and across. An empty name means no loop.
  void Warps(const std::string& rows, const std::string& columns);
  /// Adds the loop over a warp's lanes.
  void Lanes(const std::string& lanes);

  void Bind(Schedule& schedule) const;

 private:
  std::vector<BindStep> threads_;
};

}  // namespace tunec
