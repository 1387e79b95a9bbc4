// Private to support/: how files are opened for reading.
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

/// Opens a regular file, without waiting for the other end of a pipe. Errors: kNotFound, kIo.
Result<OpenedFile> OpenRegular(const std::filesystem::path& path);

/// Maps all bytes of a file for reading, shared with other processes. Returns none for an empty
/// file.
Result<std::span<const std::byte>> MapShared(const OpenedFile& opened,
                                             const std::filesystem::path& path);
void Unmap(std::span<const std::byte> bytes);

/// The failure of a system call, as errno says.
std::unexpected<Error> FailedTo(std::string_view action, const std::filesystem::path& path);

}  // namespace tunec
