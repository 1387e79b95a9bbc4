// Files: telling that one was changed, reading whole ones, replacing one so that nobody sees half
// of it, mapping one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace tunec {

/// By what a file is told from another one at its path: writing it or replacing it changes this.
struct FileStamp {
  std::filesystem::path path;
  uintmax_t bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const FileStamp&) const = default;
};
/// Of what is at the path now, which may be nothing. Taken before the file is read it is no later
/// one's than what is read.
FileStamp StampOf(const std::filesystem::path& path);

/// Returns the bytes of a regular file, without waiting on a pipe. Errors: kNotFound, kIo.
Result<std::string> ReadFile(const std::filesystem::path& path);

/// Writes aside in the same folder, syncs and renames over `path`: readers see the old bytes or the
/// new ones. The target of a symbolic link is replaced. A replaced file keeps its permissions. The
/// umask decides the permissions of a new file. Errors: kIo, also for a device or pipe. Then the
/// file aside is removed.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

/// Bytes and where in a file they stand.
struct FilePart {
  int64_t offset = 0;
  std::span<const std::byte> bytes;
};
/// The same from parts in order of their places, which do not overlap; zeros lie between them.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const FilePart> parts);

/// A file mapped for reading, shared with other processes. The mapping lives as long as the
/// last pointer to this object: hand it to Array as the owner of the bytes. Thread-safe.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> Open(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Page-aligned; empty for an empty file.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace tunec
