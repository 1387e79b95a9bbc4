#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "db/cache_folder.h"
#include "db/tables/schema.h"
#include "support/hash.h"
#include "tests/db/samples.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int kNobody = 65534;

void ExpectRejected(const std::string& path, OpenMode mode, ErrorCode code, const char* message) {
  const Result<Database> database = Database::Open(path, mode);
  ASSERT_FALSE(database.has_value()) << path;
  EXPECT_EQ(database.error().code, code) << database.error().Format();
  EXPECT_THAT(database.error().message, HasSubstr(message));
  EXPECT_THAT(database.error().message, HasSubstr(path));
}

void ExpectRejected(const std::string& path, ErrorCode code, const char* message) {
  ExpectRejected(path, OpenMode::kReadWrite, code, message);
  ExpectRejected(path, OpenMode::kReadOnly, code, message);
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

/// Opens or creates a database file, records one trial in the file and closes it.
void MakeDatabase(const std::string& path) {
  Database database = OpenForTest(path);
  TUNEC_CHECK(database.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value(), "no trial");
}

/// Runs `body` in a child process, as nobody if this process is root. Returns WaitFor's result.
int AsNobody(const std::function<int()>& body) {
  return WaitFor(StartChild([&] {
    if (getuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return 100;
    return body();
  }));
}

TEST(Open, CreatesFoldersAndFile) {
  TempFolder folder;
  const std::string path = folder.File("a/b/t.db");
  MakeDatabase(path);
  EXPECT_EQ(OpenForTest(path).CountTrials(SampleKey()), 1);
  EXPECT_THAT(NamesIn(folder.path() / "a/b"), UnorderedElementsAre("t.db"));
}

TEST(Open, FileCarriesOurIdAndVersion) {
  TempFolder folder;
  MakeDatabase(folder.File("t.db"));
  SQLite::Database raw(folder.File("t.db"));
  EXPECT_EQ(raw.execAndGet("PRAGMA application_id").getInt64(), kApplicationId);
  EXPECT_EQ(raw.execAndGet("PRAGMA user_version").getInt(), SchemaVersion());
  EXPECT_EQ(raw.execAndGet("PRAGMA journal_mode").getString(), "wal");
}

TEST(Open, OddNamesAreNames) {
  TempFolder folder;
  for (const char* name : {"file:x?mode=memory", "a b%20#?.db", "\xc3\xa9.db"}) {
    const std::string path = folder.File(name);
    MakeDatabase(path);
    EXPECT_TRUE(fs::is_regular_file(path)) << name;
    EXPECT_EQ(OpenForTest(path, OpenMode::kReadOnly).CountTrials(SampleKey()), 1);
  }
}

TEST(Open, RelativePathSurvivesAChangeOfFolder) {
  TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  Database database = OpenForTest("t.db");
  fs::current_path(before);
  EXPECT_TRUE(database.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  EXPECT_EQ(database.Path(), folder.File("t.db"));
}

TEST(Open, EmptyPathIsRejected) {
  const auto database = Database::Open("", OpenMode::kReadWrite);
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().message, "the database path is empty");
}

TEST(Open, EmptyFileIsTaken) {
  TempFolder folder;
  WriteBytes(folder.File("t.db"), "");
  ExpectRejected(folder.File("t.db"), OpenMode::kReadOnly, ErrorCode::kParse, "is an empty file");
  MakeDatabase(folder.File("t.db"));
  EXPECT_EQ(OpenForTest(folder.File("t.db")).CountTrials(SampleKey()), 1);
}

TEST(Open, DirectoryAndFifoAreRejected) {
  TempFolder folder;
  ExpectRejected(folder.path(), ErrorCode::kInvalidArgument, "is a directory");
  ASSERT_EQ(mkfifo(folder.File("fifo").c_str(), 0600), 0);
  ExpectRejected(folder.File("fifo"), ErrorCode::kInvalidArgument, "is not a regular file");
}

TEST(Open, FolderThatIsAFileIsRejected) {
  TempFolder folder;
  WriteBytes(folder.File("file"), "x");
  const auto database = Database::Open(folder.File("file/t.db"), OpenMode::kReadWrite);
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code, ErrorCode::kIo);
}

TEST(Open, GarbageIsRejectedAndLeftAsItIs) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  for (const std::string& bytes :
       {std::string("x"), std::string(5000, 'x'), std::string("SQLite format 3\0", 16)}) {
    WriteBytes(path, bytes);
    ExpectRejected(path, ErrorCode::kParse, "not a database");
    EXPECT_TRUE(ReadBytes(path) == bytes);
  }
}

