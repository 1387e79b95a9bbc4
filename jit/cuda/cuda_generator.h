// The code generator for NVIDIA GPUs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "jit/code_generator.h"

namespace tunec {

/// The format of its images: an ELF file of one GPU, as ptxas writes it.
inline constexpr std::string_view kCubinFormat = "cubin";

/// For targets whose device is of kind "cuda". Compile wants a ptxas (FindPtxas); Show does not:
/// assembly is PTX.
std::shared_ptr<const CodeGenerator> MakeCudaGenerator();

}  // namespace tunec
