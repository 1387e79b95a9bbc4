#include "runtime/machine_features.h"

#include <cpuid.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "runtime/tile_permission.h"

namespace tunec {
namespace {

// Registers that the operating system must save for a feature, as bits of XCR0.
constexpr uint64_t kNone = 0;
constexpr uint64_t kAvx = 0x6;
constexpr uint64_t kAvx512 = 0xe6;
constexpr uint64_t kTiles = 0x60000;
constexpr uint64_t kManyRegisters = 0x80000;

enum class Register : uint8_t { kEax, kEbx, kEcx, kEdx };

struct FeatureBit {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register output_register;
  int bit;
  uint64_t saved;
};

using enum Register;

constexpr uint32_t kExtended = 0x80000001;

// Feature bits, from the description of the instruction CPUID in Intel's and AMD's manuals.
constexpr FeatureBit kFeatureBits[] = {
    {"fma", 1, 0, kEcx, 12, kAvx},
    {"sse4.2", 1, 0, kEcx, 20, kNone},
    {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},
    {"avx", 1, 0, kEcx, 28, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},
    {"bmi", 7, 0, kEbx, 3, kNone},
    {"avx2", 7, 0, kEbx, 5, kAvx},
    {"bmi2", 7, 0, kEbx, 8, kNone},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512},
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512},
    {"gfni", 7, 0, kEcx, 8, kNone},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvx},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512},
    {"amx-bf16", 7, 0, kEdx, 22, kTiles},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512},
    {"amx-tile", 7, 0, kEdx, 24, kTiles},
    {"amx-int8", 7, 0, kEdx, 25, kTiles},
    {"avxvnni", 7, 1, kEax, 4, kAvx},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512},
    {"amx-fp16", 7, 1, kEax, 21, kTiles},
    {"avxifma", 7, 1, kEax, 23, kAvx},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvx},
    {"avxneconvert", 7, 1, kEdx, 5, kAvx},
    {"avxvnniint16", 7, 1, kEdx, 10, kAvx},
    {"egpr", 7, 1, kEdx, 21, kManyRegisters},
    {"push2pop2", 7, 1, kEdx, 21, kManyRegisters},
    {"ppx", 7, 1, kEdx, 21, kManyRegisters},
    {"ndd", 7, 1, kEdx, 21, kManyRegisters},
    {"ccmp", 7, 1, kEdx, 21, kManyRegisters},
    {"nf", 7, 1, kEdx, 21, kManyRegisters},
    {"zu", 7, 1, kEdx, 21, kManyRegisters},
    {"lzcnt", kExtended, 0, kEcx, 5, kNone},
    {"xop", kExtended, 0, kEcx, 11, kAvx},
    {"fma4", kExtended, 0, kEcx, 16, kAvx},
    {"tbm", kExtended, 0, kEcx, 21, kNone},
};

// The registers that CPUID sets for one leaf; all zeros if the processor does not have the leaf.
struct Leaf {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;

  uint32_t At(Register output_register) const {
    switch (output_register) {
      case kEax:
        return eax;
      case kEbx:
        return ebx;
      case kEcx:
        return ecx;
      case kEdx:
        return edx;
    }
    return 0;
  }
};

Leaf ReadLeaf(uint32_t leaf, uint32_t subleaf) {
  Leaf read;
  if (__get_cpuid_count(leaf, subleaf, &read.eax, &read.ebx, &read.ecx, &read.edx) == 0) return {};
  return read;
}

// Returns XCR0, or 0 if the operating system does not provide it.
uint64_t SavedRegisters() {
  constexpr uint32_t kOsXsave = uint32_t{1} << 27;
  if ((ReadLeaf(1, 0).ecx & kOsXsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

uint32_t Avx10Version() {
  constexpr uint32_t kAvx10 = uint32_t{1} << 19;
  return (ReadLeaf(7, 1).edx & kAvx10) == 0 ? 0 : ReadLeaf(0x24, 0).ebx & 0xff;
}

}  // namespace

std::set<std::string> ProcessorFeatures() {
  const uint64_t saved = SavedRegisters();
  std::set<std::string> features;
  for (const FeatureBit& feature : kFeatureBits) {
    const uint32_t word = ReadLeaf(feature.leaf, feature.subleaf).At(feature.output_register);
    if ((word >> feature.bit & 1) != 0 && (saved & feature.saved) == feature.saved)
      features.emplace(feature.name);
  }
  const uint32_t avx10 = (saved & kAvx512) == kAvx512 ? Avx10Version() : 0;
  if (avx10 >= 1) features.emplace("avx10.1");
  if (avx10 >= 2) features.emplace("avx10.2");
  if (features.contains("amx-tile") && RequestTileData()) return features;
  std::erase_if(features, [](const std::string& name) { return name.starts_with("amx"); });
  return features;
}

std::vector<std::string> FindMissingFeatures(const std::vector<std::string>& features) {
  static const std::set<std::string> here = ProcessorFeatures();
  std::vector<std::string> missing;
  std::ranges::copy_if(features, std::back_inserter(missing),
                       [](const std::string& feature) { return !here.contains(feature); });
  return missing;
}

}  // namespace tunec
