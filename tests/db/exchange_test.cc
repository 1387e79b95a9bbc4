#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <limits>

#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ExchangeCounts kNothing{};

/// Returns a key of imported tasks. Its schedules have version 2 of their language: an import
/// converts version 1, which is in exports up to version 3.
TuningKey KeyOfExports(const char* workload = "w") {
  return {.workload = {.text = workload}, .target = "x86-64", .policy = "p", .schedule_version = 2};
}

/// Records data of every kind that exports contain. Databases of the salts 0 and 1 have some keys
/// and schedules in common.
void Fill(Database& database, int salt) {
  for (int task = 0; task < 4; ++task) {
    TuningKey key = SampleKey(task + salt);
    if (task == 2) key.target = "sm_90 cuda";
    if (task == 3) key.workload.kind = "conv2d";
    for (int n = 0; n < 5; ++n) {
      TrialRecord trial = OkTrial(n + salt, 1 + n + 0.1 * salt);
      if (n == 3) trial = FailedTrial(n, static_cast<TrialStatus>(2 + std::abs(task + salt) % 6));
      if (n == 4) trial.accuracy_error = std::numeric_limits<double>::infinity();
      ASSERT_TRUE(database.RecordTrial(key, trial, n % 2 == 0 ? "m" : "").has_value());
    }
    if (task == salt) {
      ASSERT_TRUE(database.SetConverged(key, {3, ConvergenceReason::kStale, 64}).has_value());
    }
  }
  ASSERT_TRUE(database.SetMachineFact("cpu", {"peak", 1e11 + salt, "fma", 10}).has_value());
  ASSERT_TRUE(database.SetMachineFact("cpu", {"only", 1, "", 10 + salt}).has_value());
}

TEST(Exchange, ExportImportExportIsTheSame) {
  Database first = OpenForTest();
  Fill(first, 0);
  const std::string text = ExportText(first);
  std::istringstream in(text);
  Database second = OpenForTest();
  const auto counts = second.Import(in, "lines", TimesFrom::kThisMachine);
  ASSERT_TRUE(counts.has_value()) << counts.error().Format();
  EXPECT_EQ(*counts, (ExchangeCounts{.added = 22}));
  EXPECT_EQ(ExportText(second), text);
  EXPECT_EQ(second.IntegrityCheck()->size(), 0u);
}

// Exports of version 1 have no reasons of convergences. The imported reason is kUnknown.
TEST(Exchange, ReadsTheFirstVersion) {
  std::istringstream in(R"({"record":"tunec_database","version":1}
{"record":"target","id":1,"text":"x86-64"}
{"record":"workload","id":1,"kind":"matmul","description":"fc1","flops":2e9,"bytes":1e6,"text":"w"}
{"record":"task","id":1,"workload":1,"target":1,"policy":"p","schedule_version":1,"converged":9}
)");
  Database database = OpenForTest();
  ASSERT_TRUE(database.Import(in, "lines", TimesFrom::kThisMachine).has_value());
  TuningKey key = KeyOfExports();
  EXPECT_EQ(database.Converged(key)->value(), (Convergence{9, ConvergenceReason::kUnknown, 0}));
  std::istringstream newer(R"({"record":"tunec_database","version":8})");
  EXPECT_EQ(database.Import(newer, "lines", TimesFrom::kThisMachine).error().code,
            ErrorCode::kUnsupported);
}

