// A fuzz target that reads, exports and writes a small database with changes chosen by the input.
//
// The input lists changes of fields, then changes of bytes of the file. A byte below 224 selects a
// column. Any other byte ends the changes of fields. Invariants: no failure is an internal error;
// an object is returned as it was stored or not at all; a database that the check accepts can be
// exported, and the export imported.
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>

#include "tests/db/samples.h"
#include "tests/fuzz_input/byte_source.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

constexpr const char* kFields[][2] = {{"workloads", "id"},
                                      {"workloads", "hash"},
                                      {"workloads", "text"},
                                      {"workloads", "kind"},
                                      {"workloads", "description"},
                                      {"workloads", "flops"},
                                      {"workloads", "bytes"},
                                      {"targets", "id"},
                                      {"targets", "hash"},
                                      {"targets", "text"},
                                      {"tasks", "id"},
                                      {"tasks", "workload"},
                                      {"tasks", "target"},
                                      {"tasks", "policy"},
                                      {"tasks", "schedule_version"},
                                      {"tasks", "converged"},
                                      {"trials", "id"},
                                      {"trials", "task"},
                                      {"trials", "schedule"},
                                      {"trials", "schedule_hash"},
                                      {"trials", "status"},
                                      {"trials", "mad_seconds"},
                                      {"trials", "median_seconds"},
                                      {"trials", "samples"},
                                      {"trials", "message"},
                                      {"trials", "accuracy_error"},
                                      {"trials", "compile_ms"},
                                      {"trials", "check_ms"},
                                      {"trials", "measure_ms"},
                                      {"trials", "note"},
                                      {"trials", "created_at"},
                                      {"trials", "tool_version"},
                                      {"artifacts", "id"},
                                      {"artifacts", "key_hash"},
                                      {"artifacts", "key_text"},
                                      {"artifacts", "object"},
                                      {"artifacts", "hash"},
                                      {"artifacts", "owner"},
                                      {"artifacts", "metadata"},
                                      {"artifacts", "created_at"},
                                      {"machine", "target"},
                                      {"machine", "name"},
                                      {"machine", "value"},
                                      {"machine", "text"},
                                      {"machine", "created_at"}};

constexpr const char* kKeys[] = {"key one", "key two"};

