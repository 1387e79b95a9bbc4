// What sketches for devices share: copies by chunks, and loops that become blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

inline constexpr int64_t kChunkBytes = 16;  // that a thread copies at once
inline constexpr int kSwizzledChunks = 8;   // of the 128 bytes that shared memory gives at once

/// Fuses loops that stand directly inside each other, outermost first, into one, and returns what
/// it is called. Requires: at least one.
std::string FuseAll(const Compute& compute, const std::string& statement, const std::string& name,
                    const std::vector<std::string>& loops, Schedule& schedule);

/// Binds a chain of loops, outermost first, to the axes of the grid, the innermost to x; those
/// that are too many are fused. Returns the innermost of them. Requires: at least one.
std::string BindGrid(const Compute& compute, const std::string& statement,
                     const std::vector<std::string>& loops, Schedule& schedule);

}  // namespace tunec
