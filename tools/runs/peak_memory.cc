#include "tools/runs/peak_memory.h"

#include <fstream>
#include <string>

namespace tunec {
namespace {

/// Returns a value of /proc/self/status in bytes, from a line such as `VmHWM:  1234 kB`.
Result<int64_t> StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  return Fail(ErrorCode::kUnsupported, "this system does not tell {} in /proc/self/status", key);
}

}  // namespace

Result<PeakMemory> PeakMemory::Start() {
  // The value 5 resets the peak to the current resident size.
  std::ofstream reset("/proc/self/clear_refs");
  if (!(reset << "5" << std::flush))
    return Fail(ErrorCode::kUnsupported, "this system does not take /proc/self/clear_refs");
  PeakMemory peak;
  TUNEC_ASSIGN(peak.before_, StatusBytes("VmRSS"));
  return peak;
}

Result<int64_t> PeakMemory::Growth() const {
  TUNEC_ASSIGN(const int64_t peak, StatusBytes("VmHWM"));
  return peak - before_;
}

}  // namespace tunec
