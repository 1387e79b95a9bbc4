// Tests the measurement of the load of other processes, and tests ThreadTeam.
#include "autotune/measure/machine_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "autotune/measure/side_by_side.h"
#include "support/processors.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

std::vector<int> Numbers(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(ThreadTeam, ThreadsHaveProcessorsOfTheirOwn) {
  const std::vector<int> processors = {2, 3, 5, 7, 11};
  EXPECT_THAT(ProcessorsOf(0, 5, processors), ElementsAre(2));
  EXPECT_THAT(ProcessorsOf(4, 5, processors), ElementsAre(11));
  EXPECT_THAT(ProcessorsOf(0, 2, processors), ElementsAre(2, 5, 11));
  EXPECT_THAT(ProcessorsOf(1, 2, processors), ElementsAre(3, 7));
  EXPECT_THAT(ProcessorsOf(0, 1, processors), ElementsAre(2, 3, 5, 7, 11));
  EXPECT_THAT(ProcessorsOf(6, 7, processors), ElementsAre(3));  // more threads than processors
  EXPECT_THAT(ProcessorsOf(0, 2, {}), ElementsAre());
}

TEST(ThreadTeam, StaysOnTheProcessorsOfTheProcess) {
  const std::vector<int> processors = AllowedProcessors();
  const auto threads = static_cast<int>(processors.size());
  std::vector<std::vector<int>> found(processors.size());
  ThreadTeam(threads).Run([&](int t) { found[static_cast<size_t>(t)] = AllowedProcessors(); });
  std::vector<int> all;
  for (const std::vector<int>& own : found) {
    EXPECT_EQ(own.size(), 1u);
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_THAT(all, UnorderedElementsAreArray(processors));
  EXPECT_EQ(AllowedProcessors(), processors);  // the caller's processors are unchanged
}

// A container may have a part of the machine's processors.
TEST(ThreadTeam, RespectsAnAffinity) {
  const int last = AllowedProcessors().back();
  std::vector<std::vector<int>> found(2);
  std::jthread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(last, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    ThreadTeam(2).Run([&](int t) { found[static_cast<size_t>(t)] = AllowedProcessors(); });
  }).join();
  EXPECT_THAT(found, ElementsAre(ElementsAre(last), ElementsAre(last)));
}

TEST(ThreadTeam, IsTheSameThreadsAgain) {
  ThreadTeam team(3);
  std::vector<pid_t> first(3);
  for (int run = 0; run < 50; ++run) {
    std::vector<pid_t> ids(3);
    const SideBySide all = team.Run([&](int t) { ids[static_cast<size_t>(t)] = gettid(); });
    EXPECT_GE(all.seconds, 0);
    EXPECT_GE(all.share, 0);
    EXPECT_LE(all.share, 1);
    if (run == 0) first = ids;
    EXPECT_EQ(ids, first);
    EXPECT_NE(ids[0], ids[1]);
    EXPECT_NE(ids[0], getpid());
  }
}

TEST(ThreadTeam, TimesFromTheCommonStartToTheLastEnd) {
  ThreadTeam team(2);
  const SideBySide all = team.Run([](int thread) {
    if (thread == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  });
  EXPECT_GE(all.seconds, 0.03);
  EXPECT_LT(all.share, 0.5);  // a sleeping thread has no processor
}

/// A fixture with a temporary root folder. Read writes the folder's proc/stat and reads the times.
class ProcStat : public testing::Test {
 protected:
  ProcStat() : root_(fs::temp_directory_path() / ("tunec-load-" + std::to_string(getpid()))) {
    fs::create_directories(root_ / "proc");
  }
  void TearDown() override { fs::remove_all(root_); }
  std::map<int, ProcessorTimes> Read(const std::string& text) const {
    std::ofstream(root_ / "proc/stat") << text;
    return ReadProcessorTimes(root_);
  }
  fs::path root_;
};

TEST_F(ProcStat, HasTheTimesOfEachProcessor) {
  ASSERT_EQ(sysconf(_SC_CLK_TCK), 100);
  const auto times = Read(
      "cpu  300 0 200 1000 0 0 0 100 50 0\n"
      "cpu0 100 0 100 500 100 10 20 100 50 0\n"
      "cpu12 200 0 100 500 0 0 0 0\n"
      "intr 17 5\ncpu3 1 1 1 1\n");
  EXPECT_THAT(times, ElementsAre(Pair(0, ProcessorTimes{6.0, 1.0, 9.3}),
                                 Pair(12, ProcessorTimes{5.0, 0.0, 8.0})));
  // Older systems have fewer columns.
  EXPECT_THAT(Read("cpu0 100 0 100 500\n"), ElementsAre(Pair(0, ProcessorTimes{5.0, 0.0, 7.0})));
  EXPECT_THAT(Read(""), ElementsAre());
  EXPECT_THAT(Read("no numbers\n"), ElementsAre());
  EXPECT_THAT(ReadProcessorTimes(root_ / "nowhere"), ElementsAre());
}

/// Returns ShareOfOtherProcesses for `threads` threads and a period of one second. In this period,
/// processor i is idle for idle[i] seconds, and this process uses `own` seconds of processor time.
/// Other virtual machines use `stolen` seconds of each processor.
double ShareWhen(const std::vector<double>& idle, double own, int threads, double stolen = 0) {
  LoadSample before{.clock = 100, .own = 5, .processors = {}};
  LoadSample after{.clock = 101, .own = 5 + own, .processors = {}};
  for (size_t i = 0; i < idle.size(); ++i) {
    const auto number = static_cast<int>(i);
    before.processors[number] = {.idle = 70, .stolen = 3, .all = 90};
    after.processors[number] = {.idle = 70 + idle[i], .stolen = 3 + stolen, .all = 91};
  }
  return ShareOfOtherProcesses(before, after, Numbers(static_cast<int>(idle.size())), threads);
}

TEST(ShareOfOtherProcesses, IsWhatNeitherIdlesNorIsOwn) {
  EXPECT_EQ(ShareWhen({1, 1}, 0, 2), 0);
  EXPECT_EQ(ShareWhen({0.5, 0.5}, 1, 2), 0);                 // all load is from this process
  EXPECT_NEAR(ShareWhen({1, 0}, 0, 2), 0.49, 1e-9);          // a loop on one of two
  EXPECT_NEAR(ShareWhen({0.75, 0}, 0.25, 2), 0.49, 1e-9);    // the same, with own work
  EXPECT_NEAR(ShareWhen({0, 0}, 0.5, 2), 0.74, 1e-9);        // others take nearly all
  EXPECT_NEAR(ShareWhen({0.6, 0.6}, 0, 2, 0.4), 0.4, 1e-9);  // stolen by the host
  EXPECT_EQ(ShareWhen({0.5, 0.5}, 1.2, 2), 0);
  EXPECT_EQ(ShareWhen({0.991, 0.991}, 0, 2), 0);  // the counts are rounded
}

TEST(ShareOfOtherProcesses, OnlyWhatThreadsNeedIsMissed) {
  EXPECT_EQ(ShareWhen({1, 0, 1, 1}, 0, 1), 0);
  EXPECT_EQ(ShareWhen({1, 0, 1, 1}, 0, 3), 0);
  EXPECT_NEAR(ShareWhen({1, 0, 1, 1}, 0, 4), 0.24, 1e-9);
  EXPECT_NEAR(ShareWhen({0, 0, 0, 1}, 0, 2), 0.48, 1e-9);
  EXPECT_NEAR(ShareWhen({0, 0}, 1, 8), 0.49, 1e-9);  // more threads than processors
}

// The share is 0 if /proc/stat is missing, lacks a processor, or has counts that do not advance.
TEST(ShareOfOtherProcesses, IsNothingWhereNobodyCounts) {
  const LoadSample before{.clock = 1, .own = 0, .processors = {{0, {1, 0, 2}}, {1, {1, 0, 2}}}};
  LoadSample after = before;
  after.clock = 2;
  EXPECT_EQ(ShareOfOtherProcesses(before, after, Numbers(2), 2), 0);  // the counts do not advance
  EXPECT_EQ(ShareOfOtherProcesses({.clock = 1}, {.clock = 2}, Numbers(2), 2), 0);
  after.processors = {{0, {1, 0, 3}}, {1, {1, 0, 3}}};
  EXPECT_NEAR(ShareOfOtherProcesses(before, after, Numbers(2), 2), 0.99, 1e-9);
  EXPECT_EQ(ShareOfOtherProcesses(before, after, std::vector<int>{1, 2}, 2), 0);
  EXPECT_EQ(ShareOfOtherProcesses(before, after, {}, 2), 0);
  EXPECT_EQ(ShareOfOtherProcesses(after, after, Numbers(2), 2), 0);
}

TEST(LoadMeter, SaysHowMuchOfTheMachineOthersHave) {
  const auto threads = static_cast<int>(AllowedProcessors().size());
  const double busy = BusyShare(threads);
  EXPECT_GE(busy, 0);
  EXPECT_LE(busy, 1);
}

}  // namespace
}  // namespace tunec
