#include "support/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace tunec {
namespace {

TEST(Statistics, MedianAndItsDeviation) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(MedianDeviation({1, 2, 3, 10}), 1);
}

TEST(Statistics, AnIntervalNeedsEnoughSamples) {
  EXPECT_EQ(FindMedianInterval({}, 0.9), std::nullopt);
  EXPECT_EQ(FindMedianInterval({1, 2, 3, 4}, 0.9), std::nullopt);
  EXPECT_EQ(FindMedianInterval({5, 1, 2, 4, 3}, 0.9), (MedianInterval{1, 5}));
  EXPECT_EQ(FindMedianInterval({1, 2, 3, 4, 5, 6, 7}, 0.9), (MedianInterval{1, 7}));
  EXPECT_EQ(FindMedianInterval({1, 2, 3, 4, 5, 6, 7, 8}, 0.9), (MedianInterval{2, 7}));
}

// The interval contains the true median in about the requested share of random samples, whatever
// their distribution.
TEST(Statistics, TheIntervalContainsTheMedian) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed(1);
  const double median = std::log(2.0);
  for (const int count : {5, 9, 20, 60}) {
    int inside = 0;
    constexpr int kTries = 2000;
    for (int i = 0; i < kTries; ++i) {
      std::vector<double> samples;
      for (int k = 0; k < count; ++k) samples.push_back(skewed(random));
      const auto interval = FindMedianInterval(samples, 0.9);
      ASSERT_TRUE(interval);
      inside += interval->low <= median && median <= interval->high ? 1 : 0;
    }
    EXPECT_GE(inside, 0.88 * kTries) << count;
  }
}

}  // namespace
}  // namespace tunec
