#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Artifacts, ComeBackAsTheyWereStored) {
  Database database = OpenForTest();
  const Artifact artifact{std::string("\x7f"
                                      "ELF\0\xff\x00",
                                      7),
                          R"({"entry": "k"})", 5};
  ASSERT_TRUE(database.PutArtifact("key", artifact).has_value());
  EXPECT_EQ(database.GetArtifact("key")->value(), artifact);
  const Artifact empty{"", "[]", 6};
  ASSERT_TRUE(database.PutArtifact("key", empty).has_value());
  EXPECT_EQ(database.GetArtifact("key")->value(), empty);
  EXPECT_EQ(database.Stats()->artifacts, 1);
}

TEST(Artifacts, UnknownKeyIsASilentMiss) {
  const Database database = OpenForTest();
  EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
  EXPECT_THAT(database.TakeMissReasons(), IsEmpty());
}

TEST(Artifacts, TheOldestAreRemovedBeyondALimit) {
  Database database = OpenForTest();
  const std::string object(1000, 'x');
  for (int i = 0; i < 10; ++i) {
    const int date = i == 0 ? 100 : i;  // the first one is the newest
    ASSERT_TRUE(database.PutArtifact("key " + std::to_string(i),
                                     {.object = object, .metadata = "{}", .created_at = date}));
  }
  EXPECT_EQ(*database.EvictArtifacts(10'000), 0);
  EXPECT_EQ(*database.EvictArtifacts(4'999), 6);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(database.GetArtifact("key " + std::to_string(i))->has_value(), i == 0 || i > 6) << i;
  EXPECT_EQ(*database.EvictArtifacts(0), 4);
  EXPECT_EQ(*database.EvictArtifacts(0), 0);
}

TEST(Artifacts, MetadataMustBeJson) {
  Database database = OpenForTest();
  const Status status = database.PutArtifact("key", {"x", "{", 0});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "artifact metadata is not JSON");
}

TEST(Artifacts, DamagedObjectIsAMissWithAReason) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  Database database = OpenForTest(path);
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  Tamper(path, "UPDATE artifacts SET object = x'00'");
  EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
  EXPECT_THAT(
      database.TakeMissReasons(),
      ElementsAre(path +
                  ": artifact 1 passed over: its object and metadata do not match their hash"));
  EXPECT_THAT(database.TakeMissReasons(), IsEmpty());
  // Storing the artifact again repairs the row.
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  EXPECT_TRUE(database.GetArtifact("key")->has_value());
}

TEST(Artifacts, DamagedMetadataIsAMissWithAReason) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  Tamper(folder.File("t.db"), "UPDATE artifacts SET metadata = '{\"a\":'");
  EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
  EXPECT_THAT(database.TakeMissReasons(), ElementsAre(HasSubstr("do not match their hash")));
}

/// Returns an SQL expression whose value is `bytes`, converted to the SQL type `type`.
std::string Literal(const std::string& bytes, const char* type) {
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return fmt::format("CAST(x'{}' AS {})", digits, type);
}

TEST(Artifacts, OneFlippedBitIsAMissWithAReason) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  Database database = OpenForTest(path);
  const std::string key = "target avx2\npolicy warm";
  const Artifact artifact{std::string("\x7f"
                                      "ELF\0code",
                                      9),
                          R"({"arguments": ["in0", "in1", "out0"]})", 5};
  ASSERT_TRUE(database.PutArtifact(key, artifact).has_value());
  SQLite::Database raw(path, SQLite::OPEN_READWRITE);
  const auto set = [&](const char* column, const std::string& bytes, const char* type) {
    raw.exec(fmt::format("UPDATE artifacts SET {} = {}", column, Literal(bytes, type)));
  };
  const struct {
    const char* column;
    const char* type;
    std::string bytes;
  } kColumns[] = {{"key_text", "TEXT", key},
                  {"object", "BLOB", artifact.object},
                  {"metadata", "TEXT", artifact.metadata}};
  for (const auto& [column, type, bytes] : kColumns) {
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      set(column, damaged, type);
      EXPECT_EQ(database.GetArtifact(key).value(), std::nullopt) << column << " bit " << bit;
      EXPECT_THAT(database.TakeMissReasons(), ElementsAre(HasSubstr("artifact 1 passed over")));
      EXPECT_THAT(*database.IntegrityCheck(), ElementsAre(HasSubstr("artifact 1: its ")));
      set(column, bytes, type);
    }
  }
  EXPECT_EQ(database.GetArtifact(key)->value(), artifact);
}

