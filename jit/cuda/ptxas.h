// PTX -> machine code of one GPU, by NVIDIA's assembler: a program of its own, for there is no free
// library, and so that a crash or hang of it is an error.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/cuda/toolkit.h"
#include "support/error.h"

namespace tunec {

/// What ptxas says of one kernel.
struct PtxasUse {
  std::string symbol;
  int registers = 0;          // of each thread
  int64_t spilled_bytes = 0;  // stored and loaded again for want of registers
  int64_t stack_bytes = 0;    // local memory of each thread, spilled registers among it
  int barriers = 0;
};

struct Cubin {
  std::string bytes;  // an ELF file of one GPU
  std::vector<PtxasUse> uses;
  std::vector<std::string> warnings;
};

using Ptxas = ToolkitProgram;

/// The ptxas of this process, as FindToolkitProgram finds it; TUNEC_PTXAS names another. Looked for
/// once. Errors: also kDevice for a version that is known to write wrong code.
Result<Ptxas> FindPtxas();

/// kDevice, with the reason, for versions that write wrong code.
Status CheckPtxasVersion(std::string_view version);

/// Assembles for an arch ("sm_90a"). Errors: kResourceLimit when it takes too long or the PTX is
/// larger than is sensible, kInternal with what ptxas says when it refuses: we wrote that.
Result<Cubin> Assemble(const Ptxas& ptxas, std::string_view ptx, std::string_view arch);

/// Who does it; tests have others.
using Assembler =
    std::function<Result<Cubin>(const Ptxas& ptxas, std::string_view ptx, std::string_view arch)>;

/// kUnsupported, with its text, for a warning that the kernel is not what we wrote: of the numbers
/// C75xx ptxas says that it repaired code, or put operations that were to overlap in order.
Status CheckPtxasWarnings(const Cubin& cubin);

/// The uses and warnings in what `ptxas -v` prints.
void ReadPtxasOutput(std::string_view output, Cubin& cubin);

}  // namespace tunec
