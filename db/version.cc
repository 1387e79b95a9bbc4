#include "db/version.h"

#include <sqlite3.h>

namespace tunec {

std::string SqliteVersion() { return sqlite3_libversion(); }

}  // namespace tunec
