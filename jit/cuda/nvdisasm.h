// The disassembly of GPU machine code by nvdisasm, a separate program of NVIDIA.
#pragma once

#include <string>
#include <string_view>

#include "jit/cuda/toolkit.h"
#include "support/error.h"

namespace tunec {

using Nvdisasm = ToolkitProgram;

/// Returns the nvdisasm of this process, found once by FindToolkitProgram. The environment variable
/// TUNEC_NVDISASM may name another program. Fails like FindToolkitProgram.
Result<Nvdisasm> FindNvdisasm();

/// Returns the instructions of a cubin's functions. Fails with kDevice and nvdisasm's last line if
/// nvdisasm cannot read the code, for example because nvdisasm is older than the GPU. Also fails
/// like RunProcess, with kResourceLimit for a timeout, and for errors of temporary files.
Result<std::string> Disassemble(const Nvdisasm& nvdisasm, std::string_view cubin);

}  // namespace tunec