TEST(Open, ForeignDatabaseIsRejectedAndLeftAsItIs) {
  TempFolder folder;
  for (const char* setup :
       {"CREATE TABLE t(x)", "PRAGMA application_id = 77; CREATE TABLE trials(x)",
        "PRAGMA journal_mode = WAL; CREATE TABLE t(x)"}) {
    const std::string path = folder.File("foreign.db");
    SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(setup);
    const std::string before = ReadBytes(path);
    ExpectRejected(path, ErrorCode::kInvalidArgument, "belongs to another program");
    EXPECT_TRUE(ReadBytes(path) == before);
    EXPECT_THAT(NamesIn(folder.path()), UnorderedElementsAre("foreign.db"));
    fs::remove(path);
  }
}

TEST(Open, ForeignLogIsNotCheckpointed) {
  TempFolder folder;
  const std::string path = folder.File("foreign.db");
  const pid_t child = StartChild([&] {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    raw.exec("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    return kill(getpid(), SIGKILL);  // the log remains
  });
  ASSERT_EQ(WaitFor(child), -SIGKILL);
  const std::string before = ReadBytes(path);
  const std::string log = ReadBytes(path + "-wal");
  ASSERT_FALSE(log.empty());
  ExpectRejected(path, ErrorCode::kInvalidArgument, "belongs to another program");
  EXPECT_TRUE(ReadBytes(path) == before);
  EXPECT_TRUE(ReadBytes(path + "-wal") == log);
}

TEST(Open, NewerVersionIsRejectedAndLeftAsItIs) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 1000");
  const std::string before = ReadBytes(path);
  ExpectRejected(path, ErrorCode::kUnsupported, "schema 1000 was written by a newer tunec");
  EXPECT_TRUE(ReadBytes(path) == before);
}

TEST(Open, NewerVersionInTheLogIsRejectedAndLeftAsItIs) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  const pid_t killed = StartChild([&] {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA user_version = 1000");  // stays in the log, so the header is not changed
    return kill(getpid(), SIGKILL);
  });
  ASSERT_EQ(WaitFor(killed), -SIGKILL);
  const std::string before = ReadBytes(path);
  ExpectRejected(path, ErrorCode::kUnsupported, "was written by a newer tunec");
  EXPECT_TRUE(ReadBytes(path) == before);
}

TEST(Open, OlderVersionIsMigratedInTheFileOnlyForWriting) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(fmt::format("PRAGMA application_id = {}; VACUUM", kApplicationId));
  const std::string before = ReadBytes(path);
  EXPECT_EQ(OpenForTest(path, OpenMode::kReadOnly).CountTrials(SampleKey()), 0);
  EXPECT_EQ(ReadBytes(path), before);
  MakeDatabase(path);
  EXPECT_EQ(OpenForTest(path, OpenMode::kReadOnly).CountTrials(SampleKey()), 1);
}

TEST(Open, MissingTableIsDamage) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("DROP TABLE machine");
  ExpectRejected(path, ErrorCode::kParse, "table 'machine' is missing");
}

TEST(Open, MissingColumnIsDamage) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("ALTER TABLE trials DROP COLUMN note");
  ExpectRejected(path, ErrorCode::kParse, "table 'trials' lacks the column 'note TEXT'");
}

