// A class that creates a temporary folder.
#pragma once

#include <filesystem>
#include <utility>

#include "support/error.h"

namespace tunec {

/// A folder for files that other programs read and write. Only the folder's owner can enter it. The
/// destructor removes the folder with its files.
class TemporaryFolder {
 public:
  /// Creates the folder. Errors: kIo.
  static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace tunec
