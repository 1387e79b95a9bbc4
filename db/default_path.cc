#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "db/database.h"

namespace tunec {
namespace {

/// The environment's value when it is an absolute path: the XDG specification wants others
/// ignored.
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

Result<std::string> DefaultDatabasePath() {
  std::string cache = AbsoluteFromEnvironment("XDG_CACHE_HOME");
  if (cache.empty()) {
    const std::string home = HomeFolder();
    if (home.empty()) {
      return Fail(ErrorCode::kNotFound,
                  "no place for the database: set HOME or XDG_CACHE_HOME, or name a file");
    }
    cache = home + "/.cache";
  }
  return cache + "/tunec/tunec.db";
}

}  // namespace tunec