Artifact SampleArtifact(int n) {
  return {"object " + std::to_string(n), R"({"arguments": ["in0", "out0"]})", 1'700'000'000 + n};
}

std::string TemplateBytes(const std::string& path) {
  {
    Database database = OpenForTest(path);
    for (int task = 0; task < 2; ++task) {
      for (int n = 0; n < 3; ++n) {
        RequireOk(database.RecordTrial(SampleKey(task), OkTrial(n, 1 + n)), "recording");
      }
      RequireOk(database.RecordTrial(SampleKey(task), FailedTrial(9, TrialStatus::kCrashed)),
                "recording");
      RequireOk(database.PutArtifact(kKeys[task], SampleArtifact(task)), "storing");
    }
    RequireOk(
        database.SetConverged(SampleKey(1), {.space = 3, .reason = ConvergenceReason::kExhausted}),
        "converging");
    RequireOk(database.SetMachineFact(SampleKey().target, {"peak_flops", 1e11, "fma", 10}),
              "a fact");
  }
  return ReadBytes(path);
}

void ChangeByte(std::string& file, ByteSource& source) {
  file[source.Below(file.size())] = static_cast<char>(source.Byte());
}

void BindValue(SQLite::Statement& update, ByteSource& source) {
  switch (source.Byte() % 4) {
    case 0:
      return update.bind(1, source.Number<int64_t>());
    case 1:
      return update.bind(1, source.Number<double>());
    case 2:
      return update.bind(1, source.Text());
    default:
      return update.bind(1);  // sets NULL
  }
}

void ChangeField(SQLite::Database& raw, size_t field, ByteSource& source) {
  const auto [table, column] = kFields[field % std::size(kFields)];
  const bool keyed = std::string_view(table) != "machine";
  SQLite::Statement update(
      raw, fmt::format("UPDATE {0} SET {1} = ? WHERE {2}", table, column,
                       keyed ? fmt::format("rowid IN (SELECT rowid FROM {} LIMIT 1 OFFSET {})",
                                           table, source.Byte() % 8)
                             : "1"));
  BindValue(update, source);
  update.exec();
}

/// Writes the file, then changes fields with SQL, and finally changes bytes of the file.
void WriteChanged(const std::string& path, std::string file, ByteSource source) {
  constexpr uint8_t kFirstOfBytes = 224;
  WriteBytes(path, file);
  {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    while (!source.empty()) {
      const uint8_t choice = source.Byte();
      if (choice >= kFirstOfBytes) break;
      try {
        ChangeField(raw, choice, source);
      } catch (const SQLite::Exception&) {
        continue;  // the table rejects the value
      }
    }
    raw.exec("PRAGMA journal_mode = WAL");
  }
  file = ReadBytes(path);
  while (!source.empty()) ChangeByte(file, source);
  WriteBytes(path, file);
}

template <class T>
bool Answered(const T& result) {
  if (!result) RequireTheirFault(result.error(), "asking a database");
  return result.has_value();
}

void AskForObjects(const Database& database) {
  for (int n = 0; n < 2; ++n) {
    const auto artifact = database.GetArtifact(kKeys[n]);
    if (!Answered(artifact) || !*artifact) continue;
    const Artifact expected = SampleArtifact(n);
    Require((*artifact)->object == expected.object && (*artifact)->metadata == expected.metadata,
            "an object comes back as it was stored");
  }
}

void AskForTrials(const Database& database) {
  const TuningKey key = SampleKey();
  (void)Answered(database.List({}));
  (void)Answered(database.ListTrials({}));
  (void)Answered(database.Trials(key));
  (void)Answered(database.CountTrials(key));
  (void)Answered(database.Best(key));
  (void)Answered(database.Find(key, OkTrial(1, 2).schedule));
  (void)Answered(database.Converged(key));
  (void)Answered(database.NearestWorkloads("matmul", key.target, 1));
  (void)Answered(database.Stats());
  (void)Answered(database.MachineFacts(key.target));
}

void Exchange(const Database& database, bool sound) {
  std::ostringstream text;
  const Status exported = database.Export(text);
  if (!Answered(exported)) return Require(!sound, "a sound database is exported");
  Database copy = OpenForTest();
  std::istringstream in(text.str());
  const auto imported = copy.Import(in, "lines", TimesFrom::kThisMachine);
  RequireOk(imported, "an export is imported");
  if (sound) Require(ExportText(copy) == text.str(), "an export comes back");
}

void AskForReading(const std::string& path) {
  const auto database = Database::Open(path, OpenMode::kReadOnly, TestKeyFile(path));
  if (!Answered(database)) return;
  const auto problems = database->IntegrityCheck();
  const bool sound = Answered(problems) && problems->empty();
  AskForObjects(*database);
  AskForTrials(*database);
  Exchange(*database, sound);
  const std::vector<std::string> misses = database->TakeMissReasons();
  if (sound && !misses.empty()) Finding("a sound database is read whole", misses.front());
}

void ChangeFurther(const std::string& path) {
  auto database = Database::Open(path, OpenMode::kReadWrite, TestKeyFile(path));
  if (!Answered(database)) return;
  (void)Answered(database->RecordTrial(SampleKey(), OkTrial(1, 5)));
  (void)Answered(database->RecordTrial(SampleKey(7), OkTrial(1, 5)));
  (void)Answered(database->PutArtifact(kKeys[0], SampleArtifact(0)));
  (void)Answered(database->SetMachineFact(SampleKey().target, {"peak_flops", 2e11, "fma", 20}));
  (void)Answered(database->SetConverged(SampleKey(), {.space = 4}));
  (void)Answered(OpenForTest().Merge(path, TimesFrom::kThisMachine));
  (void)Answered(database->Prune({.created_before = 1'700'000'001, .keep_best = 1}));
  AskForObjects(*database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TempFolder folder;
  static const std::string whole = TemplateBytes(folder.File("whole.db"));
  const std::string path = folder.File("changed.db");
  WriteChanged(path, whole, ByteSource(data, size));
  AskForReading(path);
  ChangeFurther(path);
  for (const char* end : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + end);
  return 0;
}

}  // namespace tunec::fuzz
