#include "ir/allocate_array.h"

#include <utility>

namespace tunec {

AllocationFailure::AllocationFailure(size_t bytes) {
  fmt::format_to_n(text_.data(), text_.size() - 1, "cannot allocate {} bytes", bytes);
}

Result<Array> AllocateArray(DataType type, std::vector<int64_t> shape, std::string_view what) {
  try {
    return Array(type, std::move(shape));
  } catch (const AllocationFailure& failure) {
    return Fail(ErrorCode::kResourceLimit, "{} for {}", failure.what(), what);
  }
}

}  // namespace tunec
