// Chunk sizes, and functions that fuse loops or bind them to blocks, for all sketches for devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

inline constexpr int64_t kChunkBytes = 16;  // size of one copy by a thread
inline constexpr int kSwizzledChunks =
    8;  // number of chunks in 128 bytes, which shared memory delivers at once

/// Fuses a chain of loops, outermost first, into one loop. Returns the name of the fused loop.
/// Requires: at least one loop, each directly inside the previous one.
std::string FuseAll(const Compute& compute, const std::string& statement, const std::string& name,
                    const std::vector<std::string>& loops, Schedule& schedule);

/// Binds a chain of loops, outermost first, to the axes of the grid, the innermost loop to x. If
/// there are more than three loops, fuses the outermost ones. Returns the innermost loop. Requires:
/// at least one loop.
std::string BindGrid(const Compute& compute, const std::string& statement,
                     const std::vector<std::string>& loops, Schedule& schedule);

}  // namespace tunec
