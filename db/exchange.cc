// Export, import and merge.
#include "db/exchange.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tuple>

#include "db/database.h"
#include "db/sqlite/query.h"
#include "db/tables/stored_artifact.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

Status WriteLine(std::ostream& out, const ExchangeLine& line) {
  out << EncodeLine(line) << '\n';
  if (out) return {};
  return Fail(ErrorCode::kIo, "cannot write the export: {}", std::strerror(errno));
}

/// Brings the bytes of `path` to the disk, so that a rename cannot precede them.
Status SyncFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (synced) return {};
  return Fail(ErrorCode::kIo, "{}: cannot write: {}", path, std::strerror(error));
}

Status TakeLines(std::istream& in, const std::string& name, LineTaker& taker) {
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.empty()) continue;
    const auto at_line = [&](Error error) {
      error.where = SourceLocation{name, number, 0};
      return std::unexpected(std::move(error));
    };
    Result<ExchangeLine> line = DecodeLine(text);
    if (!line) return at_line(std::move(line).error());
    if (Status taken = taker.Take(*line); !taken) return at_line(std::move(taken).error());
  }
  if (in.bad()) return Fail(ErrorCode::kIo, "{}: cannot read: {}", name, std::strerror(errno));
  return {};
}

/// Whether `a` should take the place of `b`, whichever way round they are merged.
bool Supersedes(const StoredArtifact& a, const StoredArtifact& b) {
  const auto worth = [](const StoredArtifact& stored) {
    return std::tie(stored.artifact.created_at, stored.artifact.object, stored.artifact.metadata);
  };
  if (a.damage.empty() != b.damage.empty()) return a.damage.empty();
  return worth(a) > worth(b);
}

void TakeArtifact(DatabaseConnection& connection, const StoredArtifact& theirs,
                  ExchangeCounts& counts) {
  const std::optional<StoredArtifact> ours = FindArtifact(connection, theirs.key_text);
  if (ours && !Supersedes(theirs, *ours)) {
    ++counts.kept;
    return;
  }
  StoreArtifact(connection, theirs.key_text, theirs.artifact);
  ++(ours ? counts.replaced : counts.added);
}

ExchangeCounts MergeArtifacts(DatabaseConnection& connection, DatabaseConnection& other) {
  ExchangeCounts counts;
  Query rows(other, "SELECT " TUNEC_ARTIFACT_COLUMNS " FROM artifacts ORDER BY key_text");
  while (rows.Step()) {
    const StoredArtifact theirs = ReadArtifact(rows);
    if (theirs.damage.empty()) {
      TakeArtifact(connection, theirs, counts);
    } else {
      other.Miss(
          fmt::format("{}: artifact {} passed over: {}", other.path(), theirs.id, theirs.damage));
    }
  }
  return counts;
}

Result<ExchangeCounts> MergeAll(DatabaseConnection& connection, DatabaseConnection& other) {
  LineTaker taker(connection);
  TUNEC_RETURN_IF_ERROR(
      ForEachLine(other, [&](const ExchangeLine& line) { return taker.Take(line); }));
  const ExchangeCounts artifacts = MergeArtifacts(connection, other);
  ExchangeCounts counts = taker.counts();
  counts.added += artifacts.added;
  counts.replaced += artifacts.replaced;
  counts.kept += artifacts.kept;
  return counts;
}

}  // namespace

Status Database::Export(std::ostream& out) const {
  return connection_->Read([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(
        ForEachLine(*connection_, [&](const ExchangeLine& line) { return WriteLine(out, line); }));
    out.flush();
    if (out) return {};
    return Fail(ErrorCode::kIo, "cannot write the export: {}", std::strerror(errno));
  });
}

Status Database::ExportFile(const std::string& path) const {
  const std::string aside = fmt::format("{}.{}.tmp", path, getpid());
  const auto write = [&]() -> Status {
    std::ofstream out(aside, std::ios::binary);
    if (!out) return Fail(ErrorCode::kIo, "{}: cannot create: {}", aside, std::strerror(errno));
    TUNEC_RETURN_IF_ERROR(Export(out));
    out.close();
    TUNEC_RETURN_IF_ERROR(SyncFile(aside));
    std::error_code error;
    fs::rename(aside, path, error);
    if (error) return Fail(ErrorCode::kIo, "{}: cannot rename: {}", path, error.message());
    return {};
  };
  Status status = write();
  std::error_code ignored;  // the first error is the one to report
  if (!status) fs::remove(aside, ignored);
  return status;
}

Result<ExchangeCounts> Database::Import(std::istream& in, const std::string& name) {
  return connection_->Write([&]() -> Result<ExchangeCounts> {
    LineTaker taker(*connection_);
    TUNEC_RETURN_IF_ERROR(TakeLines(in, name, taker));
    return taker.counts();
  });
}

Result<ExchangeCounts> Database::ImportFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return Fail(ErrorCode::kInvalidArgument, "{}: is a directory, wanted an export", path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: cannot read: {}",
                path, std::strerror(errno));
  }
  return Import(in, path);
}

Result<ExchangeCounts> Database::Merge(const std::string& other_path) {
  std::error_code error;
  if (!connection_->in_memory() && fs::equivalent(other_path, connection_->path(), error)) {
    return ExchangeCounts{};  // nothing to learn from oneself
  }
  TUNEC_ASSIGN(const auto other, DatabaseConnection::Open(other_path, OpenMode::kReadOnly));
  Result<ExchangeCounts> counts = connection_->Write([&]() -> Result<ExchangeCounts> {
    return other->Read([&]() { return MergeAll(*connection_, *other); });
  });
  for (std::string& reason : other->TakeMissReasons()) connection_->Miss(std::move(reason));
  return counts;
}

}  // namespace tunec
