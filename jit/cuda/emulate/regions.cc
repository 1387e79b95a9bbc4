#include "jit/cuda/emulate/regions.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace tunec {
namespace {

struct Regions {
  std::mutex mutex;
  std::map<const std::byte*, MemoryRegion, std::less<>> by_begin;

  // Returns the last region that begins at or before the address; null if there is none.
  const MemoryRegion* Before(const std::byte* address) const {
    const auto after = by_begin.upper_bound(address);
    return after == by_begin.begin() ? nullptr : &std::prev(after)->second;
  }
};

Regions& Known() {
  static Regions regions;
  return regions;
}

}  // namespace

bool MemoryRegion::Holds(const void* address, int64_t size) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= begin && at + size <= begin + bytes;
}

CheckedRegion::CheckedRegion(const void* address, int64_t bytes, std::string name)
    : begin_(static_cast<const std::byte*>(address)) {
  if (begin_ == nullptr) return;
  const std::lock_guard lock(Known().mutex);
  Known().by_begin[begin_] = {begin_, bytes, std::move(name)};
}

CheckedRegion::~CheckedRegion() {
  const std::lock_guard lock(Known().mutex);
  Known().by_begin.erase(begin_);
}

std::optional<MemoryRegion> RegionOf(const void* address) {
  const std::lock_guard lock(Known().mutex);
  const MemoryRegion* region = Known().Before(static_cast<const std::byte*>(address));
  if (region == nullptr) return std::nullopt;
  const bool inside = region->begin == address || region->Holds(address, 1);
  return inside ? std::optional(*region) : std::nullopt;
}

std::string DescribeAddress(const void* address) {
  const std::lock_guard lock(Known().mutex);
  const auto* at = static_cast<const std::byte*>(address);
  const MemoryRegion* region = Known().Before(at);
  return region == nullptr ? fmt::format("{}", address)
                           : fmt::format("{} + {}", region->name, at - region->begin);
}

}  // namespace tunec
