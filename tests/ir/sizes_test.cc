// Tests of the checks and products of user-given sizes, and of the allocation of arrays.
#include "ir/sizes.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/allocate_array.h"

namespace tunec {
namespace {

TEST(Sizes, MultiplyUpToTheLimit) {
  EXPECT_EQ(MultiplySizes(6, -7), -42);
  EXPECT_EQ(MultiplySizes(int64_t{1} << 40, int64_t{1} << 40), int64_t{1} << 60);
  EXPECT_EQ(MultiplySizes(INT64_MIN, INT64_MAX), -(int64_t{1} << 60));
  EXPECT_EQ(MultiplySizes(INT64_MIN, -1), int64_t{1} << 60);
}

TEST(Sizes, ShapesOfNoElementsAreLimitedToo) {
  const auto is_shape = [](std::vector<int64_t> extents) { return IsShape(extents); };
  EXPECT_TRUE(is_shape({}));
  EXPECT_TRUE(is_shape({3, 0, int64_t{1} << 40}));
  EXPECT_FALSE(is_shape({2, -1}));
  EXPECT_FALSE(is_shape({0, INT64_MAX}));
  EXPECT_FALSE(is_shape({0, int64_t{1} << 30, int64_t{1} << 30}));
  EXPECT_FALSE(is_shape({int64_t{1} << 30, int64_t{1} << 30, 0}));
}

TEST(AllocateArray, SaysWhatThereIsNoMemoryFor) {
  const auto array = AllocateArray(DataType::kF64, {int64_t{1} << 47}, "input x");
  ASSERT_FALSE(array.has_value());
  EXPECT_EQ(array.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(array.error().message, "cannot allocate 1125899906842624 bytes for input x");
  EXPECT_THROW(Array(DataType::kF64, {int64_t{1} << 47}), AllocationFailure);
}

TEST(AllocateArray, GivesAlignedZeros) {
  for (const int64_t count : {0, 1, 1000, 1 << 20}) {
    const auto array = AllocateArray(DataType::kI64, {count}, "x");
    ASSERT_TRUE(array.has_value());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % 64, 0U);
    for (int64_t i = 0; i < count; i += 99) EXPECT_EQ(array->GetInt(i), 0);
  }
}

}  // namespace
}  // namespace tunec
