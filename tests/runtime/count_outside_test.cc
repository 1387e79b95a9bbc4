#include "runtime/count_outside.h"

#include <gtest/gtest.h>

#include <vector>

namespace tunec {
namespace {

template <class T>
int64_t Count(DataType type, const std::vector<T>& values, int64_t extent) {
  ThreadPool pool(2);
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  return CountOutside({data, static_cast<int64_t>(values.size()), type}, extent, pool);
}

TEST(CountOutside, NegativeIndicesCountFromTheEnd) {
  EXPECT_EQ(Count<int64_t>(DataType::kI64, {-4, -3, 0, 2, 3}, 3), 2);
  EXPECT_EQ(Count<int64_t>(DataType::kI64, {INT64_MIN, INT64_MAX}, INT64_MAX), 2);
  EXPECT_EQ(Count<int64_t>(DataType::kI64, {}, 0), 0);
}

TEST(CountOutside, OfEveryType) {
  EXPECT_EQ(Count<int8_t>(DataType::kI8, {-4, 3, 1}, 3), 2);
  EXPECT_EQ(Count<uint8_t>(DataType::kU8, {252, 3, 1}, 3), 2);
  EXPECT_EQ(Count<int16_t>(DataType::kI16, {-4, 3, 1}, 3), 2);
  EXPECT_EQ(Count<uint16_t>(DataType::kU16, {65535, 3, 1}, 3), 2);
  EXPECT_EQ(Count<int32_t>(DataType::kI32, {-4, 3, 1}, 3), 2);
  EXPECT_EQ(Count<uint32_t>(DataType::kU32, {UINT32_MAX, 3, 1}, 3), 2);
  EXPECT_EQ(Count<uint64_t>(DataType::kU64, {3, 1}, 3), 1);
}

TEST(CountOutside, OfMoreThanOneThreadTakes) {
  std::vector<int32_t> values(300'001, 5);
  values[0] = values[65'536] = values[300'000] = 6;
  EXPECT_EQ(Count(DataType::kI32, values, 6), 3);
}

}  // namespace
}  // namespace tunec
