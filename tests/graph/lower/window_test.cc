#include "graph/lower/window.h"

#include <gtest/gtest.h>

namespace tunec::lower {
namespace {

bool HasEmptyWindow(const WindowAxis& axis) {
  for (int64_t o = 0; o < axis.output; ++o) {
    bool empty = true;
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t i = o * axis.stride + k * axis.dilation - axis.pad;
      empty = empty && (i < 0 || i >= axis.input);
    }
    if (empty) return true;
  }
  return false;
}

TEST(WindowAxis, KnowsWhetherAWindowIsEmpty) {
  int empty = 0;
  int all = 0;
  WindowAxis axis;
  for (axis.input = 0; axis.input < 6; ++axis.input)
    for (axis.output = 0; axis.output < 7; ++axis.output)
      for (axis.kernel = 0; axis.kernel < 4; ++axis.kernel)
        for (axis.stride = 1; axis.stride < 4; ++axis.stride)
          for (axis.dilation = 1; axis.dilation < 4; ++axis.dilation)
            for (axis.pad = -2; axis.pad < 7; ++axis.pad) {
              const bool expected = HasEmptyWindow(axis);
              ASSERT_EQ(axis.MayBeEmpty(), expected)
                  << axis.input << " " << axis.output << " " << axis.kernel << " " << axis.stride
                  << " " << axis.dilation << " " << axis.pad;
              empty += expected ? 1 : 0;
              ++all;
            }
  EXPECT_GT(empty, all / 10);
  EXPECT_LT(empty, 9 * all / 10);
}

// A file may contain very large sizes. The running time must not be proportional to the sizes.
TEST(WindowAxis, OfAnySize) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  WindowAxis axis{.input = kHuge, .output = kHuge, .kernel = 3, .pad = 1};
  EXPECT_FALSE(axis.MayBeEmpty());
  EXPECT_TRUE(
      (WindowAxis{.input = 1, .output = kHuge, .kernel = kHuge, .pad = kHuge}).MayBeEmpty());
  EXPECT_TRUE((WindowAxis{.input = kHuge, .output = kHuge, .kernel = 3}).MayBeEmptyTransposed());
}

}  // namespace
}  // namespace tunec::lower
