// The user's own folder for what may be lost: the database and the key of compiled objects.
#pragma once

#include <filesystem>
#include <string>

#include "support/error.h"

namespace tunec {

/// $XDG_CACHE_HOME/tunec, else ~/.cache/tunec. kNotFound without a home.
Result<std::string> CacheFolder();
/// In it the file of the user's key; empty without a home.
std::string ObjectKeyPath();

/// Makes the folders of the path that are missing, for the user alone, as the XDG specification
/// asks. Error: kIo.
Status MakePrivateFolders(const std::filesystem::path& folder);

}  // namespace tunec