TEST(Open, VersionThatTheTablesBelieIsDamage) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  const auto set_version = [&](int version) {
    SQLite::Database(path, SQLite::OPEN_READWRITE)
        .exec(fmt::format("PRAGMA user_version = {}", version));
  };
  set_version(0);
  ExpectRejected(path, ErrorCode::kParse, "it has tables, but its schema is 0");
  set_version(1);
  ExpectRejected(path, ErrorCode::kParse, "table 'artifacts' lacks the column 'object_hash TEXT'");
  set_version(-5);
  ExpectRejected(path, ErrorCode::kParse,
                 fmt::format("schema -5, expected 0 to {}", SchemaVersion()).c_str());
}

TEST(Open, TruncatedFileIsAnErrorNotACrash) {
  TempFolder folder;
  const std::string whole = folder.File("whole.db");
  {
    Database database = OpenForTest(whole);
    for (int n = 0; n < 50; ++n) {
      ASSERT_TRUE(database.RecordTrial(SampleKey(n), OkTrial(n, 1)).has_value());
    }
  }
  const std::string bytes = ReadBytes(whole);
  const std::string path = folder.File("t.db");
  for (size_t page = 0; page < bytes.size(); page += 4096) {
    for (const size_t size : {page, page + 1, page + 2000, page + 4095}) {
      if (size == 0) continue;
      WriteBytes(path, bytes.substr(0, size));
      const auto database = Database::Open(path, OpenMode::kReadWrite);
      ASSERT_FALSE(database.has_value()) << size;
      EXPECT_EQ(database.error().code, ErrorCode::kParse) << database.error().Format();
      EXPECT_TRUE(ReadBytes(path) == bytes.substr(0, size));
    }
  }
}

TEST(Open, OverwrittenPagesAreErrorsOrReported) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  const std::string bytes = ReadBytes(path);
  for (size_t page = 1; page * 4096 < bytes.size(); ++page) {
    std::string damaged = bytes;
    std::fill_n(damaged.begin() + page * 4096, 4096, '\xaa');
    WriteBytes(path, damaged);
    const auto database = Database::Open(path, OpenMode::kReadOnly);
    if (!database) continue;
    const auto problems = database->IntegrityCheck();
    EXPECT_TRUE(!problems || !problems->empty()) << "page " << page;
    const auto trials = database->Trials(SampleKey());  // must not crash
    EXPECT_TRUE(trials || trials.error().code == ErrorCode::kParse);
  }
}

TEST(Open, EveryByteOfTheHeaderMayBeDamaged) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  const std::string bytes = ReadBytes(path);
  constexpr size_t kHeader = 100;
  for (size_t at = 0; at < kHeader; ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = value;
      WriteBytes(path, damaged);
      const auto database = Database::Open(path, OpenMode::kReadOnly);
      const auto trials =
          database ? database->Trials(SampleKey()) : std::unexpected(database.error());
      if (trials) continue;
      EXPECT_NE(trials.error().code, ErrorCode::kInternal) << at << ": " << trials.error().Format();
    }
  }
}

TEST(Open, MissingFileIsNotFoundForReading) {
  TempFolder folder;
  ExpectRejected(folder.File("t.db"), OpenMode::kReadOnly, ErrorCode::kNotFound,
                 "no such database");
  EXPECT_THAT(NamesIn(folder.path()), IsEmpty());
}

TEST(Open, ReadOnlyRejectsWrites) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  const std::string before = ReadBytes(path);
  Database database = OpenForTest(path, OpenMode::kReadOnly);
  const auto outcome = database.RecordTrial(SampleKey(), OkTrial(2, 1));
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(outcome.error().message, HasSubstr("opened for reading only"));
  EXPECT_EQ(database.Compact().error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(ReadBytes(path) == before);
}

