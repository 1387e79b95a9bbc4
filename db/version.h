#pragma once

#include <string>

namespace tunec {

/// Returns the version of the linked SQLite, such as "3.40.1".
std::string SqliteVersion();

}  // namespace tunec
