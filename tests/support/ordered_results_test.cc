#include "support/ordered_results.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tunec {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(OrderedResults, ComeInOrderFromAnyNumberOfThreads) {
  for (const int threads : {1, 2, 7, 300}) {
    OrderedResults<size_t> results(200, threads, [](size_t i) {
      // The first results take longer than later ones.
      if (i < 3) std::this_thread::sleep_for(milliseconds(3 - i));
      return i * i;
    });
    for (size_t i = 0; i < 200; ++i) EXPECT_EQ(results.Next(minutes(1)), i * i) << threads;
  }
}

TEST(OrderedResults, WaitAtMostTheLimit) {
  std::atomic<bool> open = false;
  OrderedResults<int> results(2, 2, [&](size_t i) {
    while (i == 0 && !open) std::this_thread::yield();
    return static_cast<int>(i) + 1;
  });
  EXPECT_EQ(results.Next(milliseconds(1)), std::nullopt);
  open = true;
  EXPECT_EQ(results.Next(minutes(1)), 1);
  EXPECT_EQ(results.Next(minutes(1)), 2);
}

TEST(OrderedResults, AnExceptionIsThrownInItsTurn) {
  for (const int threads : {1, 3}) {
    OrderedResults<int> results(3, threads, [](size_t i) -> int {
      if (i == 1) throw std::runtime_error("one");
      return static_cast<int>(i);
    });
    EXPECT_EQ(results.Next(minutes(1)), 0);
    EXPECT_THROW(results.Next(minutes(1)), std::runtime_error);
    EXPECT_EQ(results.Next(minutes(1)), 2);
  }
}

TEST(OrderedResults, NothingStartsAfterTheDestructor) {
  std::atomic<int> started = 0;
  {
    OrderedResults<int> results(1000, 2, [&](size_t) {
      ++started;
      std::this_thread::sleep_for(milliseconds(2));
      return 0;
    });
    EXPECT_EQ(results.Next(minutes(1)), 0);
  }
  EXPECT_LT(started, 1000);
}

}  // namespace
}  // namespace tunec
