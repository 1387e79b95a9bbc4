// Temporary folders, keys, records, files and processes for tests of the database.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

#include "db/database.h"
#include "support/check.h"

namespace tunec {

/// A separate temporary folder, removed by the destructor.
class TempFolder {
 public:
  TempFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tunec_db_XXXXXX";
    TUNEC_CHECK(mkdtemp(name.data()) != nullptr, "no temporary folder");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string File(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Returns the path of a key file beside the file `path`, so that tests do not use the user's key.
inline std::string TestKeyFile(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / "object_key").string();
}

inline Database OpenForTest(const std::string& path = ":memory:",
                            OpenMode mode = OpenMode::kReadWrite) {
  Result<Database> database = Database::Open(path, mode, TestKeyFile(path));
  TUNEC_CHECK(database.has_value(), "{}", database.error().Format());
  return std::move(*database);
}

inline TuningKey SampleKey(int n = 0) {
  TuningKey key;
  key.workload.text = "matmul " + std::to_string(n) + "\n  C[i,j] += A[i,k] * B[k,j]";
  key.workload.kind = "matmul";
  key.workload.description = "layer " + std::to_string(n) + " \"fc\" \xc3\xa9";
  key.workload.flops = 2e9 + n;
  key.workload.bytes = 1e6;
  key.target = "x86-64 avx512f amx-bf16 l1=48K threads=2 accuracy=f32";
  key.policy = "warm median 10";
  key.schedule_version = 1;
  return key;
}

inline TrialRecord OkTrial(int n, double seconds) {
  TrialRecord trial;
  trial.schedule = "lower direct\ntile i " + std::to_string(n);
  trial.median_seconds = seconds;
  trial.mad_seconds = seconds / 100;
  trial.samples = {seconds * 1.1, seconds, seconds * 0.9};
  trial.accuracy_error = 1.25e-7;
  trial.compile_ms = 12.5;
  trial.check_ms = 3;
  trial.measure_ms = 40;
  trial.note = "seed 1 batch 2";
  trial.created_at = 1'700'000'000 + n;
  trial.tool_version = "0.1.0";
  return trial;
}

inline TrialRecord FailedTrial(int n, TrialStatus status) {
  TrialRecord trial = OkTrial(n, 1);
  trial.status = status;
  trial.median_seconds = 0;
  trial.mad_seconds = 0;
  trial.samples.clear();
  trial.accuracy_error.reset();
  trial.message = "it failed";
  return trial;
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string ExportText(const Database& database) {
  std::ostringstream out;
  const Status status = database.Export(out);
  TUNEC_CHECK(status.has_value(), "{}", status.error().Format());
  return out.str();
}

/// Starts a child process that exits with the result of `body`. Returns its process id. Requires:
/// the caller has no open database, because SQLite connections may not be used after a fork.
inline pid_t StartChild(const std::function<int()>& body) {
  const pid_t child = fork();
  TUNEC_CHECK(child >= 0, "cannot fork");
  if (child == 0) _exit(body());
  return child;
}

/// Returns the exit status of `child`, or minus the signal that ended it.
inline int WaitFor(pid_t child) {
  int status = 0;
  TUNEC_CHECK(waitpid(child, &status, 0) == child, "cannot wait");
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// Runs SQL on a database file through a separate connection.
inline void Tamper(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
}

}  // namespace tunec
