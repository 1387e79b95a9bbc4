// The .safetensors format: 8 bytes of little-endian header size, a JSON object that gives each
// tensor's type, shape and place, then the bytes. Read through a mapping, hostile until checked.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "ir/array.h"
#include "support/error.h"

namespace tunec {

class SafetensorsFile {
 public:
  /// Maps and checks the file: sizes, offsets and nesting; the tensors must fill the data
  /// without gap or overlap, as the format says. Errors: kNotFound, kIo, kParse, kUnsupported.
  static Result<SafetensorsFile> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// By name; arrays share the mapping.
  const std::map<std::string, Array, std::less<>>& tensors() const { return tensors_; }
  const Array* Find(std::string_view name) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, Array, std::less<>> tensors_;
};

/// Replaces the file at once (written aside, then renamed). Tensors stand in order of name.
Status WriteSafetensors(const std::filesystem::path& path,
                        const std::map<std::string, Array, std::less<>>& tensors);

}  // namespace tunec
