// Private to support/: opening and mapping of regular files.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <span>

#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

struct OpenedFile {
  Descriptor file;
  struct stat status;
};

/// Opens a regular file. Does not block on a pipe. Errors: kNotFound, kIo.
Result<OpenedFile> OpenRegular(const std::filesystem::path& path);

/// Maps all bytes of a file for reading, shared with other processes. Returns an empty span for an
/// empty file. Errors: those of MakeSystemError.
Result<std::span<const std::byte>> MapShared(const OpenedFile& opened,
                                             const std::filesystem::path& path);
void Unmap(std::span<const std::byte> bytes);

/// Makes the error of a failed system call from errno: kNotFound for ENOENT, else kIo. `action` is
/// the verb in the message: "open".
std::unexpected<Error> MakeSystemError(std::string_view action, const std::filesystem::path& path);

}  // namespace tunec
