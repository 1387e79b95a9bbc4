#include "ir/array.h"

#include <cstdlib>
#include <cstring>

#include "ir/allocate_array.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Returns zeroed memory that is aligned to 64 bytes, or null if so much memory is not available.
/// The system provides cleared pages, so a large block uses memory only for pages that are written.
std::shared_ptr<std::byte> AllocateZeroed(size_t bytes) {
  // Without this test, the sanitizers' allocator stops the program for a huge size.
  constexpr size_t kLimit = size_t{1} << 47;
  constexpr size_t kAlignment = 64;
  if (bytes > kLimit) return nullptr;
  void* memory = std::calloc(bytes + kAlignment, 1);
  if (memory == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (address + kAlignment - 1) / kAlignment * kAlignment;
  auto* start = static_cast<std::byte*>(memory) + (aligned - address);
  return {start, [memory](std::byte*) { std::free(memory); }};
}

}  // namespace

Array::Array(DataType type, std::vector<int64_t> shape)
    : type_(type), shape_(std::move(shape)), size_(ElementCount(shape_)) {
  TUNEC_CHECK(size_ >= 0, "an array of invalid shape");
  auto memory = AllocateZeroed(bytes());
  if (memory == nullptr) throw AllocationFailure(bytes());
  data_ = memory.get();
  owner_ = std::move(memory);
  owned_ = true;
}

Array::Array(DataType type, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
             std::span<const std::byte> bytes)
    : type_(type),
      shape_(std::move(shape)),
      size_(ElementCount(shape_)),
      owner_(std::move(owner)),
      data_(bytes.data()) {
  TUNEC_CHECK(size_ >= 0 && bytes.size() == this->bytes(), "an array of {} {} got {} bytes", size_,
              Name(type), bytes.size());
}

std::byte* Array::mutable_data() {
  TUNEC_CHECK(owned_, "writing to an array that shares its bytes");
  return const_cast<std::byte*>(data_);
}

double Array::GetDouble(int64_t i) const {
  const std::byte* address = data_ + static_cast<size_t>(i) * SizeOf(type_);
  return IsFloat(type_) ? LoadFloat(address, type_) : IntToDouble(LoadInt(address, type_), type_);
}

int64_t Array::GetInt(int64_t i) const {
  const std::byte* address = data_ + static_cast<size_t>(i) * SizeOf(type_);
  return IsFloat(type_) ? SaturateToInt(LoadFloat(address, type_), DataType::kI64)
                        : LoadInt(address, type_);
}

void Array::SetDouble(int64_t i, double value) {
  std::byte* address = mutable_data() + static_cast<size_t>(i) * SizeOf(type_);
  if (IsFloat(type_)) return StoreFloat(address, type_, value);
  StoreInt(address, type_, SaturateToInt(value, type_));
}

void Array::SetInt(int64_t i, int64_t value) {
  std::byte* address = mutable_data() + static_cast<size_t>(i) * SizeOf(type_);
  if (IsFloat(type_)) return StoreFloat(address, type_, static_cast<double>(value));
  StoreInt(address, type_, value);
}

Array Array::Reshaped(std::vector<int64_t> shape) const {
  TUNEC_CHECK(ElementCount(shape) == size_, "reshaping {} elements to {}", size_,
              ElementCount(shape));
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool HaveSameBytes(const Array& a, const Array& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.data() == b.data() || a.bytes() == 0) return true;
  return std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

int64_t ElementCount(std::span<const int64_t> shape) {
  // A zero dimension makes the product zero, even if the other dimensions are large.
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return -1;
    empty |= extent == 0;
  }
  if (empty) return 0;
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent > kMost / count) return -1;
    count *= extent;
  }
  return count;
}

}  // namespace tunec