TEST(Open, ReadOnlyFolderCanBeReadButNotWritten) {
  TempFolder folder;
  const std::string path = folder.File("fixed/t.db");
  MakeDatabase(path);
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder.File("fixed"), fs::perms(0555));
  EXPECT_EQ(AsNobody([&] {
              const auto reading = Database::Open(path, OpenMode::kReadOnly);
              return reading && reading->CountTrials(SampleKey()) == 1 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(AsNobody([&] {
              const auto writing = Database::Open(path, OpenMode::kReadWrite);
              if (writing || writing.error().code != ErrorCode::kIo) return 1;
              return writing.error().message == path + ": cannot write: Permission denied" ||
                             writing.error().message.ends_with("Permission denied")
                         ? 0
                         : 2;
            }),
            0);
  EXPECT_EQ(AsNobody([&] {
              const auto creating =
                  Database::Open(folder.File("fixed/new.db"), OpenMode::kReadWrite);
              return !creating && creating.error().code == ErrorCode::kIo &&
                             creating.error().message.contains("write into this folder: Permission")
                         ? 0
                         : 1;
            }),
            0);
  fs::permissions(folder.File("fixed"), fs::perms(0755));
}

TEST(Open, UnreadableFileIsRejected) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  MakeDatabase(path);
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(path, fs::perms(0000));
  EXPECT_EQ(AsNobody([&] {
              const auto database = Database::Open(path, OpenMode::kReadOnly);
              return !database &&
                             database.error().message == path + ": cannot read: Permission denied"
                         ? 0
                         : 1;
            }),
            0);
}

TEST(Schema, ListedMigrationsRunOnceEachInOneTransaction) {
  SQLite::Database raw(":memory:", SQLite::OPEN_READWRITE);
  const Migration first = [](SQLite::Database& db) { db.exec("CREATE TABLE a(x)"); };
  const Migration second = [](SQLite::Database& db) {
    db.exec("ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1");
  };
  const Migration broken = [](SQLite::Database& db) {
    db.exec("DROP TABLE a");
    db.exec("not sql");
  };
  const std::vector<Migration> version1 = {first};
  ASSERT_TRUE(Migrate(raw, "m", version1).has_value());
  raw.exec("INSERT INTO a VALUES (1)");
  EXPECT_THROW((void)Migrate(raw, "m", std::vector{first, broken}), SQLite::Exception);
  EXPECT_EQ(raw.execAndGet("PRAGMA user_version").getInt(), 1);

  const std::vector<Migration> version2 = {first, second};
  ASSERT_TRUE(Migrate(raw, "m", version2).has_value());
  ASSERT_TRUE(Migrate(raw, "m", version2).has_value());
  EXPECT_EQ(raw.execAndGet("SELECT y FROM a").getInt(), 2);
  EXPECT_EQ(raw.execAndGet("PRAGMA user_version").getInt(), 2);
  EXPECT_FALSE(Migrate(raw, "m", version1).has_value());
}

// The hash of a version 1 object does not cover its metadata, so such objects are not trusted.
TEST(Schema, ObjectsOfVersion1AreDropped) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    ASSERT_TRUE(Migrate(raw, path, Migrations().first(1)).has_value());
    raw.exec(
        "INSERT INTO artifacts(key_hash, key_text, object, object_hash, metadata, created_at) "
        "VALUES ('h', 'key', x'00', 'h', '{}', 1)");
  }
  EXPECT_EQ(OpenForTest(path, OpenMode::kReadOnly).Stats()->artifacts, 0);
  EXPECT_EQ(SQLite::Database(path).execAndGet("SELECT count(*) FROM artifacts").getInt(), 1);
  MakeDatabase(path);
  const Database database = OpenForTest(path, OpenMode::kReadOnly);
  EXPECT_EQ(database.Stats()->artifacts, 0);
  EXPECT_EQ(database.CountTrials(SampleKey()), 1);
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
}

