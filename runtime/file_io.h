// Private to runtime/: whole files in, whole files out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/buffer.h"
#include "support/error.h"

namespace tunec {

/// The bytes of a regular file. kNotFound, kIo (with the system's reason), kResourceLimit.
Result<Buffer> ReadFile(const std::string& path);

/// Writes the pieces one after the other into a file beside `path`, flushes it to the disk and
/// renames it: `path` holds either what it held before or everything. kIo.
Status WriteFileAside(const std::string& path, std::span<const std::span<const std::byte>> pieces);

}  // namespace tunec
