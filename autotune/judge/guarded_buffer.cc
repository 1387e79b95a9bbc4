#include "autotune/judge/guarded_buffer.h"

#include <cstring>

namespace tunec {
namespace {

constexpr std::byte kPattern{0xa5};

}  // namespace

Result<GuardedBuffer> GuardedBuffer::Allocate(size_t bytes) {
  GuardedBuffer guarded;
  TUNEC_ASSIGN(guarded.buffer_, Buffer::Allocate(bytes + 2 * kZone));
  guarded.size_ = bytes;
  std::memset(guarded.buffer_.data(), static_cast<int>(kPattern), kZone);
  std::memset(guarded.data() + bytes, static_cast<int>(kPattern), kZone);
  return guarded;
}

void GuardedBuffer::Poison() {
  if (size_ > 0) std::memset(data(), 0xff, size_);
}

ptrdiff_t GuardedBuffer::Overrun() const {
  for (size_t i = 1; i <= kZone; ++i) {
    const auto distance = static_cast<ptrdiff_t>(i);
    if (data()[-distance] != kPattern) return -distance;
    if (data()[size_ + i - 1] != kPattern) return distance;
  }
  return 0;
}

}  // namespace tunec
