// The assembly of PTX to machine code of one GPU architecture by NVIDIA's ptxas. The assembler is a
// separate process, so that its crash or hang becomes an error.
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

/// Returns the ptxas of this process, found once by FindToolkitProgram. The environment variable
/// TUNEC_PTXAS may name another program. Fails like FindToolkitProgram and CheckPtxasVersion.
Result<Ptxas> FindPtxas();

/// Checks a version of ptxas. Fails with kDevice for versions that are known to write wrong code.
Status CheckPtxasVersion(std::string_view version);

/// Assembles for an arch ("sm_90a"). Fails with kResourceLimit for a timeout or for PTX of more
/// than 32 MiB. Fails with kInternal and ptxas's last line if ptxas rejects the PTX, since tunec
/// wrote the PTX. Also fails like RunProcess and for errors of files.
Result<Cubin> Assemble(const Ptxas& ptxas, std::string_view ptx, std::string_view arch);

/// The type of Assemble and of its replacements, for example in tests.
using Assembler =
    std::function<Result<Cubin>(const Ptxas& ptxas, std::string_view ptx, std::string_view arch)>;

/// Checks that there are no warnings with numbers C75xx. Such a warning states that ptxas changed
/// the kernel, for example by serialized operations. Fails with kUnsupported and the first one.
Status CheckPtxasWarnings(const Cubin& cubin);

/// Adds the uses and warnings in the output of `ptxas -v` to `cubin`.
void ReadPtxasOutput(std::string_view output, Cubin& cubin);

}  // namespace tunec
