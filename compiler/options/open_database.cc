#include "compiler/options/open_database.h"

#include <utility>

namespace tunec {
namespace {

using DatabasePtr = std::unique_ptr<Database>;
using Log = std::function<void(const std::string&)>;

DatabasePtr Owned(Database database) { return std::make_unique<Database>(std::move(database)); }

Result<DatabasePtr> WithoutFile(int trials) {
  if (trials == 0) return nullptr;
  TUNEC_ASSIGN(Database database, Database::Open(kInMemory, OpenMode::kReadWrite));
  return Owned(std::move(database));
}

std::string PathOf(const DatabaseChoice& choice) {
  switch (choice.kind) {
    case DatabaseChoice::Kind::kFile:
      return choice.path;
    case DatabaseChoice::Kind::kDefault:
      return DefaultDatabasePath().value_or(
          "");  // a user without a home folder has no database and needs none
    case DatabaseChoice::Kind::kNone:
      break;
  }
  return "";
}

}  // namespace

Result<DatabasePtr> OpenChosenDatabase(const DatabaseChoice& choice, int trials, const Log& given) {
  const Log log = given ? given : [](const std::string&) {};
  const std::string path = PathOf(choice);
  if (path.empty()) return WithoutFile(trials);
  Result<Database> opened = Database::Open(path, OpenMode::kReadWrite);
  if (opened) {
    opened->ContinueWithoutFile(log);
    for (const std::string& line : opened->TakeMissReasons()) log(line);
    return Owned(std::move(*opened));
  }
  const Error& error = opened.error();
  const bool named = choice.kind == DatabaseChoice::Kind::kFile;
  if (named && (trials > 0 || error.code != ErrorCode::kIo)) return std::unexpected(error);
  if (Result<Database> copy = Database::OpenCopy(path)) {
    log(fmt::format("{}; it is read, and what this run finds is not kept", error.message));
    return Owned(std::move(*copy));
  }
  if (named) return std::unexpected(error);
  log(fmt::format("{}; going on without a database", error.message));
  return WithoutFile(trials);
}

}  // namespace tunec
