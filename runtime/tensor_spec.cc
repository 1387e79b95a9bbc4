#include "runtime/tensor_spec.h"

namespace tunec {

Result<int64_t> ByteSize(const TensorSpec& spec) {
  constexpr int64_t kLimit = int64_t{1} << 56;
  int64_t bytes = static_cast<int64_t>(SizeOf(spec.type));
  bool too_large = false;
  bool empty = false;
  for (const int64_t dimension : spec.shape) {
    if (dimension < 0)
      return Fail(ErrorCode::kInvalidArgument, "tensor '{}' has a dimension of {}, expected >= 0",
                  spec.name, dimension);
    empty = empty || dimension == 0;
    // A later dimension of 0 makes the size 0, so an overflow is only reported at the end.
    too_large = too_large || (dimension > 0 && bytes > kLimit / dimension);
    if (!too_large && dimension > 0) bytes *= dimension;
  }
  if (empty) return 0;
  if (too_large)
    return Fail(ErrorCode::kInvalidArgument, "tensor '{}' of type {} is too large", spec.name,
                FormatType(spec));
  return bytes;
}

std::string JoinSizes(std::span<const int64_t> sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string FormatType(const TensorSpec& spec) {
  return fmt::format("{}[{}]", Name(spec.type), JoinSizes(spec.shape));
}

}  // namespace tunec
