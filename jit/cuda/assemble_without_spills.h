// ptxas gives a thread few registers so that more blocks are on a processor at a time, and may
// spill some for it: 8 bytes at 32 registers are no want of registers.
#pragma once

#include <string>
#include <string_view>

#include "jit/cuda/ptxas.h"
#include "support/error.h"

namespace tunec {

/// As Assemble. Where kernels spill whose threads could have more registers, it is done a second
/// time with all of those for them; the code that spills less is kept, of equals the first.
Result<Cubin> AssembleWithoutSpills(const Ptxas& ptxas, std::string_view ptx, std::string_view arch,
                                    const Assembler& assemble = Assemble);

/// The PTX with `.minnctapersm 1` for those kernels of which one block is enough for ptxas then.
std::string WithRegistersForSpills(std::string_view ptx, const Cubin& cubin);

}  // namespace tunec
