#include "runtime/copy_slice.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace tunec {
namespace {

TEST(CopySlice, CopiesWhatTheElementsSay) {
  const SliceCopy copy{{{4, 5, 6}, {1, 2, 0}}, {{3, 3, 8}, {0, 1, 2}}, {3, 2, 5}, sizeof(int32_t)};
  std::vector<int32_t> from(4 * 5 * 6);
  std::iota(from.begin(), from.end(), 1);
  std::vector<int32_t> to(3 * 3 * 8, 0), expected = to;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 5; ++k)
        expected[i * 24 + (j + 1) * 8 + k + 2] = from[(i + 1) * 30 + (j + 2) * 6 + k];
    }
  }
  CopySlice(from.data(), to.data(), copy);
  EXPECT_EQ(to, expected);
}

TEST(CopySlice, ScalarsAndWholeArrays) {
  const double from = 2.5;
  double to = 0;
  CopySlice(&from, &to, {.element_bytes = sizeof to});
  EXPECT_EQ(to, 2.5);
  const std::vector<int8_t> all = {1, 2, 3, 4, 5, 6};
  std::vector<int8_t> copy(6, 0);
  CopySlice(all.data(), copy.data(), {{{2, 3}, {0, 0}}, {{2, 3}, {0, 0}}, {2, 3}, 1});
  EXPECT_EQ(copy, all);
  CopySlice(all.data(), copy.data(), {{{2, 3}, {0, 0}}, {{2, 3}, {0, 0}}, {0, 3}, 1});
  EXPECT_EQ(copy, all);
}

// Returns a line "source to target: rows of bytes, pitches" for each group of rows. Numbers are
// bytes, except for the number of rows.
std::string RowsOf(const SliceCopy& copy) {
  std::string text;
  ForEachRows(copy, [&](int64_t source, int64_t target, const CopiedRows& rows) {
    text += std::to_string(source) + " to " + std::to_string(target) + ": " +
            std::to_string(rows.rows) + " of " + std::to_string(rows.row_bytes) + ", " +
            std::to_string(rows.source_pitch) + " and " + std::to_string(rows.target_pitch) + "\n";
  });
  return text;
}

TEST(ForEachRows, WhatLiesEvenlyIsOneGroup) {
  // Copies two texts of three words into an array of four texts of five words.
  EXPECT_EQ(RowsOf({{{2, 3, 8}, {0, 0, 0}}, {{4, 5, 8}, {0, 0, 0}}, {2, 3, 8}, 4}),
            "0 to 0: 2 of 96, 96 and 160\n");
  // Copies all six heads of a cache, so texts and heads have one common pitch.
  EXPECT_EQ(RowsOf({{{2, 6, 3, 8}, {0, 0, 0, 0}}, {{4, 6, 5, 8}, {0, 0, 0, 0}}, {2, 6, 3, 8}, 4}),
            "0 to 0: 12 of 96, 96 and 160\n");
  // Copies some of the heads, so each text is copied separately.
  EXPECT_EQ(RowsOf({{{2, 6, 3}, {0, 2, 0}}, {{2, 4, 3}, {0, 0, 0}}, {2, 4, 2}, 1}),
            "6 to 0: 4 of 2, 3 and 3\n24 to 12: 4 of 2, 3 and 3\n");
  EXPECT_EQ(RowsOf({{{4, 3}, {1, 0}}, {{2, 3}, {0, 0}}, {2, 3}, 2}),
            "6 to 0: 1 of 12, 12 and 12\n");
  EXPECT_EQ(RowsOf({{{4, 3}, {1, 0}}, {{2, 3}, {0, 0}}, {2, 0}, 2}), "");
  // Copies a column.
  EXPECT_EQ(RowsOf({{{4, 3}, {0, 1}}, {{4, 1}, {0, 0}}, {4, 1}, 2}), "2 to 0: 4 of 2, 6 and 2\n");
}

}  // namespace
}  // namespace tunec
