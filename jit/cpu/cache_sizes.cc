#include "jit/cpu/cache_sizes.h"

#include <cpuid.h>

#include <algorithm>
#include <span>
#include <thread>
#include <vector>

#include "support/processors.h"

namespace tunec {
namespace {

// CPUID leaves and bits, from Intel's and AMD's manuals.
constexpr uint32_t kVendor = 0;
constexpr uint32_t kIntelCaches = 4;
constexpr uint32_t kFeatures = 7;
constexpr uint32_t kHybridBit = 15;  // bit of edx
constexpr uint32_t kAmdFeatures = 0x80000001;
constexpr uint32_t kAmdTopologyBit = 22;  // bit of ecx
constexpr uint32_t kAmdFirstCaches = 0x80000005;
constexpr uint32_t kAmdOuterCaches = 0x80000006;
constexpr uint32_t kAmdCaches = 0x8000001d;

constexpr uint32_t Bits(uint32_t word, int first, int count) {
  return (word >> first) & ((uint32_t{1} << count) - 1);
}

// Returns whether the vendor is "AuthenticAMD" or "HygonGenuine", by the first four letters.
bool HasAmdLeaves(const ReadCpuid& read) {
  constexpr uint32_t kAuth = 0x68747541;
  constexpr uint32_t kHygo = 0x6f677948;
  const uint32_t vendor = read(kVendor, 0).ebx;
  return vendor == kAuth || vendor == kHygo;
}

// Returns the sizes from a leaf in which each subleaf describes a cache.
CacheSizes FromCacheList(const ReadCpuid& read, uint32_t leaf) {
  constexpr uint32_t kNoMore = 0;
  constexpr uint32_t kInstructions = 2;
  constexpr uint32_t kMostCaches = 16;
  CacheSizes sizes;
  for (uint32_t i = 0; i < kMostCaches; ++i) {
    const CpuidLeaf cache = read(leaf, i);
    const uint32_t type = Bits(cache.eax, 0, 5);
    if (type == kNoMore) break;
    if (type == kInstructions) continue;
    const int64_t line = Bits(cache.ebx, 0, 12) + 1;
    const int64_t partitions = Bits(cache.ebx, 12, 10) + 1;
    const int64_t ways = Bits(cache.ebx, 22, 10) + 1;
    const int64_t bytes = line * partitions * ways * (int64_t{cache.ecx} + 1);
    const uint32_t level = Bits(cache.eax, 5, 3);
    if (level == 1) sizes.l1 = bytes;
    if (level == 2) sizes.l2 = bytes;
    if (level == 3) sizes.l3 = bytes;
  }
  return sizes;
}

// Returns the sizes of AMD's older processors, and of virtual processors without leaf kAmdCaches.
CacheSizes FromAmdSizes(const ReadCpuid& read) {
  const CpuidLeaf outer = read(kAmdOuterCaches, 0);
  return {.l1 = int64_t{Bits(read(kAmdFirstCaches, 0).ecx, 24, 8)} << 10,
          .l2 = int64_t{Bits(outer.ecx, 16, 16)} << 10,
          .l3 = int64_t{Bits(outer.edx, 18, 14)} << 19};
}

CpuidLeaf Cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidLeaf read;
  if (__get_cpuid_count(leaf, subleaf, &read.eax, &read.ebx, &read.ecx, &read.edx) == 0) return {};
  return read;
}

CacheSizes Read() {
  const bool hybrid = Bits(Cpuid(kFeatures, 0).edx, kHybridBit, 1) != 0;
  if (!hybrid) return CacheSizesFrom(Cpuid);
  CacheSizes sizes;
  std::thread([&] {
    const std::vector<int> allowed = AllowedProcessors();
    RestrictThreadTo(std::span(allowed).first(std::min<size_t>(1, allowed.size())));
    sizes = CacheSizesFrom(Cpuid);
  }).join();
  return sizes;
}

}  // namespace

CacheSizes CacheSizesFrom(const ReadCpuid& read) {
  if (!HasAmdLeaves(read)) return FromCacheList(read, kIntelCaches);
  const bool has_list = Bits(read(kAmdFeatures, 0).ecx, kAmdTopologyBit, 1) != 0;
  return has_list ? FromCacheList(read, kAmdCaches) : FromAmdSizes(read);
}

const CacheSizes& CacheSizesHere() {
  static const CacheSizes here = Read();
  return here;
}

}  // namespace tunec
