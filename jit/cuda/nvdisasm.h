// Machine code of a GPU as text, by NVIDIA's disassembler: a program of its own.
#pragma once

#include <string>
#include <string_view>

#include "jit/cuda/toolkit.h"
#include "support/error.h"

namespace tunec {

using Nvdisasm = ToolkitProgram;

/// The nvdisasm of this process, as FindToolkitProgram finds it; TUNEC_NVDISASM names another.
/// Looked for once.
Result<Nvdisasm> FindNvdisasm();

/// The instructions of a cubin's functions. Errors: kResourceLimit when it takes too long, kDevice
/// with what nvdisasm says when it does not read them: it may be older than the GPU.
Result<std::string> Disassemble(const Nvdisasm& nvdisasm, std::string_view cubin);

}  // namespace tunec
