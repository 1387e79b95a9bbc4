// Functions that find or make a user's key file, which only the user can read and which is never
// replaced.
#pragma once

#include <optional>
#include <string>

#include "db/seal/object_key.h"
#include "support/error.h"

namespace tunec {

/// Returns the key in the file at `path`; none if the file does not exist. Errors: kNotFound for an
/// empty path, which means a user without a home; kInvalidArgument for anything but a
/// private regular file of the user that contains a key; kIo.
Result<std::optional<ObjectKey>> FindObjectKey(const std::string& path);
/// Returns the key in the file at `path`, and makes the file if it does not exist. Several
/// processes that make the file at once get the same key. Errors: those of FindObjectKey; kIo if
/// the file cannot be made.
Result<ObjectKey> FindOrMakeObjectKey(const std::string& path);

}  // namespace tunec
