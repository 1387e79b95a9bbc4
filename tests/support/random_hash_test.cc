#include <gtest/gtest.h>

#include "support/hash.h"
#include "support/random.h"

namespace tunec {
namespace {

// The numbers are those of docs/reference/text_formats.md.
TEST(Random, GivesTheDocumentedNumbers) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(random.Next(), 0x06c45d188009454fULL);
}

TEST(Random, StaysInRange) {
  Random random(StreamSeed(7, "weights"));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.Below(3), 3U);
    const float unit = random.Unit();
    EXPECT_GE(unit, 0.0f);
    EXPECT_LT(unit, 1.0f);
  }
}

TEST(Random, StreamsDiffer) {
  EXPECT_NE(StreamSeed(0, "a"), StreamSeed(0, "b"));
  EXPECT_NE(StreamSeed(0, "a"), StreamSeed(1, "a"));
}

TEST(Hash, IsTheSameEverywhere) {
  EXPECT_EQ(StableHash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(StableHash("a"), StableHash("b"));
}

}  // namespace
}  // namespace tunec
