// Tests of databases that continue in memory after the file fails or is locked, and of removed
// files. Also tests of databases that are copied from a file into memory.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fmt/format.h>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/faulty_disk.h"
#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WithoutFile : public testing::Test {
 protected:
  Database Open() {
    Database database = OpenForTest(path_);
    database.ContinueWithoutFile([this](const std::string& line) { lines_.push_back(line); });
    return database;
  }
  static void Record(Database& database, int from, int to) {
    for (int n = from; n < to; ++n)
      EXPECT_EQ(database.RecordTrial(SampleKey(n), OkTrial(n, 1)), RecordOutcome::kAdded) << n;
  }

  TempFolder folder_;
  std::string path_ = folder_.File("t.db");
  std::vector<std::string> lines_;
};

TEST_F(WithoutFile, AFullDiskAtAnyWriteLosesNothingOfThisRun) {
  for (int writes = 0; writes < 40; ++writes) {
    path_ = folder_.File(fmt::format("{}.db", writes));
    lines_.clear();
    FaultyDisk disk;
    Database database = Open();
    Record(database, 0, 3);
    disk.FailAfter(writes, writes % 2 == 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    Record(database, 3, 60);
    EXPECT_THAT(lines_, ElementsAre(HasSubstr("what this run finds is not kept"))) << writes;
    EXPECT_EQ(database.Stats()->trials, 60);
    EXPECT_TRUE(database.Best(SampleKey(1))->has_value());
    disk.Heal();
    const Database file = OpenForTest(path_, OpenMode::kReadOnly);
    EXPECT_THAT(*file.IntegrityCheck(), IsEmpty());
    EXPECT_GE(file.Stats()->trials, 3);
    EXPECT_LT(file.Stats()->trials, 60);
  }
}

TEST_F(WithoutFile, ALockThatStaysIsNotWaitedForTwice) {
  Database database = Open();
  Record(database, 0, 1);
  SQLite::Database other(path_, SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  Record(database, 1, 20);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("locked by another process")));
  EXPECT_EQ(database.Stats()->trials, 20);
  other.exec("ROLLBACK");
}

// The log is called only in the thread of ContinueWithoutFile. TakeMissReasons returns the lines of
// other threads.
TEST_F(WithoutFile, OtherThreadsDoNotCallTheLog) {
  Database database = Open();
  Record(database, 0, 5);
  std::filesystem::remove(path_);
  std::jthread([&] { Record(database, 5, 9); }).join();
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_THAT(database.TakeMissReasons(),
              ElementsAre(HasSubstr("t.db: removed or replaced while it was open")));
}

TEST_F(WithoutFile, ARemovedFileIsNoticedOnce) {
  Database database = Open();
  Record(database, 0, 5);
  EXPECT_THAT(lines_, IsEmpty());
  std::filesystem::remove(path_);
  Record(database, 5, 9);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("t.db: removed or replaced while it was open")));
  EXPECT_EQ(database.Stats()->trials, 9);
}

TEST_F(WithoutFile, WithoutThatWishAnErrorStaysOne) {
  FaultyDisk disk;
  Database database = OpenForTest(path_);
  disk.FailAfter(0, SQLITE_FULL);
  EXPECT_FALSE(database.RecordTrial(SampleKey(1), OkTrial(1, 1)).has_value());
  disk.Heal();
}

TEST_F(WithoutFile, ACopyIsWrittenAndItsFileIsNot) {
  {
    Database database = OpenForTest(path_);
    Record(database, 0, 5);
  }
  const std::string before = ReadBytes(path_);
  Result<Database> copy = Database::OpenCopy(path_);
  ASSERT_TRUE(copy.has_value()) << copy.error().Format();
  Record(*copy, 5, 9);
  EXPECT_EQ(copy->Stats()->trials, 9);
  EXPECT_THAT(*copy->IntegrityCheck(), IsEmpty());
  EXPECT_TRUE(ReadBytes(path_) == before);
}

TEST_F(WithoutFile, ACopyOfNothingIsAnError) {
  EXPECT_EQ(Database::OpenCopy(path_).error().code, ErrorCode::kNotFound);
}

TEST_F(WithoutFile, AnExistingFileIsNotMade) {
  const auto database = Database::Open(path_, OpenMode::kExisting);
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace tunec
