// Functions that write kernels to files, to compare compiler versions and for tunec-kernels.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Returns a name such as `007-0123456789abcdef`: `position`, and a hash of `statements`. The hash
/// identifies the kernel if positions change.
std::string DumpName(size_t position, std::string_view statements);

struct KernelDump {
  std::string schedule;         // text; empty for hand-written loops
  std::vector<LoopNest> nests;  // nest of the kernel, then nests that pack weights
};

/// Writes NAME.sched if the schedule has text, NAME.nest (the loops of all nests) and, for nest K,
/// the object code NAME.K.o. If a nest does not compile, writes the reason to NAME.error, and omits
/// the later nests. For a device's kernel, also writes NAME.kernel (runtime/kernel_file.h). Creates
/// the folder if it is missing. The first nest is written with the name `kernel`, because its real
/// name contains names of graph nodes. Fails with kIo if a file cannot be written.
Status DumpKernel(const std::filesystem::path& folder, const std::string& name, KernelDump dump,
                  const Target& target);

}  // namespace tunec
