// What the CPU is, or what the user says it is.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// This machine's processor, caches and cores. AMX counts only when the kernel grants it to this
/// process, which this call asks for.
Target DetectCpu(int threads);

/// `native` or an LLVM processor name, followed by any number of `,-feature` and `,+feature`:
/// "native,-avx512f" is this machine without AVX-512, "skylake-avx512". Taking away avx512f or
/// amx takes everything built on it. "+amx-emulated" gives AMX as vector code, which needs AVX-512
/// and which no machine has by itself. Caches and cores are this machine's.
/// Errors: kInvalidArgument for an unknown name, kDevice without AVX2, FMA and F16C.
Result<Target> ParseCpu(std::string_view spec, int threads);

/// What this machine has, by LLVM's names, AMX only where it is granted.
std::set<std::string> MachineFeatures();

/// kDevice, with the features that are missing, where a machine with `features` cannot run code for
/// the host. Compiling for it is fine.
Status CheckRuns(const Host& host, const std::set<std::string>& features);
/// The same for this machine.
Status CheckHostRuns(const Host& host);

}  // namespace tunec
