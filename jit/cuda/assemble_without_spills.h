// Assembly with fewer spills. ptxas limits the registers of a thread so that more blocks run on a
// processor, and may spill registers to stay below its limit. For example, 8 spilled bytes at 32
// registers do not mean that registers are exhausted.
#pragma once

#include <string>
#include <string_view>

#include "jit/cuda/ptxas.h"
#include "support/error.h"

namespace tunec {

/// Assembles the PTX by `assemble`. If kernels spill although their threads could have more
/// registers, assembles the PTX of WithRegistersForSpills, too. Returns the code with fewer spilled
/// bytes; the first code if both spill equally.
Result<Cubin> AssembleWithoutSpills(const Ptxas& ptxas, std::string_view ptx, std::string_view arch,
                                    const Assembler& assemble = Assemble);

/// Returns the PTX with `.minnctapersm 1` for the kernels that spill and may have more registers.
/// With this directive ptxas plans for one block per processor.
std::string WithRegistersForSpills(std::string_view ptx, const Cubin& cubin);

}  // namespace tunec
