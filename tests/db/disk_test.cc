// Tests the database on a simulated disk that becomes full or fails after some writes, and on a
// real full file system.
#include "tests/db/faulty_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include <set>

#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kCannotMount = 77;

class Disk : public testing::TestWithParam<int> {
 protected:
  void ExpectDiskError(const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::kIo) << error.Format();
    const char* what = GetParam() == SQLITE_FULL ? "disk full" : "disk I/O error";
    EXPECT_THAT(error.message, HasSubstr(what));
  }

  FaultyDisk disk_;
};

TEST_P(Disk, FailingAtAnyWriteOfCreationLeavesAFileThatOpens) {
  for (int writes = 0;; ++writes) {
    TempFolder folder;
    const std::string path = folder.File("t.db");
    disk_.FailAfter(writes, GetParam());
    {
      const Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
      if (!database) ExpectDiskError(database.error());
      if (database && disk_.rejected() == 0) break;
    }
    disk_.Heal();
    const Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
    ASSERT_TRUE(database.has_value()) << writes << ": " << database.error().Format();
    EXPECT_THAT(*database->IntegrityCheck(), IsEmpty());
    ASSERT_LT(writes, 1000);
  }
}

TEST_P(Disk, FailingAtAnyWriteLosesNoRecordedTrial) {
  for (int writes = 0; writes < 60; ++writes) {
    TempFolder folder;
    const std::string path = folder.File("t.db");
    std::set<int> recorded;
    {
      Database database = OpenForTest(path);
      disk_.FailAfter(writes, GetParam());
      for (int n = 0; n < 100; ++n) {
        const auto outcome = database.RecordTrial(SampleKey(n), OkTrial(n, 1));
        if (!outcome) {
          ExpectDiskError(outcome.error());
          break;
        }
        recorded.insert(n);
      }
      EXPECT_LT(recorded.size(), 100u);
      disk_.Heal();
      // `database` still works, and the failed transaction was rolled back.
      EXPECT_EQ(database.Stats()->trials, static_cast<int64_t>(recorded.size()));
      EXPECT_EQ(database.RecordTrial(SampleKey(500), OkTrial(500, 1)), RecordOutcome::kAdded);
      recorded.insert(500);
    }
    const Database database = OpenForTest(path);
    EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
    EXPECT_EQ(database.Stats()->trials, static_cast<int64_t>(recorded.size()));
    for (const int n : recorded) EXPECT_EQ(database.CountTrials(SampleKey(n)), 1) << n;
  }
}

TEST_P(Disk, FailingDuringAnImportImportsNothing) {
  Database source = OpenForTest();
  for (int n = 0; n < 300; ++n) {
    ASSERT_TRUE(source.RecordTrial(SampleKey(n), OkTrial(n, 1)).has_value());
  }
  const std::string text = ExportText(source);
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  for (const int writes : {0, 1, 2, 5, 20}) {
    disk_.FailAfter(writes, GetParam());
    std::istringstream in(text);
    const auto counts = database.Import(in, "lines", TimesFrom::kThisMachine);
    ASSERT_FALSE(counts.has_value());
    ExpectDiskError(counts.error());
    disk_.Heal();
    EXPECT_EQ(database.Stats()->trials, 0);
  }
  std::istringstream in(text);
  EXPECT_TRUE(database.Import(in, "lines", TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(ExportText(database), text);
}

INSTANTIATE_TEST_SUITE_P(, Disk, testing::Values(SQLITE_FULL, SQLITE_IOERR_WRITE),
                         [](const auto& info) {
                           return info.param == SQLITE_FULL ? "Full" : "Broken";
                         });

/// Fills a file system of 6 MiB with a database. Returns 0 for success, kCannotMount, or the number
/// of the check that failed.
int FillSmallDisk(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0) return kCannotMount;
  // With private propagation, the tmpfs below is not visible in other mount namespaces.
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kCannotMount;
  if (mount("tunec", folder.c_str(), "tmpfs", 0, "size=6m") != 0) return kCannotMount;
  const std::string path = folder + "/t.db";
  int recorded = 0;
  {
    Result<Database> database = Database::Open(path, OpenMode::kReadWrite);
    if (!database) return 1;
    Result<RecordOutcome> outcome = RecordOutcome::kAdded;
    for (; outcome && recorded < 100'000; ++recorded) {
      outcome = database->RecordTrial(SampleKey(recorded), OkTrial(recorded, 1));
    }
    --recorded;
    if (recorded < 100) return 8;
    if (outcome || outcome.error().code != ErrorCode::kIo) return 2;
    if (!outcome.error().message.contains("disk full")) return 3;
    const Status exported = database->ExportFile(folder + "/out.jsonl");
    if (exported || exported.error().code != ErrorCode::kIo) return 4;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().string().contains("out.jsonl")) return 5;
    }
  }
  const Result<Database> database = Database::Open(path, OpenMode::kReadOnly);
  if (!database || !database->IntegrityCheck()->empty()) return 6;
  return database->Stats()->trials == recorded ? 0 : 7;
}

TEST(SmallDisk, FullIsAnErrorAndWhatWasRecordedStays) {
  TempFolder folder;
  const int status = WaitFor(StartChild([&] { return FillSmallDisk(folder.path()); }));
  if (status == kCannotMount) GTEST_SKIP() << "[SKIP] may not mount a small file system";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tunec
