// The memory that checked kernels may touch.
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

/// An argument or a workspace, known to all emulated kernels of the process while this lives. A
/// checked access by way of an address in it must stay in it. What begins outside of every region
/// has no bounds. May be made and destroyed by any thread.
class CheckedRegion {
 public:
  /// Requires: no other region there. Nothing at null is none.
  CheckedRegion(const void* address, int64_t bytes, std::string name);
  ~CheckedRegion();
  CheckedRegion(const CheckedRegion&) = delete;
  CheckedRegion& operator=(const CheckedRegion&) = delete;

 private:
  const std::byte* begin_;
};

/// The region that the address lies in, or at the begin of.
std::optional<MemoryRegion> RegionOf(const void* address);

/// An address for messages: "A + 12", or where it lies when no region begins before it.
std::string PlaceOf(const void* address);

}  // namespace tunec
