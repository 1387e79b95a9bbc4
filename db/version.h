#pragma once

#include <string>

namespace tunec {

/// The version of the SQLite that is linked: "3.40.1".
std::string SqliteVersion();

}  // namespace tunec