// Older checkers rejected some correct results, so imports of older exports omit wrong results.
TEST(Exchange, WrongResultsOfOlderVersionsAreLeftOut) {
  const auto trial = [](const char* status, const char* schedule) {
    return fmt::format(
        R"({{"record":"trial","task":1,"status":"{}","median_seconds":0.001,"mad_seconds":0,)"
        R"("samples":[0.001],"accuracy_error":0,"schedule":"{}","message":"","compile_ms":9,)"
        R"("check_ms":2,"measure_ms":30,"note":"","created_at":1,"tool_version":"0"}})"
        "\n",
        status, schedule);
  };
  const auto export_of = [&](int version) {
    return std::istringstream(
        fmt::format(R"({{"record":"tunec_database","version":{}}})", version) +
        R"(
{"record":"target","id":1,"text":"x86-64"}
{"record":"workload","id":1,"kind":"matmul","description":"fc1","flops":2,"bytes":1,"text":"w"}
{"record":"task","id":1,"workload":1,"target":1,"policy":"p","schedule_version":)" +
        (version < 4 ? "1" : "2") + R"(,"converged":9)" +
        (version == 1 ? "}\n"
                      : R"(,"converged_by":0,"converged_bound":0.0})"
                        "\n") +
        trial("ok", "a") + trial("wrong result", "b"));
  };
  const TuningKey key = KeyOfExports();
  for (const int version : {1, 5, 6}) {
    std::istringstream in = export_of(version);
    Database database = OpenForTest();
    const auto counts = database.Import(in, "lines", TimesFrom::kThisMachine);
    ASSERT_TRUE(counts.has_value()) << counts.error().Format();
    EXPECT_EQ(database.CountTrials(key), version < 6 ? 1 : 2);
    EXPECT_EQ(database.Converged(key)->has_value(), version == 6);
  }
}

// In exports up to version 2, some sketch names contain the position in the list of sketches.
TEST(Exchange, SketchesOfOlderVersionsGetTheirNames) {
  const TuningKey key = KeyOfExports();
  for (const int version : {1, 2, 3}) {
    std::istringstream in(
        fmt::format(R"({{"record":"tunec_database","version":{}}})", version) +
        R"(
{"record":"target","id":1,"text":"x86-64"}
{"record":"workload","id":1,"kind":"matmul","description":"fc1","flops":2,"bytes":1,"text":"w"}
{"record":"task","id":1,"workload":1,"target":1,"policy":"p","schedule_version":1,"converged":0}
{"record":"trial","task":1,"status":"ok","median_seconds":0.001,"mad_seconds":0,"samples":[0.001],)"
        R"("accuracy_error":0,"schedule":"lower direct\nsplit acc.j 16\n",)"
        R"("message":"","compile_ms":9,"check_ms":2,"measure_ms":30,)"
        R"("note":"sketch=direct/tile2 rows=7","created_at":1,"tool_version":"0"})"
        "\n");
    Database database = OpenForTest();
    ASSERT_TRUE(database.Import(in, "lines", TimesFrom::kThisMachine).has_value());
    EXPECT_EQ(database.Best(key)->value().note,
              version < 3 ? "sketch=direct/tile/j rows=7" : "sketch=direct/tile2 rows=7");
  }
}

// In exports up to version 3, schedules do not state the storage order of copies.
TEST(Exchange, SchedulesOfOlderVersionsSpellOutTheirCopies) {
  const char* workload = "compute group {\n  weight w1: f32[8, 8] constant\n}\n";
  const auto trial = [](const char* schedule) {
    return fmt::format(
        R"({{"record":"trial","task":1,"status":"ok","median_seconds":0.001,"mad_seconds":0,)"
        R"("samples":[0.001],"accuracy_error":0,"schedule":"{}",)"
        R"("message":"","compile_ms":9,"check_ms":2,"measure_ms":30,)"
        R"("note":"","created_at":1,"tool_version":"0"}})"
        "\n",
        schedule);
  };
  for (const int version : {1, 2, 3, 4}) {
    std::istringstream in(fmt::format(R"({{"record":"tunec_database","version":{}}})", version) +
                          R"(
{"record":"target","id":1,"text":"x86-64"}
{"record":"workload","id":1,"kind":"matmul","description":"fc1","flops":2,"bytes":1,"text":)"
                          R"("compute group {\n  weight w1: f32[8, 8] constant\n}\n"}
{"record":"task","id":1,"workload":1,"target":1,"policy":"p","schedule_version":1,"converged":7}
)" + trial(R"(lower direct\npack w1 1 0\nsplit acc.j 16\n)") +
                          R"({"record":"charge","task":1,"model":"m","trials":1})"
                          "\n");
    Database database = OpenForTest();
    ASSERT_TRUE(database.Import(in, "lines", TimesFrom::kThisMachine).has_value());
    TuningKey key = KeyOfExports(workload);
    if (version == 4) key.schedule_version = 1;
    EXPECT_EQ(database.Best(key)->value().schedule,
              version == 4
                  ? "lower direct\npack w1 1 0\nsplit acc.j 16\n"
                  : "lower direct\npack w1 1 0\nstorage_order w1.pack 64\nsplit acc.j 16\n");
    EXPECT_EQ(database.Converged(key)->value().space, 7);
    EXPECT_EQ(*database.Charged("m"), 1);
    EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
  }
}