TEST(Artifacts, MetadataOfAnotherKeyIsAMiss) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.PutArtifact("a", {"object", R"(["in0"])", 5}).has_value());
  ASSERT_TRUE(database.PutArtifact("b", {"object", R"(["in1"])", 5}).has_value());
  Tamper(folder.File("t.db"),
         "UPDATE artifacts SET metadata = (SELECT metadata FROM artifacts WHERE key_text = 'b')");
  EXPECT_EQ(database.GetArtifact("a").value(), std::nullopt);
  EXPECT_TRUE(database.GetArtifact("b")->has_value());
}

TEST(Artifacts, DamagedKeyIsReplaced) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  Tamper(folder.File("t.db"), "UPDATE artifacts SET key_text = 'other'");
  EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
  EXPECT_THAT(database.TakeMissReasons(), ElementsAre(HasSubstr("its key does not match")));
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  EXPECT_TRUE(database.GetArtifact("key")->has_value());
  EXPECT_EQ(database.Stats()->artifacts, 1);
}

TEST(Artifacts, DamagedTrialIsPassedOverWithAReason) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  for (int n = 1; n <= 4; ++n) {
    ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(n, n)).has_value());
  }
  Tamper(folder.File("t.db"),
         "UPDATE trials SET samples = '[1,' WHERE id = 1;"
         "UPDATE trials SET status = 99 WHERE id = 2;"
         "UPDATE trials SET median_seconds = NULL WHERE id = 3");
  EXPECT_EQ(database.Trials(SampleKey())->size(), 1u);
  EXPECT_THAT(database.TakeMissReasons(),
              ElementsAre(HasSubstr("trial 1 passed over: samples are not a list of numbers"),
                          HasSubstr("trial 2 passed over: trial status is 99"),
                          HasSubstr("trial 3 passed over: median of an ok trial is 0")));
  EXPECT_EQ(database.Best(SampleKey())->value().id, 4);
  // Recording a trial of the same schedule again repairs the row.
  EXPECT_EQ(database.RecordTrial(SampleKey(), OkTrial(1, 1)), RecordOutcome::kReplaced);
  EXPECT_EQ(database.Best(SampleKey())->value().id, 1);
}

TEST(MachineFacts, AreKeptPerTarget) {
  Database database = OpenForTest();
  const MachineFact peak{"peak_flops", 1.8e11, "fma, one core", 7};
  const MachineFact bandwidth{"dram_bytes_per_second", 2e10, "triad", 7};
  ASSERT_TRUE(database.SetMachineFact("cpu", peak).has_value());
  ASSERT_TRUE(database.SetMachineFact("cpu", bandwidth).has_value());
  EXPECT_EQ(database.GetMachineFact("cpu", "peak_flops")->value(), peak);
  EXPECT_THAT(*database.MachineFacts("cpu"), ElementsAre(bandwidth, peak));
  EXPECT_EQ(database.GetMachineFact("gpu", "peak_flops").value(), std::nullopt);
  // The fact of the latest call is stored, even if its date is older.
  const MachineFact again{"peak_flops", 1.7e11, "fma, one core", 6};
  ASSERT_TRUE(database.SetMachineFact("cpu", again).has_value());
  EXPECT_EQ(database.GetMachineFact("cpu", "peak_flops")->value(), again);
}

TEST(MachineFacts, DamagedOneIsPassedOver) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.SetMachineFact("cpu", {"peak", 1, "", 1}).has_value());
  Tamper(folder.File("t.db"), "UPDATE machine SET value = 9e999");
  EXPECT_EQ(database.GetMachineFact("cpu", "peak").value(), std::nullopt);
  EXPECT_THAT(database.TakeMissReasons(), ElementsAre(HasSubstr("fact 'peak' passed over")));
  EXPECT_THAT(*database.IntegrityCheck(), ElementsAre("fact of target 1: fact 'peak' is inf, "
                                                      "expected a finite number"));
}

TEST(MachineFacts, MustBeFinite) {
  Database database = OpenForTest();
  const Status status = database.SetMachineFact("cpu", {"peak", std::nan(""), "", 0});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "fact 'peak' is nan, expected a finite number");
}

}  // namespace
}  // namespace tunec
