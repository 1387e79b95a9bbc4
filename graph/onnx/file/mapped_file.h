// Files mapped into memory for reading. Internal to graph/onnx.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "support/error.h"

namespace tunec::onnx_import {

/// A read-only mapping of a whole regular file, unmapped on destruction.
class MappedFile {
 public:
  /// Opens whatever regular file the path leads to.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  /// Opens `location` inside `folder` and refuses everything that could lead out of it: absolute
  /// paths, "..", symbolic links at any step, files with more than one hard link.
  static Result<std::shared_ptr<const MappedFile>> OpenConfined(const std::string& folder,
                                                                const std::string& location);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  static Result<std::shared_ptr<const MappedFile>> Map(int descriptor, const std::string& path);
  const std::byte* data_;
  size_t size_;
};

}  // namespace tunec::onnx_import
