// Allocation of arrays whose size the user determines.
#pragma once

#include <array>
#include <new>
#include <string_view>
#include <vector>

#include "ir/array.h"
#include "support/error.h"

namespace tunec {

/// The exception that Array's constructor throws if memory runs out. The C interface and the
/// programs in tools/ turn the exception into an error. Code between the constructor and these
/// entry points need not catch the exception.
class AllocationFailure : public std::bad_alloc {
 public:
  explicit AllocationFailure(size_t bytes);
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 64> text_{};  // fixed size: needs no allocation
};

/// Returns an array of zeros. Fails with kResourceLimit if memory runs out: "cannot allocate 400
/// bytes for input x", where `what` is "input x".
Result<Array> AllocateArray(DataType type, std::vector<int64_t> shape, std::string_view what);

}  // namespace tunec
