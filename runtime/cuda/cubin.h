// The format of code for NVIDIA's GPUs.
#pragma once

#include <string_view>

#include "runtime/cuda/gpu_facts.h"
#include "support/error.h"

namespace tunec {

/// Of an image for one architecture of GPU: an ELF file, as ptxas writes it. Its functions take the
/// kernel's arguments, the workspace and the wave's first block, as pointers and an i64; of a grid
/// along x, block b does what the image calls block first + b.
inline constexpr std::string_view kCubinFormat = "cubin";

/// kParse unless the bytes are a whole ELF file for such GPUs. The driver is told no size, so it
/// would read past the end of a truncated one; and it would take PTX and compile it, which takes
/// seconds that nobody sees.
Status CheckCubin(std::string_view bytes);

/// Whether a GPU runs cubins of the architecture of that name ("sm_80"): those of its own
/// generation that are not newer than it; sm_80's run on 8.0 to 8.9. What has an `a` is for its
/// very capability. No GPU runs those of a name that is none.
bool RunsCubinsFor(std::string_view arch, const GpuFacts& gpu);

}  // namespace tunec
