// The members of Database that export, import and merge databases.
#include "db/exchange.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "db/database.h"
#include "support/file.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

Status WriteLine(std::ostream& out, const ExchangeLine& line) {
  out << EncodeLine(line) << '\n';
  if (out) return {};
  return Fail(ErrorCode::kIo, "cannot write the export: {}", std::strerror(errno));
}

Status TakeLines(std::istream& in, const std::string& name, LineImporter& taker) {
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

Result<ExchangeCounts> MergeAll(DatabaseConnection& connection, DatabaseConnection& other,
                                TimesFrom times) {
  LineImporter taker(connection, times);
  TUNEC_RETURN_IF_ERROR(
      ForEachLine(other, [&](const ExchangeLine& line) { return taker.Take(line); }));
  return taker.counts();
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
  std::ostringstream lines;
  TUNEC_RETURN_IF_ERROR(Export(lines));
  return WriteFileAtomically(path, std::move(lines).str());
}

Result<ExchangeCounts> Database::Import(std::istream& in, const std::string& name,
                                        TimesFrom times) {
  return connection_->Write([&]() -> Result<ExchangeCounts> {
    LineImporter taker(*connection_, times);
    TUNEC_RETURN_IF_ERROR(TakeLines(in, name, taker));
    return taker.counts();
  });
}

Result<ExchangeCounts> Database::ImportFile(const std::string& path, TimesFrom times) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return Fail(ErrorCode::kInvalidArgument, "{}: is a directory, expected an export", path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: cannot read: {}",
                path, std::strerror(errno));
  }
  return Import(in, path, times);
}

Result<ExchangeCounts> Database::Merge(const std::string& other_path, TimesFrom times) {
  std::error_code error;
  if (!connection_->in_memory() && fs::equivalent(other_path, connection_->path(), error)) {
    return ExchangeCounts{};  // the same file
  }
  TUNEC_ASSIGN(const auto other, DatabaseConnection::Open(other_path, OpenMode::kReadOnly, ""));
  Result<ExchangeCounts> counts = connection_->Write([&]() -> Result<ExchangeCounts> {
    return other->Read([&]() { return MergeAll(*connection_, *other, times); });
  });
  for (const std::string& reason : other->TakeMissReasons()) connection_->NoteMiss(reason);
  return counts;
}

}  // namespace tunec
