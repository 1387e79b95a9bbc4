// A folder that is removed with its object.
#pragma once

#include <filesystem>
#include <utility>

#include "support/error.h"

namespace tunec {

/// A folder for files that other programs read and write. Only its owner can enter it.
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
