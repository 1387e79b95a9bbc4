#include "autotune/arguments.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "ir/rounding.h"
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
  const uint64_t count = static_cast<uint64_t>(values.hi) - low + 1;  // 0: all there are
  for (int64_t i = 0; i < array.size(); ++i) {
    const uint64_t above = count == 0 ? random.Next() : random.Below(count);
    array.SetInt(i, static_cast<int64_t>(low + above));
  }
}

bool IsArgument(const Tensor& tensor) {
  return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
}

// Keeps the upper bits of the fraction, halves to even.
float RoundFraction(float value, int dropped_bits) {
  if (!std::isfinite(value)) return value;
  auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t odd = (bits >> dropped_bits) & 1;
  bits += (uint32_t{1} << (dropped_bits - 1)) - 1 + odd;
  return std::bit_cast<float>(bits & ~((uint32_t{1} << dropped_bits) - 1));
}

std::vector<IndexExpr> LogicalVariables(const Tensor& tensor) {
  std::vector<IndexExpr> variables;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    variables.push_back(IndexExpr::Var(static_cast<VarId>(d)));
  }
  return variables;
}

// The storage offset as a sum of one table per dimension, where it is such a sum: every layout
// that blocks dimensions is. Empty otherwise.
std::vector<std::vector<int64_t>> OffsetTables(const Tensor& tensor, const IndexExpr& offset) {
  std::vector<std::vector<int64_t>> tables;
  for (const int64_t extent : tensor.shape) tables.emplace_back(extent, 0);
  for (const IndexTerm& term : offset.terms()) {
    const IndexExpr single =
        term.atom.kind == IndexAtom::Kind::kFloorDiv
            ? IndexExpr::FloorDiv(*term.atom.numerator, term.atom.divisor) * term.coefficient
            : IndexExpr::Var(term.atom.id) * term.coefficient;
    std::vector<VarId> used;
    single.CollectVars(used);
    for (const VarId v : used) {
      if (v != used.front()) return {};
    }
    if (used.empty()) return {};
    std::vector<int64_t> point(tensor.shape.size(), 0);
    for (int64_t i = 0; i < tensor.shape[used.front()]; ++i) {
      point[used.front()] = i;
      tables[used.front()][i] += Evaluate(single, point);
    }
  }
  return tables;
}

// visit(logical position, storage position) for every element.
template <class Visit>
void ForEachElement(const Tensor& tensor, const Visit& visit) {
  const IndexExpr offset = StorageOffset(tensor, LogicalVariables(tensor));
  const auto tables = OffsetTables(tensor, offset);
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> point(rank, 0);
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = offset.constant();
    if (tables.size() == rank && rank > 0) {
      for (size_t d = 0; d < rank; ++d) position += tables[d][point[d]];
    } else {
      position = Evaluate(offset, point);
    }
    visit(i, position);
    for (size_t d = rank; d-- > 0;) {
      if (++point[d] < tensor.shape[d]) break;
      point[d] = 0;
    }
  }
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

void ToStorage(const Tensor& tensor, const Array& logical, std::byte* storage) {
  const size_t size = SizeOf(tensor.type);
  if (tensor.layout.IsRowMajor()) {
    if (logical.bytes() > 0) std::memcpy(storage, logical.data(), logical.bytes());
    return;
  }
  ForEachElement(tensor, [&](int64_t i, int64_t at) {
    std::memcpy(storage + at * size, logical.data() + i * size, size);
  });
}

Array FromStorage(const Tensor& tensor, const std::byte* storage) {
  Array logical(tensor.type, tensor.shape);
  std::byte* data = logical.mutable_data();
  const size_t size = SizeOf(tensor.type);
  if (tensor.layout.IsRowMajor()) {
    if (logical.bytes() > 0) std::memcpy(data, storage, logical.bytes());
    return logical;
  }
  ForEachElement(tensor, [&](int64_t i, int64_t at) {
    std::memcpy(data + i * size, storage + at * size, size);
  });
  return logical;
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
