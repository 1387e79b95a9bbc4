#include "autotune/checker/guarded_memory.h"

#include <array>

namespace tunec {
namespace {

constexpr size_t kZone = 4096;
constexpr size_t kCallersOffset = 16;
constexpr std::byte kPattern{0xa5};
using Zone = std::array<std::byte, kZone>;

std::byte* Before(const DeviceMemory& data) {
  return static_cast<std::byte*>(data.address) - kZone;
}
std::byte* Behind(const DeviceMemory& data, size_t bytes) {
  return static_cast<std::byte*>(data.address) + bytes;
}

}  // namespace

Result<GuardedMemory> GuardedMemory::Allocate(Device& device, size_t bytes, Placement placement) {
  const size_t before = kZone + (placement == Placement::kCallers ? kCallersOffset : 0);
  TUNEC_ASSIGN(DeviceMemory whole, device.Allocate(before + bytes + kZone));
  GuardedMemory guarded(device);
  guarded.size_ = bytes;
  guarded.data_ = {.owner = whole.owner,
                   .address = static_cast<std::byte*>(whole.address) + before,
                   .on_host = whole.on_host == nullptr ? nullptr : whole.on_host + before};
  TUNEC_RETURN_IF_ERROR(device.Fill(Before(guarded.data_), kPattern, kZone));
  TUNEC_RETURN_IF_ERROR(device.Fill(Behind(guarded.data_, bytes), kPattern, kZone));
  return guarded;
}

Status GuardedMemory::Poison() { return device_->Fill(data_.address, std::byte{0xff}, size_); }

Status GuardedMemory::Clear() { return device_->Fill(data_.address, std::byte{0}, size_); }

Result<ptrdiff_t> GuardedMemory::Overrun() const {
  Zone before, behind;
  TUNEC_RETURN_IF_ERROR(device_->CopyOut(before.data(), Before(data_), kZone));
  TUNEC_RETURN_IF_ERROR(device_->CopyOut(behind.data(), Behind(data_, size_), kZone));
  for (size_t i = 1; i <= kZone; ++i) {
    const auto distance = static_cast<ptrdiff_t>(i);
    if (before[kZone - i] != kPattern) return -distance;
    if (behind[i - 1] != kPattern) return distance;
  }
  return 0;
}

}  // namespace tunec
