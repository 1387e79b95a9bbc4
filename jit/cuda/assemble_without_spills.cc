#include "jit/cuda/assemble_without_spills.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <utility>

namespace tunec {
namespace {

constexpr std::string_view kEntry = ".entry ";
constexpr std::string_view kThreads = ".reqntid ";  // stated by every generated kernel
constexpr std::string_view kOneBlock = ".minnctapersm 1\n";

constexpr int64_t kMostRegisters = 255;
constexpr int64_t kProcessorRegisters = 65536;
constexpr int64_t kGrain = 8;  // registers are allocated in units of this size

int64_t SpilledBytes(const Cubin& cubin) {
  int64_t bytes = 0;
  for (const PtxasUse& use : cubin.uses) bytes += use.spilled_bytes;
  return bytes;
}

// Returns the number of threads of a line such as `.reqntid 32, 4, 1`.
int64_t ThreadsOf(const std::string& line) {
  std::string numbers = line.substr(kThreads.size());
  std::ranges::replace(numbers, ',', ' ');
  std::istringstream words(numbers);
  int64_t threads = 1;
  for (int64_t extent = 0; words >> extent;) threads *= std::max<int64_t>(extent, 1);
  return threads;
}

bool CanHaveMoreRegisters(const PtxasUse& use, int64_t threads) {
  const int64_t most = kProcessorRegisters / threads / kGrain * kGrain;
  return use.spilled_bytes > 0 && use.registers < std::min(most, kMostRegisters);
}

}  // namespace

std::string WithRegistersForSpills(std::string_view ptx, const Cubin& cubin) {
  std::string changed;
  auto use = cubin.uses.end();
  std::istringstream lines{std::string(ptx)};
  for (std::string line; std::getline(lines, line);) {
    changed += line + "\n";
    if (const size_t entry = line.find(kEntry); entry != std::string::npos) {
      const size_t begin = entry + kEntry.size();
      use = std::ranges::find(cubin.uses, line.substr(begin, line.find('(', begin) - begin),
                              &PtxasUse::symbol);
    }
    if (use == cubin.uses.end() || !line.starts_with(kThreads)) continue;
    if (CanHaveMoreRegisters(*use, ThreadsOf(line))) changed += kOneBlock;
  }
  return changed;
}

Result<Cubin> AssembleWithoutSpills(const Ptxas& ptxas, std::string_view ptx, std::string_view arch,
                                    const Assembler& assemble) {
  TUNEC_ASSIGN(Cubin first, assemble(ptxas, ptx, arch));
  if (SpilledBytes(first) == 0) return first;
  const std::string changed = WithRegistersForSpills(ptx, first);
  if (!changed.contains(kOneBlock)) return first;
  TUNEC_ASSIGN(Cubin second, assemble(ptxas, changed, arch));
  return SpilledBytes(second) < SpilledBytes(first) ? std::move(second) : std::move(first);
}

}  // namespace tunec
