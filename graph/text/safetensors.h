// The .safetensors format: 8 bytes of little-endian header size, a JSON object with each tensor's
// type, shape and offsets, then the bytes. The file is read through a mapping and is untrusted
// until checked.
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
  /// Maps and checks the file. The tensors must fill the data without gap or overlap, as the format
  /// requires. Fails with kNotFound, kIo, kParse or kUnsupported.
  static Result<SafetensorsFile> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Returns the tensors by name. The arrays share the mapping, except copies made for alignment.
  const std::map<std::string, Array, std::less<>>& tensors() const { return tensors_; }
  const Array* Find(std::string_view name) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, Array, std::less<>> tensors_;
};

/// Writes a file atomically (to a temporary file that is renamed). Tensors are sorted by name.
Status WriteSafetensors(const std::filesystem::path& path,
                        const std::map<std::string, Array, std::less<>>& tensors);

}  // namespace tunec
