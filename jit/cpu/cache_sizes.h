// How large the processor's caches are, as the processor itself says it. No file is asked: they are
// parts of the keys of the tuning database, and a container may hide /sys.
#pragma once

#include <cstdint>
#include <functional>

namespace tunec {

/// An answer of the instruction CPUID.
struct CpuidLeaf {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};
/// CPUID by leaf and subleaf; zeros where the processor has no such leaf.
using ReadCpuid = std::function<CpuidLeaf(uint32_t leaf, uint32_t subleaf)>;

/// In bytes, of data; 0: there is none, or the processor does not say.
struct CacheSizes {
  int64_t l1 = 0;  // one core has it
  int64_t l2 = 0;  // one core has it, or a few share it
  int64_t l3 = 0;  // many share it
  bool operator==(const CacheSizes&) const = default;
};

/// Computes the sizes from what `read` answers.
CacheSizes CacheSizesFrom(const ReadCpuid& read);
/// Returns those of this machine. Where cores differ, the first one that this process may use
/// counts.
const CacheSizes& CacheSizesHere();

}  // namespace tunec
