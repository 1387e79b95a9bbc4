// Arrays of a size that a user decides.
#pragma once

#include <array>
#include <new>
#include <string_view>
#include <vector>

#include "ir/array.h"
#include "support/error.h"

namespace tunec {

/// What Array's constructor throws without memory. Whoever calls tunec from outside (a program's
/// main, the C interface) turns it into an error; in between nothing is lost.
class AllocationFailure : public std::bad_alloc {
 public:
  explicit AllocationFailure(size_t bytes);
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 64> text_{};  // needs no memory of its own
};

/// An array of zeros; without memory kResourceLimit, "cannot allocate 400 bytes for input x" where
/// `what` is "input x".
Result<Array> AllocateArray(DataType type, std::vector<int64_t> shape, std::string_view what);

}  // namespace tunec
