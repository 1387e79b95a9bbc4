#include "graph/reference/run.h"

#include <algorithm>
#include <thread>

#include "ir/rounding.h"
#include "support/processors.h"

namespace tunec::reference {
namespace {

template <class From, class To>
void Convert(const From* from, int64_t start, int64_t stride, int64_t count, To* to) {
  const From* first = from + start;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(first[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(first[i * stride]);
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
  if (from.type() == DataType::kF32)
    return Convert(from.As<float>().data(), start, stride, count, to);
  if (from.type() == DataType::kF64)
    return Convert(from.As<double>().data(), start, stride, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = from.GetDouble(start + i * stride);
}

void Load(const Array& from, int64_t start, int64_t stride, int64_t count, int64_t* to) {
  if (from.type() == DataType::kI64)
    return Convert(from.As<int64_t>().data(), start, stride, count, to);
  if (from.type() == DataType::kI32)
    return Convert(from.As<int32_t>().data(), start, stride, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = from.GetInt(start + i * stride);
}

void Store(const double* from, int64_t start, int64_t count, Array& to) {
  const DataType type = to.type();
  if (type == DataType::kF32)
    return Convert(from, 0, 1, count, to.MutableAs<float>().data() + start);
  if (type == DataType::kF64)
    return Convert(from, 0, 1, count, to.MutableAs<double>().data() + start);
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
  std::byte* address = to.mutable_data() + static_cast<size_t>(start) * SizeOf(type);
  for (int64_t i = 0; i < count; ++i, address += SizeOf(type)) {
    if (IsFloat(type)) {
      StoreFloat(address, type, static_cast<double>(from[i]));
    } else {
      StoreInt(address, type, WrapTo(from[i], type));
    }
  }
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
  if (parts > 1) parts = std::min<int64_t>({parts, UsableProcessors(), 16});
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
