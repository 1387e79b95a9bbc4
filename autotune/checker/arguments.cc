#include "autotune/checker/arguments.h"

#include <bit>
#include <cmath>
#include <utility>

#include "support/random.h"

namespace tunec {
namespace {

void FillFloats(Array& array, Random& random, ValueRange range) {
  const bool positive = range == ValueRange::kPositive;
  const auto next = [&] { return positive ? random.Unit() + 0.25f : 2 * random.Unit() - 1; };
  if (array.type() == DataType::kF32) {
    for (float& value : array.MutableAs<float>()) value = next();
    return;
  }
  for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, next());
}

void FillIntegers(Array& array, Random& random, const std::optional<Interval>& range) {
  const bool is_bool = array.type() == DataType::kBool;
  const Interval values = range ? *range : is_bool ? Interval{0, 1} : Interval{1, 9};
  const auto low = static_cast<uint64_t>(values.lo);
  const uint64_t count = static_cast<uint64_t>(values.hi) - low + 1;  // 0: all 2^64 values
  for (int64_t i = 0; i < array.size(); ++i) {
    const uint64_t above = count == 0 ? random.Next() : random.Below(count);
    array.SetInt(i, static_cast<int64_t>(low + above));
  }
}

bool IsArgument(const Tensor& tensor) {
  return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
}

// Rounds a value to one whose lowest `dropped_bits` bits are zero, halves to even. Infinities and
// NaN are unchanged.
float RoundFraction(float value, int dropped_bits) {
  if (!std::isfinite(value)) return value;
  auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t odd = (bits >> dropped_bits) & 1;
  bits += (uint32_t{1} << (dropped_bits - 1)) - 1 + odd;
  return std::bit_cast<float>(bits & ~((uint32_t{1} << dropped_bits) - 1));
}

}  // namespace

std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed, ValueRange range) {
  std::vector<Array> arguments;
  for (const Tensor& tensor : compute.tensors) {
    if (!IsArgument(tensor)) continue;
    Array array(tensor.type, tensor.shape);
    Random random(StreamSeed(seed, tensor.name));
    if (IsFloat(tensor.type)) {
      FillFloats(array, random, range);
    } else {
      FillIntegers(array, random, tensor.range);
    }
    arguments.push_back(std::move(array));
  }
  return arguments;
}

std::vector<Array> RoundOperands(std::span<const Array> arguments, OperandRounding rounding) {
  std::vector<Array> rounded(arguments.begin(), arguments.end());
  if (rounding == OperandRounding::kNone) return rounded;
  const int dropped_bits = rounding == OperandRounding::kTf32 ? 13 : 16;
  for (Array& array : rounded) {
    if (array.type() != DataType::kF32) continue;
    Array copy(array.type(), array.shape());
    for (int64_t i = 0; i < array.size(); ++i) {
      copy.MutableAs<float>()[i] = RoundFraction(array.As<float>()[i], dropped_bits);
    }
    array = std::move(copy);
  }
  return rounded;
}

Array Widen(const Array& array) {
  if (!IsFloat(array.type()) || array.type() == DataType::kF64) return array;
  Array wide(DataType::kF64, array.shape());
  const std::span<double> values = wide.MutableAs<double>();
  if (array.type() == DataType::kF32) {
    const std::span<const float> narrow = array.As<float>();
    for (int64_t i = 0; i < array.size(); ++i) values[i] = narrow[i];
    return wide;
  }
  for (int64_t i = 0; i < array.size(); ++i) values[i] = array.GetDouble(i);
  return wide;
}

}  // namespace tunec
