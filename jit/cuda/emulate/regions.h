// A registry of the memory regions that limit the accesses of checked kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tunec {

struct MemoryRegion {
  const std::byte* begin = nullptr;
  int64_t bytes = 0;
  std::string name;  // for messages

  bool Holds(const void* address, int64_t size) const;
};

/// A region of memory, such as an argument or a workspace, registered for all emulated kernels of
/// the process while the object lives. A checked access with a base address in the region must stay
/// in the region. Memory outside of every region has no bounds, except for shared memory. Any
/// thread may create and destroy regions.
class CheckedRegion {
 public:
  /// Registers a region. No other region may begin at the address. Registers nothing if `address`
  /// is null.
  CheckedRegion(const void* address, int64_t bytes, std::string name);
  ~CheckedRegion();
  CheckedRegion(const CheckedRegion&) = delete;
  CheckedRegion& operator=(const CheckedRegion&) = delete;

 private:
  const std::byte* begin_;
};

/// Returns the region that contains the address or begins there, if there is one.
std::optional<MemoryRegion> RegionOf(const void* address);

/// Describes an address for messages, such as "A + 12": the last region that begins at or before
/// the address, and the offset. If there is no such region, the text is the address as a number.
std::string DescribeAddress(const void* address);

}  // namespace tunec