TEST(Schema, FirstVersionKeepsItsConvergedTasks) {
  SQLite::Database raw(":memory:", SQLite::OPEN_READWRITE);
  ASSERT_TRUE(Migrate(raw, "m", Migrations().first(1)).has_value());
  raw.exec(
      "INSERT INTO workloads VALUES (1, 'h', 'w', 'k', 'd', 1, 1);"
      "INSERT INTO targets VALUES (1, 'h', 't'); INSERT INTO tasks VALUES (1, 1, 1, 'p', 1, 77)");
  ASSERT_TRUE(Migrate(raw, "m", Migrations()).has_value());
  SQLite::Statement task(raw, "SELECT converged, converged_by, converged_bound FROM tasks");
  ASSERT_TRUE(task.executeStep());
  EXPECT_EQ(task.getColumn(0).getInt(), 77);
  EXPECT_EQ(task.getColumn(1).getInt(), 0);  // unknown reason
  EXPECT_EQ(task.getColumn(2).getDouble(), 0);
}

// Tests of migrations from the schema version GetParam(). Recorded wrong results are dropped,
// because an older checker may have been wrong. Other trials are retained.
class ForgottenWrongResults : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Schema, ForgottenWrongResults, ::testing::Values(3, 6, 7));

TEST_P(ForgottenWrongResults, OfOlderVersions) {
  SQLite::Database raw(":memory:", SQLite::OPEN_READWRITE);
  ASSERT_TRUE(Migrate(raw, "m", Migrations().first(GetParam())).has_value());
  const auto add = [&](int task, const char* schedule, TrialStatus status) {
    raw.exec(fmt::format(
        "INSERT INTO trials(task, schedule_hash, schedule, status, median_seconds, mad_seconds, "
        "samples, message, compile_ms, check_ms, measure_ms, note, created_at, tool_version) "
        "VALUES ({}, 'h', '{}', {}, 1, 0, '[]', '', 0, 0, 0, '', 1, '')",
        task, schedule, static_cast<int>(status)));
  };
  raw.exec(
      "INSERT INTO workloads VALUES (1, 'h', 'w', 'k', 'd', 1, 1);"
      "INSERT INTO targets VALUES (1, 'h', 't');"
      "INSERT INTO tasks(id, workload, target, policy, schedule_version, converged) "
      "VALUES (1, 1, 1, 'p', 1, 77), (2, 1, 1, 'q', 1, 78)");
  add(1, "a", TrialStatus::kOk);
  add(1, "b", TrialStatus::kWrongResult);
  add(1, "c", TrialStatus::kCrashed);
  add(2, "a", TrialStatus::kOk);
  ASSERT_TRUE(Migrate(raw, "m", Migrations()).has_value());
  EXPECT_EQ(
      raw.execAndGet("SELECT group_concat(schedule, '') FROM trials WHERE task = 1").getString(),
      "ac");
  EXPECT_EQ(raw.execAndGet("SELECT converged FROM tasks WHERE id = 1").getInt(), 0);
  EXPECT_EQ(raw.execAndGet("SELECT converged FROM tasks WHERE id = 2").getInt(), 78);
}

// Earlier names of some sketches contained the position of the sketch in the list of sketches.
TEST(Schema, SketchesHaveNamesSinceVersion5) {
  SQLite::Database raw(":memory:", SQLite::OPEN_READWRITE);
  ASSERT_TRUE(Migrate(raw, "m", Migrations().first(4)).has_value());
  raw.exec(
      "INSERT INTO workloads VALUES (1, 'h', 'w', 'k', 'd', 1, 1);"
      "INSERT INTO targets VALUES (1, 'h', 't');"
      "INSERT INTO tasks(id, workload, target, policy, schedule_version, converged) "
      "VALUES (1, 1, 1, 'p', 1, 77)");
  for (const char* note : {"sketch=direct/tile2 rows=7 by=random seed=1", "sketch=direct/rows"}) {
    raw.exec(fmt::format(
        "INSERT INTO trials(task, schedule_hash, schedule, status, median_seconds, mad_seconds, "
        "samples, message, compile_ms, check_ms, measure_ms, note, created_at, tool_version) "
        "VALUES (1, 'h', 'lower direct\nsplit acc.j 16\n', 1, 1, 0, '[]', '', 0, 0, 0, '{}', 1, "
        "'')",
        note));
  }
  ASSERT_TRUE(Migrate(raw, "m", Migrations()).has_value());
  EXPECT_EQ(raw.execAndGet("SELECT group_concat(note, ';') FROM trials").getString(),
            "sketch=direct/tile/j rows=7 by=random seed=1;sketch=direct/rows");
  EXPECT_EQ(raw.execAndGet("SELECT converged FROM tasks").getInt(), 77);
}

