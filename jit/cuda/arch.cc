#include "jit/cuda/arch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tunec {
namespace {

constexpr int64_t kKib = 1024;

constexpr std::array kArchs = {
    CudaArch{"sm_80", "8.0", 70, 163 * kKib, 164 * kKib, 2048, 32},
    CudaArch{"sm_86", "8.6", 71, 99 * kKib, 100 * kKib, 1536, 16},
    CudaArch{"sm_89", "8.9", 78, 99 * kKib, 100 * kKib, 1536, 24},
    CudaArch{"sm_90", "9.0", 78, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_90a", "9.0", 80, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_100", "10.0", 86, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_100a", "10.0", 86, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_103", "10.3", 88, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_103a", "10.3", 88, 227 * kKib, 228 * kKib, 2048, 32},
    CudaArch{"sm_120", "12.0", 87, 99 * kKib, 100 * kKib, 1536, 24},
};

bool IsSpecific(const CudaArch& arch) { return arch.name.ends_with('a'); }

}  // namespace

std::span<const CudaArch> CudaArchs() { return kArchs; }

const CudaArch* FindCudaArch(std::string_view name) {
  const auto* found = std::ranges::find(kArchs, name, &CudaArch::name);
  return found == kArchs.end() ? nullptr : found;
}

std::set<std::string> CudaFeatures(const CudaArch& arch) {
  std::set<std::string> features = {std::string(arch.name)};
  for (const CudaArch& older : kArchs) {
    if (older.name == arch.name) break;
    if (!IsSpecific(older)) features.emplace(older.name);
  }
  return features;
}

Result<Accelerator> CudaAccelerator(std::string_view name) {
  const CudaArch* arch = FindCudaArch(name);
  if (arch == nullptr) {
    std::vector<std::string_view> names;
    for (const CudaArch& known : kArchs) names.push_back(known.name);
    return Fail(ErrorCode::kInvalidArgument, "unknown arch '{}', expected one of {}", name,
                fmt::join(names, ", "));
  }
  return Accelerator{.kind = std::string(kCudaKind),
                     .name = std::string(name),
                     .features = CudaFeatures(*arch),
                     .shared_bytes = arch->block_shared_bytes};
}

}  // namespace tunec
