#include "runtime/cache_eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/buffer.h"
#include "support/random.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

using Ranges = std::vector<std::span<const std::byte>>;

// Cache lines that are linked in one random cycle. Each load of a pass needs the previous one.
class Circle {
 public:
  explicit Circle(size_t lines) : buffer_(*Buffer::Allocate(lines * kLine)) {
    std::vector<size_t> order(lines);
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(1);
    for (size_t i = lines - 1; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
    for (size_t i = 0; i < lines; ++i) {
      const size_t next = order[(i + 1) % lines];
      std::memcpy(buffer_.data() + order[i] * kLine, &next, sizeof(next));
    }
  }
  std::span<const std::byte> bytes() const { return {buffer_.data(), buffer_.size()}; }
  // Returns the time of one pass through the cycle.
  double Milliseconds() const {
    const Stopwatch watch;
    size_t at = 0;
    for (size_t i = 0; i < buffer_.size() / kLine; ++i)
      std::memcpy(&at, buffer_.data() + at * kLine, sizeof(at));
    volatile size_t end = at;  // keeps the walk from being optimised away
    (void)end;
    return watch.Milliseconds();
  }

 private:
  static constexpr size_t kLine = 64;
  Buffer buffer_;
};

// Returns the least time of 20 passes, each after a call of `before`.
template <class Before>
double LeastMilliseconds(const Circle& circle, Before before) {
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    before();
    least = std::min(least, circle.Milliseconds());
  }
  return least;
}

TEST(CacheEviction, WhatWasEvictedComesFromMemory) {
  ThreadPool pool(2);
  const Circle circle(2048);
  const Circle other(2048);
  const CacheEviction evict(Ranges{circle.bytes()});
  const double warm = LeastMilliseconds(circle, [] {});
  const double cold = LeastMilliseconds(circle, [&] { evict.Run(pool); });
  EXPECT_GT(cold, 3 * warm);
  // Other memory is not evicted.
  EXPECT_LT(LeastMilliseconds(other, [&] { evict.Run(pool); }), 3 * warm);
}

TEST(CacheEviction, TakesRangesOfAnySizeAndPlaceAndChangesNoByte) {
  ThreadPool pool(3);
  std::vector<std::byte> bytes(300'001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  const std::vector<std::byte> before = bytes;
  const std::span<const std::byte> all(bytes);
  CacheEviction(Ranges{all.subspan(3, 200'000), all.subspan(5, 1), all.last(1), {}}).Run(pool);
  EXPECT_EQ(bytes, before);
}

TEST(CacheEviction, OfNothingIsEmpty) {
  EXPECT_TRUE(CacheEviction().Empty());
  EXPECT_TRUE(CacheEviction(Ranges{{}}).Empty());
  ThreadPool pool(1);
  CacheEviction().Run(pool);
}

}  // namespace
}  // namespace tunec
