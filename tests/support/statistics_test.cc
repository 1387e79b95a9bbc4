#include "support/statistics.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tunec {
namespace {

std::vector<double> Draw(int count, auto distribution, std::mt19937_64& random) {
  std::vector<double> samples;
  for (int k = 0; k < count; ++k) samples.push_back(distribution(random));
  return samples;
}

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
  const std::exponential_distribution<double> skewed(1);
  const double median = std::log(2.0);
  for (const int count : {5, 9, 20, 60}) {
    int inside = 0;
    constexpr int kTries = 2000;
    for (int i = 0; i < kTries; ++i) {
      const std::vector<double> samples = Draw(count, skewed, random);
      const auto interval = FindMedianInterval(samples, 0.9);
      ASSERT_TRUE(interval);
      inside += interval->low <= median && median <= interval->high ? 1 : 0;
    }
    EXPECT_GE(inside, 0.88 * kTries) << count;
  }
}

TEST(Statistics, TheCentreIsTheMedianOfMeans) {
  EXPECT_FALSE(FindCentreInterval({}, 0.9));
  EXPECT_FALSE(FindCentreInterval({1, 2, 3, 4}, 0.9));
  const auto five = FindCentreInterval({5, 1, 2, 4, 3}, 0.9);
  ASSERT_TRUE(five);
  EXPECT_EQ(five->centre, 3);
  EXPECT_EQ(five->low, 1);
  EXPECT_EQ(five->high, 5);
  // Tables of Wilcoxon's test: for ten samples, rank sums up to 10 have a probability below 5 %.
  const auto ten = FindCentreInterval({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9);
  ASSERT_TRUE(ten);
  EXPECT_EQ(ten->centre, 5.5);
  EXPECT_EQ(ten->low, 3.5);
  EXPECT_EQ(ten->high, 7.5);
}

// The interval contains the centre of a symmetric distribution in about the requested share of
// random samples, and it is narrower than that of the median.
TEST(Statistics, TheIntervalContainsTheCentre) {
  std::mt19937_64 random(1);
  const std::normal_distribution<double> normal(3, 2);
  for (const int count : {5, 9, 20, 60}) {
    int inside = 0;
    double centre_width = 0;
    double median_width = 0;
    constexpr int kTries = 2000;
    for (int i = 0; i < kTries; ++i) {
      const std::vector<double> samples = Draw(count, normal, random);
      const auto interval = FindCentreInterval(samples, 0.9);
      ASSERT_TRUE(interval);
      EXPECT_LE(interval->low, interval->centre);
      EXPECT_LE(interval->centre, interval->high);
      inside += interval->low <= 3 && 3 <= interval->high ? 1 : 0;
      centre_width += interval->high - interval->low;
      const auto median = FindMedianInterval(samples, 0.9);
      median_width += median->high - median->low;
    }
    EXPECT_GE(inside, 0.88 * kTries) << count;
    EXPECT_LE(centre_width, median_width) << count;
  }
}

}  // namespace
}  // namespace tunec
