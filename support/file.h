// Functions that detect changes of a file, read or map a whole file, and replace a file so that no
// reader sees a half-written one.
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

/// A version of a file, identified by the path, the size and the time of the last write.
struct FileStamp {
  std::filesystem::path path;
  uintmax_t bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const FileStamp&) const = default;
};
/// Returns the stamp of the file at the path. The file need not exist. Take the stamp before
/// reading the file: then the stamp is never newer than the bytes that were read.
FileStamp StampOf(const std::filesystem::path& path);

/// Returns the bytes of a regular file. Does not block on a pipe. Errors: kNotFound, kIo.
Result<std::string> ReadFile(const std::filesystem::path& path);

/// Writes a temporary file in the same folder, syncs it and renames it over `path`. Readers see the
/// old bytes or the new ones. If `path` is a symbolic link, its target is replaced. The permissions
/// of a replaced file are retained; the umask decides those of a new file. On an error, removes the
/// temporary file. Errors: kNotFound if the folder does not exist, else kIo (also for a device).
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

/// Bytes and their offset in a file.
struct FilePart {
  int64_t offset = 0;
  std::span<const std::byte> bytes;
};
/// Writes the parts of a file like the function above. The parts must be in ascending order of
/// offset and must not overlap. Gaps are filled with zeros.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const FilePart> parts);

/// A file mapped for reading, shared with other processes. The mapping exists as long as the last
/// pointer to this object: pass the pointer to Array as the owner of the bytes. The class is
/// thread-safe.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> Open(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Returns the mapped bytes: page-aligned, or empty for an empty file.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace tunec
