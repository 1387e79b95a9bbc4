#include "runtime/copy_box.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tunec {
namespace {

TEST(CopyBox, CopiesWhatTheElementsSay) {
  const BoxPlace source{{4, 5, 6}, {1, 2, 0}};
  const BoxPlace target{{3, 3, 8}, {0, 1, 2}};
  const std::vector<int64_t> box = {3, 2, 5};
  std::vector<int32_t> from(4 * 5 * 6);
  std::iota(from.begin(), from.end(), 1);
  std::vector<int32_t> to(3 * 3 * 8, 0), wanted = to;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 5; ++k)
        wanted[i * 24 + (j + 1) * 8 + k + 2] = from[(i + 1) * 30 + (j + 2) * 6 + k];
    }
  }
  CopyBox(from.data(), source, to.data(), target, box, sizeof(int32_t));
  EXPECT_EQ(to, wanted);
}

TEST(CopyBox, ScalarsAndWholeArrays) {
  const double from = 2.5;
  double to = 0;
  CopyBox(&from, {}, &to, {}, {}, sizeof to);
  EXPECT_EQ(to, 2.5);
  const std::vector<int8_t> all = {1, 2, 3, 4, 5, 6};
  std::vector<int8_t> copy(6, 0);
  CopyBox(all.data(), {{2, 3}, {0, 0}}, copy.data(), {{2, 3}, {0, 0}}, std::vector<int64_t>{2, 3},
          1);
  EXPECT_EQ(copy, all);
  CopyBox(all.data(), {{2, 3}, {0, 0}}, copy.data(), {{2, 3}, {0, 0}}, std::vector<int64_t>{0, 3},
          1);
  EXPECT_EQ(copy, all);
}

}  // namespace
}  // namespace tunec
