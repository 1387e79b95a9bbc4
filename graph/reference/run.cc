#include "graph/reference/run.h"

#include <algorithm>
#include <array>
#include <thread>

#include "ir/rounding.h"
#include "support/processors.h"

namespace tunec::reference {
namespace {

template <class From, class To>
void Convert(const From* from, int64_t start, int64_t stride, int64_t count, To* to) {
  const From* first = from + start;
  // NOLINTBEGIN(bugprone-signed-char-misuse): an element of i8 is a number.
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(first[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(first[i * stride]);
  }
  // NOLINTEND(bugprone-signed-char-misuse)
}

// Calls `f` with a value of the C++ type that represents an element of this float type exactly, if
// there is such a type. Returns whether `f` was called.
template <class F>
bool WithNativeFloat(DataType type, const F& f) {
  if (type == DataType::kF32) f(float{});
  if (type == DataType::kF64) f(double{});
  return type == DataType::kF32 || type == DataType::kF64;
}

// Does the same for integer types with at most 32 bits, and for i64. A conversion of int64 to the
// C++ type wraps like WrapTo.
template <class F>
bool WithNativeInteger(DataType type, const F& f) {
  switch (type) {
    case DataType::kI8:
      return f(int8_t{}), true;
    case DataType::kI16:
      return f(int16_t{}), true;
    case DataType::kI32:
      return f(int32_t{}), true;
    case DataType::kI64:
      return f(int64_t{}), true;
    case DataType::kU8:
      return f(uint8_t{}), true;
    case DataType::kU16:
      return f(uint16_t{}), true;
    case DataType::kU32:
      return f(uint32_t{}), true;
    default:
      return false;
  }
}

}  // namespace

bool RunContext::HasOperand(size_t i) const {
  return i < inputs.size() && (i >= node.inputs.size() || node.inputs[i].valid());
}

DataType RunContext::Stored(DataType type) const {
  return precision == Precision::kFloat64 && IsFloat(type) ? DataType::kF64 : type;
}

Array RunContext::MakeOutput() const {
  return Array(Stored(output_types[0].type), output_types[0].Shape());
}

void Load(const Array& from, int64_t start, int64_t stride, int64_t count, double* to) {
  const auto convert = [&]<class T>(T) { Convert(from.As<T>().data(), start, stride, count, to); };
  if (WithNativeFloat(from.type(), convert) || WithNativeInteger(from.type(), convert)) return;
  for (int64_t i = 0; i < count; ++i) to[i] = from.GetDouble(start + i * stride);
}

void Load(const Array& from, int64_t start, int64_t stride, int64_t count, int64_t* to) {
  const auto convert = [&]<class T>(T) { Convert(from.As<T>().data(), start, stride, count, to); };
  if (WithNativeInteger(from.type(), convert)) return;
  for (int64_t i = 0; i < count; ++i) to[i] = from.GetInt(start + i * stride);
}

void Store(const double* from, int64_t start, int64_t count, Array& to) {
  const DataType type = to.type();
  const bool done = WithNativeFloat(
      type, [&]<class T>(T) { Convert(from, 0, 1, count, to.MutableAs<T>().data() + start); });
  if (done) return;
  std::byte* address = to.mutable_data() + static_cast<size_t>(start) * SizeOf(type);
  for (int64_t i = 0; i < count; ++i, address += SizeOf(type)) {
    if (IsFloat(type)) {
      StoreFloat(address, type, from[i]);
    } else {
      StoreInt(address, type, SaturateToInt(from[i], type));
    }
  }
}

void Store(const int64_t* from, int64_t start, int64_t count, Array& to) {
  const DataType type = to.type();
  if (IsFloat(type)) {
    std::array<double, 256> piece;
    for (int64_t i = 0; i < count; i += std::ssize(piece)) {
      const int64_t size = std::min<int64_t>(count - i, std::ssize(piece));
      Convert(from, i, 1, size, piece.data());
      Store(piece.data(), start + i, size, to);
    }
    return;
  }
  const bool done = WithNativeInteger(
      type, [&]<class T>(T) { Convert(from, 0, 1, count, to.MutableAs<T>().data() + start); });
  if (done) return;
  std::byte* address = to.mutable_data() + static_cast<size_t>(start) * SizeOf(type);
  for (int64_t i = 0; i < count; ++i, address += SizeOf(type))
    StoreInt(address, type, WrapTo(from[i], type));
}

Array Widened(const Array& array) {
  if (!IsFloat(array.type()) || array.type() == DataType::kF64) return array;
  Array wide(DataType::kF64, array.shape());
  Load(array, 0, 1, array.size(), wide.MutableAs<double>().data());
  return wide;
}

std::vector<int64_t> StridesOf(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<int64_t> BroadcastStrides(const Array& operand, size_t rank) {
  const std::vector<int64_t> own = StridesOf(operand.shape());
  std::vector<int64_t> strides(rank, 0);
  for (size_t i = 0; i < own.size(); ++i)
    if (operand.shape()[i] != 1) strides[rank - own.size() + i] = own[i];
  return strides;
}

int64_t Product(std::span<const int64_t> shape, size_t begin, size_t end) {
  return ElementCount(shape.subspan(begin, end - begin));
}

void ParallelFor(int64_t count, int64_t work_per_item,
                 const std::function<void(int64_t begin, int64_t end)>& body) {
  constexpr double kWorthAThread = 200000;  // number of simple operations; starting a thread takes
                                            // about 20 us
  const double work = static_cast<double>(count) * static_cast<double>(work_per_item);
  int64_t parts = std::min(count, static_cast<int64_t>(work / kWorthAThread));
  if (parts > 1) {
    // UsableProcessors reads files, so only the first call of the process uses the function.
    static const int processors = UsableProcessors();
    parts = std::min<int64_t>({parts, processors, 16});
  }
  if (parts <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  std::vector<std::jthread> threads;
  for (int64_t p = 1; p < parts; ++p)
    threads.emplace_back([&, p] { body(count * p / parts, count * (p + 1) / parts); });
  body(0, count / parts);
}

}  // namespace tunec::reference
