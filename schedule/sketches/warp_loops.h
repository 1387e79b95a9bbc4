// What sketches share whose warps multiply tiles: lanes of an accumulator, copies in shared
// storage, and loops that become a block's warps and lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace tunec {

// A lane has two neighbours of a row, in every eighth row: the accumulator's owner map, as loops
// reach it.
inline constexpr int64_t kLaneRows = 8;
inline constexpr int64_t kLanePairs = 4;
inline constexpr int64_t kPair = 2;

/// The order in which a copy's dimensions lie in shared storage: its groups, which come first, then
/// the operand's own in the order that is given, as it lies in memory, so that what is copied lies
/// side by side at both ends.
std::vector<int64_t> SharedOrder(int64_t groups, const std::vector<int64_t>& dimensions);

/// Collects loops of a block. They are bound together, when no other step names them any more.
class WarpLoops {
 public:
  /// Loops over the block's warps, down and across. Empty: there is none.
  void Warps(const std::string& rows, const std::string& columns);
  /// The loop over a warp's lanes.
  void Lanes(const std::string& lanes);

  void Bind(Schedule& schedule) const;

 private:
  std::vector<BindStep> threads_;
};

}  // namespace tunec
