// The detection of this machine's CPU, and the parsing of a CPU that the user names.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Returns this machine's processor, caches and cores. AMX is included only if the operating system
/// grants AMX to this process; the call requests the permission. `threads` is the number of threads
/// of a kernel; 0 or less stands for one thread per core.
Target DetectCpu(int threads);

/// Parses `native` or an LLVM processor name, followed by any number of `,-feature` and
/// `,+feature`. For example, "native,-avx512f" is this machine without AVX-512. Removing avx512f
/// removes all of AVX-512, and removing amx or amx-tile removes all of AMX. "+amx-emulated"
/// emulates AMX with vector code. The emulation requires AVX-512 and is never a default. Caches and
/// cores are those of this machine. `threads` is as in DetectCpu. Fails with kInvalidArgument for
/// an unknown name or unsupported feature, and for +amx-emulated without AVX-512. Without AVX2, FMA
/// or F16C, fails with kDevice for `native` alone, and with kInvalidArgument otherwise.
Result<Target> ParseCpu(std::string_view spec, int threads);

/// Returns the features of this machine, by LLVM's names. Includes AMX only if AMX is granted.
std::set<std::string> MachineFeatures();

/// Checks whether a machine with `features` can run code for the host. If not, fails with kDevice,
/// and the message has the missing features. Compiling for a host that fails the check is allowed.
Status CheckRuns(const Host& host, const std::set<std::string>& features);
/// Checks whether this machine can run code for the host. Fails like CheckRuns.
Status CheckHostRuns(const Host& host);

}  // namespace tunec
