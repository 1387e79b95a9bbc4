// Tests of processes that create or write a database at the same time, or that are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <set>

#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::IsEmpty;

TEST(Processes, WriteOneFileAtOnce) {
  TempFolder folder;
  const std::string path = folder.File("t.db");  // each process may have to create it
  constexpr int kProcesses = 4;
  constexpr int kTrials = 60;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(StartChild([&, process] {
      Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
      if (!database) {
        fprintf(stderr, "%s\n", database.error().Format().c_str());
        return 1;
      }
      for (int n = 0; n < kTrials; ++n) {
        // Every second schedule is shared by all processes; the others belong to this process.
        const int schedule = n % 2 == 0 ? n : 1000 * (process + 1) + n;
        if (!database->RecordTrial(SampleKey(n % 3), OkTrial(schedule, 1 + n))) return 2;
        if (!database->Best(SampleKey(n % 3))) return 3;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);

  const Database database = OpenForTest(path);
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
  EXPECT_EQ(database.Stats()->trials, kTrials / 2 + kProcesses * kTrials / 2);
  EXPECT_EQ(database.Stats()->workloads, 3);
  EXPECT_EQ(database.Stats()->targets.size(), 1u);
}

TEST(Processes, CreateOneFileAtOnce) {
  for (int round = 0; round < 30; ++round) {
    TempFolder folder;
    std::array<int, 2> start{};
    ASSERT_EQ(pipe(start.data()), 0);
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
      children.push_back(StartChild([&] {
        char go = 0;
        close(start[1]);
        if (read(start[0], &go, 1) != 0) return 2;  // closing the pipe starts all processes
        const auto database = Database::Open(folder.File("t.db"), OpenMode::kReadWrite);
        if (!database) fprintf(stderr, "%s\n", database.error().Format().c_str());
        return database ? 0 : 1;
      }));
    }
    close(start[0]);
    close(start[1]);
    for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  }
}

/// Records trials until the process is killed or an error ends it. Writes the number of each trial
/// to `report` after the trial is recorded.
[[noreturn]] void RecordForever(const std::string& path, int round, int report) {
  Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
  if (!database) _exit(1);
  for (int n = round * 100'000;; ++n) {
    if (!database->RecordTrial(SampleKey(n % 5), OkTrial(n, 1 + n % 7))) _exit(2);
    if (write(report, &n, sizeof n) != sizeof n) _exit(3);
  }
}

TEST(Processes, KilledOneLosesNoRecordedTrial) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  std::set<int> reported;
  for (int round = 0; round < 12; ++round) {
    std::array<int, 2> report{};
    ASSERT_EQ(pipe(report.data()), 0);
    const pid_t child = StartChild([&]() -> int { RecordForever(path, round, report[1]); });
    close(report[1]);
    // The child is killed after a number of reports that differs by round, perhaps during a write.
    int n = 0;
    for (int i = 0; i < 1 + 17 * round; ++i) {
      ASSERT_EQ(read(report[0], &n, sizeof n), ssize_t{sizeof n});
      reported.insert(n);
    }
    kill(child, SIGKILL);
    EXPECT_EQ(WaitFor(child), -SIGKILL);
    while (read(report[0], &n, sizeof n) == sizeof n) reported.insert(n);
    close(report[0]);
  }
  const Database database = OpenForTest(path);
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
  for (const int n : reported) {
    EXPECT_TRUE(database.Find(SampleKey(n % 5), OkTrial(n, 1).schedule)->has_value()) << n;
  }
  EXPECT_GE(database.Stats()->trials, static_cast<int64_t>(reported.size()));
}

TEST(Processes, KilledWhileCreatingLeavesAFileThatOpens) {
  for (int round = 0; round < 20; ++round) {
    TempFolder folder;
    const std::string path = folder.File("t.db");
    const pid_t child = StartChild([&] {
      const Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
      return database ? 0 : 1;
    });
    usleep(300 * round);
    kill(child, SIGKILL);
    WaitFor(child);
    const Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
    ASSERT_TRUE(database.has_value()) << database.error().Format();
    EXPECT_THAT(*database->IntegrityCheck(), IsEmpty());
  }
}

}  // namespace
}  // namespace tunec
