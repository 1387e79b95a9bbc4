#include "jit/cuda/arch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tunec {
namespace {

constexpr int64_t kKib = 1024;
constexpr int64_t kMib = 1024 * kKib;
constexpr int64_t kMega = 1000000;
constexpr int64_t kGiga = 1000 * kMega;

// The number of 32-bit registers of one processor, for all archs of kArchs.
constexpr int64_t kRegisters = 65536;

constexpr std::array kArchs = {
    CudaArch{"sm_80", "8.0", 70, 163 * kKib, 164 * kKib, 2048, 32, 64},
    CudaArch{"sm_86", "8.6", 71, 99 * kKib, 100 * kKib, 1536, 16, 128},
    CudaArch{"sm_89", "8.9", 78, 99 * kKib, 100 * kKib, 1536, 24, 128},
    CudaArch{"sm_90", "9.0", 78, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_90a", "9.0", 80, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_100", "10.0", 86, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_100a", "10.0", 86, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_103", "10.3", 88, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_103a", "10.3", 88, 227 * kKib, 228 * kKib, 2048, 32, 128},
    CudaArch{"sm_120", "12.0", 87, 99 * kKib, 100 * kKib, 1536, 24, 128},
};

// The published numbers of parts, as commonly quoted. The numbers are neither compared with the
// data sheets line by line nor measured. If no clock is published, the clock is derived from the
// published float32 rate, for 128 multiply-adds per processor.
//
// The rates of tensor cores are the published rates of dense products, divided by clocks and
// processors and rounded to powers of two: 312 TFLOP/s of bfloat16 give 1024 multiply-adds per
// processor of an A100. With sums of float32 a GeForce has half the rate of its chip. On 9.0 and
// 10.0 only newer instructions reach the published rate (wgmma and tcgen05); mma.sync is slower by
// an unmeasured factor.
constexpr std::array kParts = {
    CudaPart{"a100", "8.0", 108, 40 * kMib, 2039 * kGiga, 1410 * kMega, 1024, 2048},  // SXM, 80 GB
    CudaPart{"a100-40gb", "8.0", 108, 40 * kMib, 1555 * kGiga, 1410 * kMega, 1024, 2048},
    CudaPart{"a10", "8.6", 72, 6 * kMib, 600 * kGiga, 1695 * kMega, 512, 1024},
    CudaPart{"rtx3090", "8.6", 82, 6 * kMib, 936 * kGiga, 1695 * kMega, 256, 1024},
    CudaPart{"l40s", "8.9", 142, 96 * kMib, 864 * kGiga, 2520 * kMega, 512, 1024},
    CudaPart{"rtx4090", "8.9", 128, 72 * kMib, 1008 * kGiga, 2520 * kMega, 256, 1024},
    CudaPart{"h100", "9.0", 132, 50 * kMib, 3350 * kGiga, 1980 * kMega, 2048, 4096},       // SXM
    CudaPart{"h100-pcie", "9.0", 114, 50 * kMib, 2000 * kGiga, 1755 * kMega, 2048, 4096},  // 80 GB
    CudaPart{"h200", "9.0", 132, 50 * kMib, 4800 * kGiga, 1980 * kMega, 2048, 4096},       // SXM
    CudaPart{"b200", "10.0", 148, 126 * kMib, 8000 * kGiga, 1980 * kMega, 4096, 8192},
    CudaPart{"rtx5090", "12.0", 170, 96 * kMib, 1792 * kGiga, 2407 * kMega, 256, 1024},
};

// Returns the arch's part with this name. An empty name selects the first known part of the arch,
// or null if no part of the arch is known. Fails with kInvalidArgument for another name.
Result<const CudaPart*> PartOf(const CudaArch& arch, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CudaPart& part : kParts) {
    if (part.capability != arch.capability) continue;
    if (name.empty() || part.name == name) return &part;
    names.push_back(part.name);
  }
  if (name.empty()) return nullptr;
  return Fail(ErrorCode::kInvalidArgument, "unknown gpu '{}' of {}, expected one of {}", name,
              arch.name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

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
    if (!older.IsSpecific()) features.emplace(older.name);
  }
  return features;
}

std::span<const CudaPart> CudaParts() { return kParts; }

Result<Accelerator> CudaAccelerator(std::string_view name, std::string_view part_name) {
  const CudaArch* arch = FindCudaArch(name);
  if (arch == nullptr) {
    std::vector<std::string_view> names;
    for (const CudaArch& known : kArchs) names.push_back(known.name);
    return Fail(ErrorCode::kInvalidArgument, "unknown arch '{}', expected one of {}", name,
                fmt::join(names, ", "));
  }
  TUNEC_ASSIGN(const CudaPart* const part, PartOf(*arch, part_name));
  Accelerator device{.kind = std::string(kCudaKind),
                     .name = std::string(name),
                     .features = CudaFeatures(*arch),
                     .shared_bytes = arch->block_shared_bytes,
                     .registers = kRegisters,
                     .processor_shared_bytes = arch->shared_bytes,
                     .resident_threads = arch->resident_threads,
                     .resident_blocks = arch->resident_blocks,
                     .multiply_adds = arch->multiply_adds};
  if (part == nullptr) return device;
  device.processors = part->processors;
  device.part = part->name;
  device.l2_bytes = part->l2_bytes;
  device.bytes_per_second = part->bytes_per_second;
  device.clock_hertz = part->clock_hertz;
  device.matrix_f16 = part->matrix_f16;
  device.matrix_tf32 = part->matrix_f16 / 2;
  device.matrix_i8 = part->matrix_i8;
  return device;
}

}  // namespace tunec
