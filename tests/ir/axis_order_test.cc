#include "ir/axis_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunec {
namespace {

using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

TEST(AxisOrder, IsReadFromWordsAndAxes) {
  EXPECT_EQ(*ParseAxisOrder("row_major", 4), AxisOrder());
  EXPECT_EQ(*ParseAxisOrder("0,1,2", 3), AxisOrder());
  EXPECT_EQ(*ParseAxisOrder("channels_last", 4), AxisOrder({0, 2, 3, 1}));
  EXPECT_EQ(*ParseAxisOrder("channels_last", 3), AxisOrder({0, 2, 1}));
  EXPECT_EQ(*ParseAxisOrder("channels_last", 5), AxisOrder({0, 2, 3, 4, 1}));
  EXPECT_EQ(*ParseAxisOrder("1,0", 2), AxisOrder({1, 0}));
}

TEST(AxisOrder, RejectsWhatIsNone) {
  for (const char* text : {"", "nhwc", "0,2,1", "0,0,1,2", "0,1,2,4", "0,1,2,3,", ",0,1,2,3",
                           "0, 2,3,1", "0 2 3 1", "-1,0,1,2", "0,2,3,1x"}) {
    const auto order = ParseAxisOrder(text, 4);
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(order.error().message, HasSubstr("expected row_major, channels_last or each"));
  }
  EXPECT_THAT(ParseAxisOrder("channels_last", 2).error().message,
              HasSubstr("channels_last has 2 axes"));
}

TEST(AxisOrder, ShapesGoThereAndBack) {
  const AxisOrder order = {2, 0, 3, 1};
  const Sizes logical = {3, 5, 7, 11};
  EXPECT_EQ(StoredShape(logical, order), Sizes({7, 3, 11, 5}));
  EXPECT_EQ(LogicalShape(StoredShape(logical, order), order), logical);
  EXPECT_EQ(StoredShape(logical, Inverse(order)), LogicalShape(logical, order));
  EXPECT_EQ(StoredShape(logical, {}), logical);
}

TEST(AxisOrder, StridesSayIt) {
  const AxisOrder last = {0, 2, 3, 1};
  const Sizes shape = {2, 3, 4, 5};
  const Sizes row_major = {60, 20, 5, 1};
  const Sizes channels_last = {60, 1, 15, 3};
  const Sizes apart = {120, 2, 30, 6};
  EXPECT_TRUE(IsDenseIn(shape, row_major.data(), {}));
  EXPECT_TRUE(IsDenseIn(shape, nullptr, {}));
  EXPECT_TRUE(IsDenseIn(shape, channels_last.data(), last));
  EXPECT_FALSE(IsDenseIn(shape, row_major.data(), last));
  EXPECT_FALSE(IsDenseIn(shape, nullptr, last));
  EXPECT_FALSE(IsDenseIn(shape, channels_last.data(), {}));
  EXPECT_FALSE(IsDenseIn(shape, apart.data(), last));
}

TEST(AxisOrder, AxesOfOneElementAndNoElementsSayNothing) {
  const AxisOrder last = {0, 2, 3, 1};
  const Sizes one_channel = {2, 1, 4, 5};
  const Sizes strange = {20, 77, 5, 1};
  EXPECT_TRUE(IsDenseIn(one_channel, strange.data(), {}));
  EXPECT_TRUE(IsDenseIn(one_channel, strange.data(), last));
  EXPECT_TRUE(IsDenseIn(one_channel, nullptr, last));
  const Sizes none = {2, 3, 0, 5};
  EXPECT_TRUE(IsDenseIn(none, strange.data(), last));
  EXPECT_TRUE(IsDenseIn(none, nullptr, last));
}

}  // namespace
}  // namespace tunec
