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
  std::string resolved;  // path without links of the model file's folder; empty: unknown
};

/// A read-only mapping of a whole regular file, unmapped on destruction.
class MappedFile {
 public:
  /// Opens the regular file at the path and follows links. Errors: kNotFound, kIo, and
  /// kInvalidArgument for another kind of file.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  /// Opens the file `location` in the named folder. Links may lead to files below one of the
  /// folders. Rejects other links, absolute paths, "..", and files with more than one hard link.
  static Result<std::shared_ptr<const MappedFile>> OpenConfined(const DataFolders& folders,
                                                                const std::string& location);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Returns the path, without links, of the file's folder. The path is empty if it is unknown.
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
