// The file that holds a user's key: readable by its owner alone, made once, never replaced.
#pragma once

#include <optional>
#include <string>

#include "db/seal/object_key.h"
#include "support/error.h"

namespace tunec {

/// The key in the file at `path`; none: there is no such file. Errors: kNotFound for an empty path,
/// which stands for a user without a home; kInvalidArgument for a file that must not be trusted,
/// because others may have read or made it; kIo.
Result<std::optional<ObjectKey>> FindObjectKey(const std::string& path);
/// The same; where there is no file, it is made. Of several processes that make it at a time, all
/// get the same key. Errors: also kIo, where the file cannot be made.
Result<ObjectKey> FindOrMakeObjectKey(const std::string& path);

}  // namespace tunec
