#include "runtime/buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tunec {
namespace {

bool IsAligned(const Buffer& buffer, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(buffer.data()) % alignment == 0;
}

TEST(Buffer, IsAlignedAsItsSizeWants) {
  for (const size_t bytes : {1UL, 63UL, 64UL, 4095UL, 4096UL, 100001UL, (2UL << 20) + 1}) {
    Result<Buffer> buffer = Buffer::Allocate(bytes);
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_TRUE(IsAligned(*buffer, 64));
    if (bytes >= 4096) {
      EXPECT_TRUE(IsAligned(*buffer, 4096));
    }
    if (bytes >= 2UL << 20) {
      EXPECT_TRUE(IsAligned(*buffer, 2UL << 20));
    }
    std::memset(buffer->data(), 1, bytes);
  }
}

TEST(Buffer, OfNothingIsNull) {
  const Result<Buffer> buffer = Buffer::Allocate(0);
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ(buffer->data(), nullptr);
}

TEST(Buffer, ImpossibleSizesAreErrors) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    const Result<Buffer> buffer = Buffer::Allocate(bytes);
    ASSERT_FALSE(buffer.has_value());
    EXPECT_EQ(buffer.error().code, ErrorCode::kResourceLimit);
  }
}

TEST(Buffer, MovingLeavesNothingBehind) {
  Buffer a = *Buffer::Allocate(100);
  std::byte* const data = a.data();
  Buffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): that is the promise
  Buffer c = *Buffer::Allocate(10);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.size(), 100U);
}

}  // namespace
}  // namespace tunec
