// A class that maps a file and checks later whether the file was changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

/// The identity of an open file, and the version of its contents: `bytes` is the file's size, and
/// `written` is the file's modification time in nanoseconds.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t bytes = 0;
  int64_t written = 0;
  bool operator==(const FileState&) const = default;
};

/// A file that stays open and mapped, and is checked for changes. The class is thread-safe.
class WatchedFile {
 public:
  /// Opens and maps a file. Does not block on a pipe. Errors: kNotFound, kIo.
  static Result<std::shared_ptr<const WatchedFile>> Open(const std::filesystem::path& path);
  WatchedFile(const WatchedFile&) = delete;
  WatchedFile& operator=(const WatchedFile&) = delete;
  ~WatchedFile();

  /// Returns the mapped bytes: page-aligned, or empty for an empty file.
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Fails with kIo if the open file's size or modification time has changed since Open. Renaming
  /// another file over the path or removing the path is allowed. Costs one system call.
  Status CheckUnchanged() const;

 private:
  WatchedFile(std::filesystem::path path, Descriptor file, FileState opened,
              std::span<const std::byte> bytes)
      : path_(std::move(path)), file_(std::move(file)), opened_(opened), bytes_(bytes) {}

  std::filesystem::path path_;
  Descriptor file_;
  FileState opened_;
  std::span<const std::byte> bytes_;
};

}  // namespace tunec