// The migration adds the storage order of copies to schedules. Notes, times, convergences and
// charges do not change.
TEST(Schema, CopiesAreSpelledOutSinceVersion6) {
  constexpr const char* kOld = "lower direct\npack w1 1 0\nsplit acc.j 16\n";
  constexpr const char* kSpelled =
      "lower direct\npack w1 1 0\nstorage_order w1.pack 64\nsplit acc.j 16\n";
  constexpr const char* kPlain = "lower direct\nsplit acc.j 16\n";
  TempFolder folder;
  const std::string path = folder.File("t.db");
  {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    ASSERT_TRUE(Migrate(raw, path, Migrations().first(5)).has_value());
    const auto add = [&](int task, const char* schedule, double seconds) {
      raw.exec(fmt::format(
          "INSERT INTO trials(task, schedule_hash, schedule, status, median_seconds, mad_seconds, "
          "samples, message, compile_ms, check_ms, measure_ms, note, created_at, tool_version) "
          "VALUES ({}, '{}', '{}', 1, {}, 0, '[]', '', 0, 0, 0, 'a note', 1, '')",
          task, StableHash(schedule), schedule, seconds));
    };
    const std::string weight = "compute group {\n  weight w1: f32[8, 8] constant\n}\n";
    const std::string workspace = "compute group {\n  workspace w1: f32[8, 8]\n}\n";
    raw.exec(
        fmt::format("INSERT INTO workloads VALUES (1, '{}', '{}', 'k', 'd', 1, 1), "
                    "(2, '{}', '{}', 'k', 'd', 1, 1);"
                    "INSERT INTO targets VALUES (1, '{}', 't');"
                    "INSERT INTO tasks(id, workload, target, policy, schedule_version, "
                    "converged) VALUES (1, 1, 1, 'p', 1, 77), (2, 2, 1, 'p', 1, 0);"
                    "INSERT INTO charges VALUES ('m', 1, 2);"
                    "INSERT INTO artifacts(key_hash, key_text, object, hash, metadata, "
                    "created_at) VALUES ('h', 'schedule language 1', x'00', 'h', '{{}}', 1)",
                    StableHash(weight), weight, StableHash(workspace), workspace, StableHash("t")));
    add(1, kPlain, 2);
    add(1, kOld, 1);
    add(2, kOld, 1);
  }
  // Opening for reading gives the migrated data too, but does not change the file.
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    const Database database = OpenForTest(path, mode);
    const auto key = [&](const char* declaration) {
      return TuningKey{
          .workload = {.text = fmt::format("compute group {{\n  {}\n}}\n", declaration)},
          .target = "t",
          .policy = "p",
          .schedule_version = 2};
    };
    const TuningKey packed = key("weight w1: f32[8, 8] constant");
    EXPECT_EQ(database.Best(packed)->value().schedule, kSpelled);
    EXPECT_EQ(database.Best(packed)->value().note, "a note");
    EXPECT_EQ(database.Find(packed, kPlain)->value().median_seconds, 2);
    EXPECT_EQ(database.Converged(packed)->value().space, 77);
    EXPECT_EQ(*database.Charged("m"), 2);
    EXPECT_EQ(database.Best(key("workspace w1: f32[8, 8]"))->value().schedule, kOld);
    EXPECT_EQ(database.Stats()->artifacts, 0);
    EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
  }
}