TEST(Exchange, ImportingTwiceKeepsEverything) {
  Database database = OpenForTest();
  Fill(database, 0);
  const std::string text = ExportText(database);
  std::istringstream in(text);
  EXPECT_EQ(database.Import(in, "lines", TimesFrom::kThisMachine),
            (ExchangeCounts{.unchanged = 22}));
  EXPECT_EQ(ExportText(database), text);
}

TEST(Exchange, ExportDoesNotDependOnTheOrderOfRecording) {
  Database forth = OpenForTest();
  Database back = OpenForTest();
  for (int n = 0; n < 6; ++n) {
    ASSERT_TRUE(forth.RecordTrial(SampleKey(n % 2), OkTrial(n, 1 + n)).has_value());
    ASSERT_TRUE(back.RecordTrial(SampleKey((5 - n) % 2), OkTrial(5 - n, 6 - n)).has_value());
  }
  EXPECT_EQ(ExportText(forth), ExportText(back));
}

TEST(Exchange, ExportsMayBeConcatenated) {
  Database first = OpenForTest();
  Database second = OpenForTest();
  Fill(first, 0);
  Fill(second, 1);
  std::istringstream in(ExportText(first) + ExportText(second));
  Database both = OpenForTest();
  ASSERT_TRUE(both.Import(in, "lines", TimesFrom::kThisMachine).has_value());
  std::istringstream more(ExportText(second));
  ASSERT_TRUE(first.Import(more, "lines", TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(ExportText(both), ExportText(first));
}

TEST(Exchange, FileIsWrittenWholeOrNotAtAll) {
  TempFolder folder;
  Database database = OpenForTest();
  Fill(database, 0);
  ASSERT_TRUE(database.ExportFile(folder.File("out.jsonl")).has_value());
  EXPECT_EQ(ReadBytes(folder.File("out.jsonl")), ExportText(database));
  Database other = OpenForTest();
  ASSERT_TRUE(other.ImportFile(folder.File("out.jsonl"), TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(ExportText(other), ExportText(database));

  std::filesystem::create_directory(folder.File("taken"));
  WriteBytes(folder.File("taken/file"), "x");
  const Status status = database.ExportFile(folder.File("taken"));
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2) << "a temporary file was left";
  EXPECT_FALSE(database.ExportFile(folder.File("no/such/folder")).has_value());
}

TEST(Exchange, ImportOfNoFile) {
  TempFolder folder;
  Database database = OpenForTest();
  EXPECT_EQ(database.ImportFile(folder.File("none"), TimesFrom::kThisMachine).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(database.ImportFile(folder.path(), TimesFrom::kThisMachine).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Exchange, MalformedLineIsNamedAndNothingImported) {
  Database source = OpenForTest();
  Fill(source, 0);
  const std::string good = ExportText(source);
  const struct {
    const char* line;
    const char* message;
  } kCases[] = {
      {"{", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{\"record\": \"trial\", \xff}", "not a JSON object"},
      {"{}", "field 'record' is missing"},
      {R"({"record": "trail"})", "unknown record 'trail'"},
      {R"({"record": "target", "id": 9})", "field 'text' is missing"},
      {R"({"record": "target", "id": "9", "text": "t"})", "field 'id' has a wrong value"},
      {R"({"record": "target", "id": 18446744073709551615, "text": "t"})",
       "field 'id' has a wrong value"},
      {R"({"record": "target", "id": 9, "text": "t", "more": 1})", "1 unknown or repeated fields"},
      {R"({"record": "target", "id": 9, "text": ""})", "target text is empty"},
      {R"({"record": "target", "id": 9, "text": "a\u0000b"})", "target text is not UTF-8"},
      {R"({"record": "tunec_database", "version": 8})", "export version 8, expected at most 7"},
      {R"({"record": "machine", "target": 77, "name": "n", "value": 1, "text": "",)"
       R"( "created_at": 1})",
       "target 77 is not defined in an earlier line"},
      {R"({"record": "task", "id": 9, "workload": 1, "target": 1, "policy": "",)"
       R"( "schedule_version": 4294967297, "converged": 0})",
       "schedule version is 4294967297"},
      {R"({"record": "charge", "task": 1, "model": "m", "trials": -1})",
       "a charge of model 'm' has -1 trials"},
  };
  for (const auto& [line, message] : kCases) {
    Database database = OpenForTest();
    std::istringstream in(good + line + "\n");
    const auto counts = database.Import(in, "lines", TimesFrom::kThisMachine);
    ASSERT_FALSE(counts.has_value()) << line;
    EXPECT_THAT(counts.error().message, HasSubstr(message));
    const int lines = static_cast<int>(std::count(good.begin(), good.end(), '\n'));
    EXPECT_EQ(counts.error().where, (SourceLocation{"lines", lines + 1, 0}));
    EXPECT_EQ(database.Stats()->trials, 0);
    EXPECT_EQ(database.Stats()->targets.size(), 0u);
  }
}

TEST(Exchange, ImportWithoutHeaderIsRejected) {
  Database database = OpenForTest();
  std::istringstream in(R"({"record": "target", "id": 1, "text": "t"})");
  const auto counts = database.Import(in, "lines", TimesFrom::kThisMachine);
  ASSERT_FALSE(counts.has_value());
  EXPECT_EQ(counts.error().Format(), "lines:1: error: the first record is not 'tunec_database'");
}

TEST(Exchange, EveryPrefixOfAnExportIsRejectedOrTaken) {
  Database source = OpenForTest();
  ASSERT_TRUE(source.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  const std::string text = ExportText(source);
  for (size_t size = 0; size < text.size(); ++size) {
    Database database = OpenForTest();
    std::istringstream in(text.substr(0, size));
    const auto counts = database.Import(in, "lines", TimesFrom::kThisMachine);
    EXPECT_TRUE(counts || counts.error().code == ErrorCode::kParse);
  }
}

TEST(Exchange, DeeplyNestedLineIsRejected) {
  Database database = OpenForTest();
  std::istringstream in(std::string(1 << 20, '['));
  EXPECT_FALSE(database.Import(in, "lines", TimesFrom::kThisMachine).has_value());
  std::istringstream closed(std::string(1 << 20, '[') + std::string(1 << 20, ']'));
  EXPECT_FALSE(database.Import(closed, "lines", TimesFrom::kThisMachine).has_value());
}

class Merge : public testing::Test {
 protected:
  void SetUp() override {
    Database a = OpenForTest(a_);
    Database b = OpenForTest(b_);
    Fill(a, 0);
    Fill(b, 1);
    // Of two schedules that are in both databases, each database has the preferred trial of one.
    TrialRecord longer = OkTrial(1, 9);
    longer.samples = {9, 9, 9, 9};
    ASSERT_TRUE(a.RecordTrial(SampleKey(1), longer).has_value());
    const TrialRecord wrong = FailedTrial(2, TrialStatus::kWrongResult);
    ASSERT_TRUE(b.RecordTrial(SampleKey(1), wrong).has_value());
    // Both trials of this schedule have the same status and the same number of samples.
    TrialRecord equal = OkTrial(20, 5);
    ASSERT_TRUE(a.RecordTrial(SampleKey(1), equal).has_value());
    equal.median_seconds = 4;
    equal.samples = {4, 4, 4};
    ASSERT_TRUE(b.RecordTrial(SampleKey(1), equal).has_value());
    TuningKey described = SampleKey(2);
    described.workload.description = "z";
    ASSERT_TRUE(b.RecordTrial(described, OkTrial(9, 9)).has_value());
    ASSERT_TRUE(a.PutArtifact("both", {"old", "{}", 1}).has_value());
    ASSERT_TRUE(b.PutArtifact("both", {"new", "{}", 2}).has_value());
    ASSERT_TRUE(a.PutArtifact("a", {"a", "{}", 1}).has_value());
    ASSERT_TRUE(b.PutArtifact("b", {"b", "{}", 1}).has_value());
  }

  TempFolder folder_;
  std::string a_ = folder_.File("a.db");
  std::string b_ = folder_.File("b.db");
};

TEST_F(Merge, IsTheSameWhicheverWayRound) {
  Database ab = OpenForTest(folder_.File("ab.db"));
  ASSERT_TRUE(ab.Merge(a_, TimesFrom::kThisMachine).has_value());
  ASSERT_TRUE(ab.Merge(b_, TimesFrom::kThisMachine).has_value());
  Database ba = OpenForTest(folder_.File("ba.db"));
  ASSERT_TRUE(ba.Merge(b_, TimesFrom::kThisMachine).has_value());
  ASSERT_TRUE(ba.Merge(a_, TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(ExportText(ab), ExportText(ba));
  for (Database* merged : {&ab, &ba}) {
    EXPECT_EQ(merged->Stats()->artifacts, 0);
    EXPECT_EQ(merged->Find(SampleKey(1), OkTrial(1, 1).schedule)->value().median_seconds, 9);
    EXPECT_EQ(merged->Find(SampleKey(1), OkTrial(2, 1).schedule)->value().status,
              TrialStatus::kWrongResult);
    EXPECT_THAT(*merged->IntegrityCheck(), IsEmpty());
  }
  Database a = OpenForTest(a_);
  ASSERT_TRUE(a.Merge(b_, TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(ExportText(a), ExportText(ab));
}

TEST_F(Merge, AgainChangesNothing) {
  Database a = OpenForTest(a_);
  const auto first = a.Merge(b_, TimesFrom::kThisMachine);
  ASSERT_TRUE(first.has_value()) << first.error().Format();
  EXPECT_GT(first->added, 0);
  EXPECT_GT(first->replaced, 0);
  const std::string text = ExportText(a);
  const auto again = a.Merge(b_, TimesFrom::kThisMachine);
  EXPECT_EQ(again->added, 0);
  EXPECT_EQ(again->replaced, 0);
  EXPECT_EQ(ExportText(a), text);
}

TEST_F(Merge, WithItselfIsNothing) {
  Database a = OpenForTest(a_);
  EXPECT_EQ(a.Merge(a_, TimesFrom::kThisMachine), kNothing);
  EXPECT_EQ(a.Merge(folder_.path() / "." / "a.db", TimesFrom::kThisMachine), kNothing);
}

TEST_F(Merge, LeavesTheOtherFileAsItIs) {
  const std::string before = ReadBytes(b_);
  Database a = OpenForTest(a_);
  ASSERT_TRUE(a.Merge(b_, TimesFrom::kThisMachine).has_value());
  EXPECT_TRUE(ReadBytes(b_) == before);
  WriteBytes(folder_.File("garbage"), "garbage");
  EXPECT_EQ(a.Merge(folder_.File("garbage"), TimesFrom::kThisMachine).error().code,
            ErrorCode::kParse);
  EXPECT_EQ(a.Merge(folder_.File("none"), TimesFrom::kThisMachine).error().code,
            ErrorCode::kNotFound);
}

TEST_F(Merge, PassesOverDamagedRowsWithAReason) {
  SQLite::Database(b_, SQLite::OPEN_READWRITE).exec("UPDATE trials SET samples = '' WHERE id = 1");
  Database a = OpenForTest(a_);
  ASSERT_TRUE(a.Merge(b_, TimesFrom::kThisMachine).has_value());
  EXPECT_THAT(a.TakeMissReasons(), ElementsAre(HasSubstr(b_ + ": trial 1 passed over")));
}

TEST_F(Merge, PassesOverNegativeCharges) {
  SQLite::Database(b_, SQLite::OPEN_READWRITE)
      .exec("INSERT INTO charges VALUES ('negative', 1, -9)");
  const Database b = OpenForTest(b_);
  EXPECT_EQ(*b.Charged("negative"), 0);
  EXPECT_THAT(*b.IntegrityCheck(),
              ElementsAre("charge of task 1: a charge of model 'negative' has -9 trials"));
  Database a = OpenForTest(a_);
  ASSERT_TRUE(a.Merge(b_, TimesFrom::kThisMachine).has_value());
  EXPECT_THAT(a.TakeMissReasons(),
              ElementsAre(HasSubstr("a charge of model 'negative' has -9 trials")));
}

// Objects are executable code, so a merge copies no object from another file.
TEST_F(Merge, LeavesObjectsOut) {
  Database a = OpenForTest(a_);
  ASSERT_TRUE(a.Merge(b_, TimesFrom::kThisMachine).has_value());
  EXPECT_FALSE(a.GetArtifact("b")->has_value());
  EXPECT_EQ(a.GetArtifact("both")->value().object, "old");
  EXPECT_EQ(a.Stats()->artifacts, 2);
}

// Times of another machine are not compared with own times: they are stored under a separate
// policy. A fast time there does not change the best trial here.
TEST_F(Merge, FromElsewhereBringsOnlySeeds) {
  Database a = OpenForTest(a_);
  {
    Database b = OpenForTest(b_);
    ASSERT_TRUE(b.RecordTrial(SampleKey(1), OkTrial(30, 1e-9), "model").has_value());
    ASSERT_TRUE(b.Choose(SampleKey(1), OkTrial(30, 1).schedule).has_value());
    ASSERT_TRUE(b.SetConverged(SampleKey(1), {99, ConvergenceReason::kStale, 1}).has_value());
    ASSERT_TRUE(b.SetMachineFact(SampleKey().target, {"peak_flops", 1e15, "", 2'000'000'000}));
  }
  const auto best = a.Best(SampleKey(1));
  const auto converged = a.Converged(SampleKey(1));
  const auto fact = a.GetMachineFact(SampleKey().target, "peak_flops");
  const auto first = a.Merge(b_, TimesFrom::kElsewhere);
  ASSERT_TRUE(first.has_value()) << first.error().Format();
  EXPECT_GT(first->added, 0);
  EXPECT_EQ(*a.Best(SampleKey(1)), *best);
  EXPECT_EQ(*a.Converged(SampleKey(1)), *converged);
  EXPECT_EQ(*a.GetMachineFact(SampleKey().target, "peak_flops"), *fact);
  EXPECT_EQ(a.Charged("model")->value_or(0), 0);
  TuningKey seeds = SampleKey(1);
  seeds.policy = SeedsPolicy(seeds.policy);
  EXPECT_EQ(a.Best(seeds)->value().schedule, OkTrial(30, 1).schedule);
  EXPECT_EQ(a.Chosen(seeds)->value_or("none"), "none");
  EXPECT_EQ(a.Merge(b_, TimesFrom::kElsewhere)->added, 0);
  EXPECT_THAT(*a.IntegrityCheck(), IsEmpty());
}

// The choice of a trial is exported and merged. If both databases have
// a choice, that of the later trial is stored.
TEST_F(Merge, BringsChoices) {
  Database a = OpenForTest(a_);
  Database b = OpenForTest(b_);
  ASSERT_TRUE(a.RecordTrial(SampleKey(3), OkTrial(40, 1)).has_value());
  ASSERT_TRUE(a.RecordTrial(SampleKey(3), OkTrial(41, 2)).has_value());
  ASSERT_TRUE(a.Choose(SampleKey(3), OkTrial(41, 2).schedule).has_value());
  ASSERT_TRUE(b.Merge(a_, TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(b.Best(SampleKey(3))->value().schedule, OkTrial(41, 2).schedule);
  ASSERT_TRUE(b.Choose(SampleKey(3), OkTrial(40, 1).schedule).has_value());
  ASSERT_TRUE(b.Merge(a_, TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(b.Chosen(SampleKey(3))->value(), OkTrial(41, 2).schedule);
  EXPECT_NE(ExportText(b).find("\"chosen\":true"), std::string::npos);
}

// An export of an earlier version may have a changed median.
TEST(Import, TrialsOfSeveralSessionsAreSeeds) {
  Database database = OpenForTest();
  TrialRecord mixed = OkTrial(1, 1);
  mixed.samples = {3, 3, 3};
  ASSERT_TRUE(database.RecordTrial(SampleKey(), mixed).has_value());
  std::istringstream in(ExportText(database));
  Database other = OpenForTest();
  ASSERT_TRUE(other.Import(in, "lines", TimesFrom::kThisMachine).has_value());
  EXPECT_EQ(*other.CountTrials(SampleKey()), 0);
  TuningKey seeds = SampleKey();
  seeds.policy = SeedsPolicy(seeds.policy);
  EXPECT_EQ(other.Best(seeds)->value().median_seconds, 3);
}

TEST(Upkeep, PruneKeepsTheBest) {
  Database database = OpenForTest();
  for (int n = 1; n <= 9; ++n) {
    ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(n, n)).has_value());
  }
  const TrialRecord failed = FailedTrial(10, TrialStatus::kCrashed);
  ASSERT_TRUE(database.RecordTrial(SampleKey(), failed).has_value());
  ASSERT_TRUE(database.RecordTrial(SampleKey(1), failed).has_value());

  const int64_t epoch = 1'700'000'000;
  EXPECT_EQ(database.Prune({.created_before = epoch + 5, .keep_best = 2}),
            (PruneCounts{.trials = 2}));
  EXPECT_EQ(database.CountTrials(SampleKey()), 8);
  EXPECT_EQ(database.Prune({.keep_best = 2}), (PruneCounts{.trials = 7, .tasks = 1}));
  EXPECT_EQ(database.Trials(SampleKey())->size(), 2u);
  EXPECT_EQ(database.Best(SampleKey())->value().median_seconds, 1);
  EXPECT_EQ(database.Stats()->workloads, 1);
  EXPECT_EQ(database.Prune({.keep_best = 0}), (PruneCounts{.trials = 2, .tasks = 1}));
  EXPECT_EQ(database.Stats()->targets.size(), 0u);
  EXPECT_FALSE(database.Prune({.keep_best = -1}).has_value());
}

TEST(Upkeep, PruneByDateTakesOldArtifactsAndKeepsFacts) {
  Database database = OpenForTest();
  ASSERT_TRUE(database.PutArtifact("old", {"o", "{}", 10}).has_value());
  ASSERT_TRUE(database.PutArtifact("new", {"n", "{}", 20}).has_value());
  ASSERT_TRUE(database.SetMachineFact("cpu", {"peak", 1, "", 5}).has_value());
  EXPECT_EQ(database.Prune({.keep_best = 1}), PruneCounts{});
  EXPECT_EQ(database.Prune({.created_before = 20}), (PruneCounts{.artifacts = 1}));
  EXPECT_FALSE(database.GetArtifact("old")->has_value());
  EXPECT_TRUE(database.GetArtifact("new")->has_value());
  EXPECT_TRUE(database.GetMachineFact("cpu", "peak")->has_value());
}

TEST(Upkeep, CompactGivesSpaceBack) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  {
    Database database = OpenForTest(path);
    ASSERT_TRUE(database.PutArtifact("k", {std::string(1 << 20, 'x'), "{}", 1}).has_value());
    ASSERT_TRUE(database.Prune({.created_before = 2}).has_value());
    ASSERT_TRUE(database.Compact().has_value());
  }
  EXPECT_LT(std::filesystem::file_size(path), 200'000u);
}

TEST(Upkeep, IntegrityCheckFindsWhatDoesNotFit) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  Database database = OpenForTest(path);
  Fill(database, 0);
  ASSERT_TRUE(database.PutArtifact("k", {"x", "{}", 1}).has_value());
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec(
          "PRAGMA foreign_keys = OFF;"
          "UPDATE artifacts SET object = x'00';"
          "UPDATE workloads SET text = 'changed' WHERE id = 1;"
          "UPDATE trials SET schedule = (SELECT schedule FROM trials WHERE id = 2) WHERE id = 1;"
          "UPDATE trials SET task = 999 WHERE id = 3");
  const auto references = database.IntegrityCheck();
  EXPECT_THAT(*references,
              ElementsAre("table trials row 3 refers to a row of tasks that is missing"));
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("DELETE FROM trials WHERE id = 3");
  EXPECT_THAT(*database.IntegrityCheck(),
              ElementsAre("workload 1: its hash does not match",
                          "schedule of trial 1: its hash does not match",
                          HasSubstr("schedule stored 2 times: lower direct"),
                          "artifact 1: its object and metadata do not match their hash"));
}

TEST(Upkeep, IntegrityCheckFindsValuesThatReadingPassesOver) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  Database database = OpenForTest(path);
  Fill(database, 0);
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec(
          "UPDATE trials SET median_seconds = -1 WHERE id = 1;"
          "UPDATE trials SET samples = '[1,' WHERE id = 2;"
          "UPDATE tasks SET schedule_version = 0 WHERE id = 1");
  EXPECT_THAT(*database.IntegrityCheck(),
              ElementsAre("task 1: schedule version is 0, expected at least 1",
                          "trial 1: median is -1, expected a finite number not below 0",
                          "trial 2: samples are not a list of numbers"));
  EXPECT_EQ(database.List({})->size(), 3u);
  EXPECT_THAT(database.TakeMissReasons(),
              testing::Contains(HasSubstr("task 1 passed over: schedule version is 0")));
}

TEST(Exchange, DamagedTextStopsTheExportAndIsNamed) {
  const struct {
    const char* sql;
    const char* message;
  } kCases[] = {
      {"UPDATE workloads SET description = CAST(x'ff' AS TEXT) WHERE id = 1",
       ": task 1: workload description is not UTF-8 text without zero bytes"},
      {"UPDATE targets SET text = CAST(x'41ff' AS TEXT) WHERE id = 2",
       ": target 2: text is not UTF-8 text without zero bytes"},
      {"UPDATE tasks SET policy = CAST(x'80' AS TEXT) WHERE id = 2",
       ": task 2: policy text is not UTF-8 text without zero bytes"},
  };
  for (const auto& [sql, message] : kCases) {
    TempFolder folder;
    const std::string path = folder.File("t.db");
    Database database = OpenForTest(path);
    Fill(database, 0);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
    std::ostringstream out;
    const Status status = database.Export(out);
    ASSERT_FALSE(status.has_value()) << sql;
    EXPECT_EQ(status.error().code, ErrorCode::kParse);
    EXPECT_EQ(status.error().message, path + message);
    EXPECT_FALSE(OpenForTest().Merge(path, TimesFrom::kThisMachine).has_value());
  }
}

}  // namespace
}  // namespace tunec
