// Functions that find and make the user's cache folder, which has the database and the object key.
#pragma once

#include <filesystem>
#include <string>

#include "support/error.h"

namespace tunec {

/// Returns $XDG_CACHE_HOME/tunec, else ~/.cache/tunec. Fails with kNotFound if neither the variable
/// nor a home folder is known.
Result<std::string> CacheFolder();
/// Returns the path of the user's key file in CacheFolder; empty if CacheFolder fails.
std::string ObjectKeyPath();

/// Makes the missing folders of the path, with access for the user only, as the XDG specification
/// requires. Existing folders are not changed. Error: kIo.
Status MakePrivateFolders(const std::filesystem::path& folder);

}  // namespace tunec
