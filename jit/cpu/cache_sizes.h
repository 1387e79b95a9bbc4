// Sizes of the processor's caches, read with the CPUID instruction. Files are not read: the sizes
// are parts of the keys of the tuning database, and a container may hide /sys.
#pragma once

#include <cstdint>
#include <functional>

namespace tunec {

/// The registers that the CPUID instruction returns.
struct CpuidLeaf {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};
/// A function that returns the results of CPUID for a leaf and subleaf. The results are zeros for a
/// leaf that the processor does not have.
using ReadCpuid = std::function<CpuidLeaf(uint32_t leaf, uint32_t subleaf)>;

/// Sizes of the data caches in bytes; 0 if a cache does not exist or the processor does not state
/// its size.
struct CacheSizes {
  int64_t l1 = 0;  // private to one core
  int64_t l2 = 0;  // private to one core, or shared by a few
  int64_t l3 = 0;  // shared by many cores
  bool operator==(const CacheSizes&) const = default;
};

/// Computes the sizes from the results of `read`.
CacheSizes CacheSizesFrom(const ReadCpuid& read);
/// Returns the sizes of this machine. On a hybrid processor, the sizes are those of the first core
/// that the thread of the first call may use.
const CacheSizes& CacheSizesHere();

}  // namespace tunec
