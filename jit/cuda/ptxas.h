// The assembly of PTX to machine code of one GPU by NVIDIA's ptxas. The assembler is a separate
// process: no free library exists, and a crash or hang of the assembler becomes an error.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/cuda/toolkit.h"
#include "support/error.h"

namespace tunec {

/// Resources of one kernel, as reported by ptxas.
struct PtxasUse {
  std::string symbol;
  int registers = 0;          // registers of each thread
  int64_t spilled_bytes = 0;  // spill stores or spill loads, whichever is larger
  int64_t stack_bytes = 0;    // local memory of each thread, including spilled registers
  int barriers = 0;
};

struct Cubin {
  std::string bytes;  // an ELF file for one GPU arch
  std::vector<PtxasUse> uses;
  std::vector<std::string> warnings;
};

using Ptxas = ToolkitProgram;

/// Returns the ptxas of this process, found once by FindToolkitProgram. TUNEC_PTXAS names another
/// program. Fails like FindToolkitProgram and CheckPtxasVersion.
Result<Ptxas> FindPtxas();

/// Checks a version of ptxas. Fails with kDevice for versions that are known to write wrong code.
Status CheckPtxasVersion(std::string_view version);

/// Assembles for an arch ("sm_90a"). Fails with kResourceLimit for a timeout or unreasonably large
/// PTX. Fails with kInternal and ptxas's message if it rejects the PTX, since tunec wrote the PTX.
Result<Cubin> Assemble(const Ptxas& ptxas, std::string_view ptx, std::string_view arch);

/// The type of a function like Assemble. Tests pass a replacement.
using Assembler =
    std::function<Result<Cubin>(const Ptxas& ptxas, std::string_view ptx, std::string_view arch)>;

/// Checks for warnings with numbers C75xx. These warnings state that ptxas repaired the code, or
/// serialized operations that should overlap. Fails with kUnsupported and the warning's text.
Status CheckPtxasWarnings(const Cubin& cubin);

/// Adds the uses and warnings in the output of `ptxas -v` to `cubin`.
void ReadPtxasOutput(std::string_view output, Cubin& cubin);

}  // namespace tunec
