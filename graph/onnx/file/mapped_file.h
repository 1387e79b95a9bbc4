// Files mapped into memory for reading. Only graph/onnx uses this file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "support/error.h"

namespace tunec::onnx_import {

/// The folders that may contain a model's external data.
struct DataFolders {
  std::string named;     // names of files are relative to this folder; empty: the current folder
  std::string resolved;  // contains the model's file, links resolved; empty: unknown
};

/// A read-only mapping of a whole regular file, unmapped on destruction.
class MappedFile {
 public:
  /// Opens the regular file at the path and follows links.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  /// Opens `location` inside the named folder. Links may lead to files below one of the folders.
  /// All other paths out of the named folder are rejected: absolute paths, "..", other links, files
  /// with more than one hard link.
  static Result<std::shared_ptr<const MappedFile>> OpenConfined(const DataFolders& folders,
                                                                const std::string& location);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Returns the folder that contains the file, links resolved. Empty if it is unknown.
  const std::string& folder() const { return folder_; }

 private:
  MappedFile(std::string folder, const std::byte* data, size_t size)
      : folder_(std::move(folder)), data_(data), size_(size) {}
  static Result<std::shared_ptr<const MappedFile>> Map(int descriptor, const std::string& path);
  std::string folder_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace tunec::onnx_import
