// A linker that joins the ELF objects of kernels to one position-independent image.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "support/error.h"

namespace tunec {

/// The offset in the image of each function of an object, by name.
using FunctionOffsets = std::map<std::string, uint64_t>;

/// An image of code and the constants that the code reads, one object after another. Every
/// reference of an object must be relative and to the object itself. Add resolves all references,
/// so that mapping the image requires no further work.
class CodeImage {
 public:
  /// Appends an object, and returns the offsets of its functions. Errors include kParse for bytes
  /// that are not an object of the host, and kUnsupported for an object with absolute addresses,
  /// writable data or references to external symbols. An error does not change the image.
  Result<FunctionOffsets> Add(std::string_view object);
  /// Returns the image, to be mapped at a multiple of 4096, readable and executable.
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace tunec
