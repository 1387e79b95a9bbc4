#include "schedule/shared_dimensions.h"

#include <gtest/gtest.h>

#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

constexpr std::string_view kChain = R"(compute chain {
  input x: f32[3, 4]
  output y: f32[4]
  workspace t: f32[4, 3]
  workspace u: f32[4]
  t[i: 3, j: 4]:
    t[j, i] = x[i, j]
  u[p: 4, q: 3 reduction]:
    u[p] sum= t[p, q]
  y[j: 4]:
    y[j] = u[j] * t[j, 2 - j mod 3]
})";

TEST(SharedDimensions, FollowWhatIsWrittenAndRead) {
  const SharedDimensions shared = SharedDimensions::Of(MustParse(kChain));
  EXPECT_EQ(shared.DimensionOf(0, 0), shared.DimensionOf(1, 1));  // i and q
  EXPECT_EQ(shared.DimensionOf(0, 1), shared.DimensionOf(1, 0));  // j and p
  EXPECT_EQ(shared.DimensionOf(0, 1), shared.DimensionOf(2, 0));  // j of t and j of y
  EXPECT_NE(shared.DimensionOf(0, 0), shared.DimensionOf(0, 1));
  EXPECT_EQ(shared.IteratorOf(2, shared.DimensionOf(1, 0)), 0);
  EXPECT_EQ(shared.IteratorOf(2, shared.DimensionOf(1, 1)), std::nullopt);
}

TEST(SharedDimensions, AnIteratorThatIsTwoIsNone) {
  const SharedDimensions shared = SharedDimensions::Of(MustParse(R"(compute square {
  input x: f32[4, 4]
  output y: f32[4, 4]
  workspace t: f32[4, 4]
  t[i: 4, j: 4]:
    t[i, j] = x[i, j]
  y[a: 4, b: 4]:
    y[a, b] = t[a, b] + t[b, a]
})"));
  EXPECT_EQ(shared.DimensionOf(1, 0), shared.DimensionOf(1, 1));
  EXPECT_EQ(shared.IteratorOf(1, shared.DimensionOf(1, 0)), std::nullopt);
  EXPECT_EQ(shared.IteratorOf(0, shared.DimensionOf(1, 0)), std::nullopt);
}

}  // namespace
}  // namespace tunec::test
