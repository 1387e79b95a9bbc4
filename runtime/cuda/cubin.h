// The format of code for NVIDIA GPUs, and checks of such code.
#pragma once

#include <string_view>

#include "runtime/cuda/gpu_facts.h"
#include "support/error.h"

namespace tunec {

/// The format of an image for one GPU architecture: an ELF file, as ptxas writes it. A function's
/// parameters are pointers to the kernel's arguments, a pointer to the workspace, and the number
/// `first` of the wave's first block, an i64. Block b of a launch executes block first + b of the
/// phase.
inline constexpr std::string_view kCubinFormat = "cubin";

/// Checks that the bytes are an ELF file for NVIDIA GPUs with all its sections. Errors: kParse. The
/// driver does not receive a size and could read past the end of a truncated file. The driver would
/// also accept PTX and silently spend seconds to compile it.
Status CheckCubin(std::string_view bytes);

/// Returns true if a GPU runs cubins of the architecture `arch` ("sm_80"). A GPU runs cubins of the
/// GPU's generation (major number) that are not newer than the GPU: cubins for sm_80 run on
/// capabilities 8.0 to 8.9. Names with a final `a` are exact: a cubin for sm_90a runs only on
/// capability 9.0. Returns false for unknown names.
bool CanRunCubinsFor(std::string_view arch, const GpuFacts& gpu);

}  // namespace tunec
