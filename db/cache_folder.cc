#include "db/cache_folder.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "db/database.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

/// Returns the value of an environment variable if the value is an absolute path, else an empty
/// text. The XDG specification requires this of XDG_CACHE_HOME.
std::string AbsoluteFromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string HomeFolder() {
  if (std::string home = AbsoluteFromEnvironment("HOME"); !home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "";
}

}  // namespace

Result<std::string> CacheFolder() {
  std::string cache = AbsoluteFromEnvironment("XDG_CACHE_HOME");
  if (cache.empty()) {
    const std::string home = HomeFolder();
    if (home.empty()) {
      return Fail(ErrorCode::kNotFound,
                  "no folder for the database: set HOME or XDG_CACHE_HOME, or name a file");
    }
    cache = home + "/.cache";
  }
  return cache + "/tunec";
}

std::string ObjectKeyPath() {
  const Result<std::string> folder = CacheFolder();
  return folder ? *folder + "/object_key" : "";
}

Result<std::string> DefaultDatabasePath() {
  TUNEC_ASSIGN(const std::string folder, CacheFolder());
  return folder + "/tunec.db";
}

Status MakePrivateFolders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  if (folder.has_relative_path()) {
    TUNEC_RETURN_IF_ERROR(MakePrivateFolders(folder.parent_path()));
  }
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  const int failure = errno;
  // Another process may have made the folder meanwhile.
  if (failure == EEXIST && fs::is_directory(folder, error)) return {};
  return Fail(ErrorCode::kIo, "{}: cannot create: {}", folder.string(), std::strerror(failure));
}

}  // namespace tunec
