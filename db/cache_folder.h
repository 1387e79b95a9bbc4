// Functions that find and make the user's cache folder for the default database and the object key.
#pragma once

#include <filesystem>
#include <string>

#include "support/error.h"

namespace tunec {

/// Returns $XDG_CACHE_HOME/tunec if that variable is an absolute path, else ~/.cache/tunec. Error:
/// kNotFound if the user's home folder is not known either.
Result<std::string> CacheFolder();
/// Returns the path of the user's key file in CacheFolder; empty if CacheFolder fails.
std::string ObjectKeyPath();

/// Makes `folder` and its missing parents with access for the user only, as the XDG specification
/// requires. Existing folders are not changed. Error: kIo.
Status MakePrivateFolders(const std::filesystem::path& folder);

}  // namespace tunec
