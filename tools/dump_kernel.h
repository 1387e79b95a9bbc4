// A kernel as files, for comparing what two versions of the compiler make of one program.
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

/// `007-0123456789abcdef`: the kernel's place in its program, and a hash of its statements, by
/// which it is found again where places have moved.
std::string DumpName(size_t place, std::string_view statements);

struct KernelDump {
  std::string schedule;         // text; empty for loops written by hand
  std::vector<LoopNest> nests;  // the kernel's, then those that pack its weights
};

/// Writes NAME.sched, NAME.nest (the loops of all nests) and for nest K the object code NAME.K.o,
/// or NAME.error with the reason where it does not compile. Of a device's kernel also NAME.kernel,
/// which tunec-kernels runs (runtime/kernel_file.h). The folder is made when missing. The
/// first nest's own name is not kept: it names graph nodes. Errors: kIo.
Status DumpKernel(const std::filesystem::path& folder, const std::string& name, KernelDump dump,
                  const Target& target);

}  // namespace tunec