// Up to version 9, a trial could have the samples of two sessions and a median that no run took.
TEST(Schema, TrialsOfSeveralSessionsAreSeedsSinceVersion10) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    ASSERT_TRUE(Migrate(raw, path, Migrations().first(9)).has_value());
    const std::string w = StableHash("w"), t = StableHash("t");
    raw.exec(
        fmt::format("INSERT INTO workloads VALUES (1, '{}', 'w', 'k', 'd', 1, 1);"
                    "INSERT INTO targets VALUES (1, '{}', 't');"
                    "INSERT INTO tasks(id, workload, target, policy, schedule_version, converged) "
                    "VALUES (1, 1, 1, 'p', 2, 77), (2, 1, 1, 'q', 2, 78)",
                    w, t));
    const auto add = [&](int task, const char* schedule, double median, const char* samples) {
      raw.exec(fmt::format(
          "INSERT INTO trials(task, schedule_hash, schedule, status, median_seconds, mad_seconds, "
          "samples, message, compile_ms, check_ms, measure_ms, note, created_at, tool_version) "
          "VALUES ({}, '{}', '{}', 1, {}, 0, '{}', '', 0, 0, 0, '', 1, '')",
          task, StableHash(schedule), schedule, median, samples));
    };
    add(1, "fake", 1, "[2.0, 2.0, 4.0]");
    add(1, "true", 3, "[3.0, 3.0]");
    add(2, "true", 3, "[2.0, 4.0]");
    add(2, "predicted", 3, "[]");
  }
  const Database database = OpenForTest(path);
  const auto key = [](const char* policy) {
    return TuningKey{
        .workload = {.text = "w"}, .target = "t", .policy = policy, .schedule_version = 2};
  };
  EXPECT_EQ(database.Best(key("p"))->value().schedule, "true");
  EXPECT_EQ(*database.CountTrials(key("p")), 1);
  EXPECT_EQ(database.Best(key("p; seeds"))->value().median_seconds, 2);
  EXPECT_EQ(*database.CountTrials(key("q")), 2);
  EXPECT_FALSE(*database.Converged(key("p")));
  EXPECT_EQ(database.Converged(key("q"))->value().space, 78);
  EXPECT_THAT(database.TakeMissReasons(),
              ElementsAre(HasSubstr("the times of 1 trials are from several sessions: they are "
                                    "seeds now; 1 converged tasks are open again")));
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
}

TEST(Schema, ForeignTablesAreNotClaimed) {
  SQLite::Database raw(":memory:", SQLite::OPEN_READWRITE);
  raw.exec("CREATE TABLE t(x)");
  const auto status = Migrate(raw, "m", Migrations());
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(raw.execAndGet("PRAGMA application_id").getInt(), 0);
}

TEST(DefaultPath, FoldersAreMadeButNotOverFiles) {
  TempFolder folder;
  const std::string path = folder.File("a");
  ASSERT_TRUE(MakePrivateFolders(path + "/b"));
  EXPECT_TRUE(std::filesystem::is_directory(path + "/b"));
  EXPECT_TRUE(MakePrivateFolders(path + "/b"));
  std::ofstream(path + "/file") << "x";
  const Status status = MakePrivateFolders(path + "/file");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
}

TEST(DefaultPath, FollowsTheEnvironment) {
  const auto path_with = [](const char* cache, const char* home) {
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    return DefaultDatabasePath().value_or("none");
  };
  const auto value_of = [](const char* name) {
    const char* const value = getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string cache = value_of("XDG_CACHE_HOME");
  const std::string home = value_of("HOME");
  EXPECT_EQ(path_with("/c", "/h"), "/c/tunec/tunec.db");
  EXPECT_EQ(path_with("", "/h"), "/h/.cache/tunec/tunec.db");
  EXPECT_EQ(path_with("relative", "/h"), "/h/.cache/tunec/tunec.db");
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace tunec
