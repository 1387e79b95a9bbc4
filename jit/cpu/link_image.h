// Kernels' ELF objects -> one image that runs wherever it is mapped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "support/error.h"

namespace tunec {

/// Where the functions of an object begin in the image.
using FunctionOffsets = std::map<std::string, uint64_t>;

/// Code and the constants that it reads, one object behind the other. All that objects refer to is
/// in themselves and near: references are resolved here, and nothing is left to be done when the
/// image is mapped.
class CodeImage {
 public:
  /// Errors: kParse for bytes that are no object of the host's, kUnsupported for one that is not
  /// independent of its place: absolute addresses, data that is written, symbols of others.
  Result<FunctionOffsets> Add(std::string_view object);
  /// To be mapped at a multiple of 4096, readable and executable.
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace tunec
