#include "graph/pad/exact_numbers.h"

#include <algorithm>

#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// Returns the exact extent of a part as a scalar of `type`: a constant if the part is fixed.
Result<ValueId> ExactOf(PaddedNode& node, const Part& part, DataType type) {
  if (!part.IsOpen()) return node.padder().Number(part.exact, type);
  TUNEC_ASSIGN(const ValueId size, node.padder().Number(part.exact, DataType::kI32));
  return node.builder().Add(Op::kCast, {size}, {{"to", std::string(Name(type))}});
}

}  // namespace

bool CountFromStart(const PaddedNode& node, size_t i, const SizeExpr& extent) {
  const Array* indices = node.padder().bucket().ConstantOf(node.bucket().inputs[i]);
  if (indices == nullptr || indices->size() == 0) return false;
  int64_t least = indices->GetInt(0), most = least;
  for (int64_t k = 1; k < indices->size(); ++k) {
    least = std::min(least, indices->GetInt(k));
    most = std::max(most, indices->GetInt(k));
  }
  return least >= 0 && most < int64_t{1} << 48 && node.padder().IsProved(AtMost(most + 1, extent));
}

Result<ExactNumbers> CountExact(PaddedNode& node, size_t i, const Axis& along) {
  GraphBuilder& builder = node.builder();
  ExactNumbers numbers;
  ValueId given = node.input(i).value;
  if (SizeOf(builder.TypeOf(given).type) < SizeOf(DataType::kI32)) {
    const std::string wide(Name(DataType::kI32));
    TUNEC_ASSIGN(given, builder.Add(Op::kCast, {given}, {{"to", wide}}));
  }
  const DataType type = builder.TypeOf(given).type;
  numbers.zero = builder.AddConstant("zero", ScalarOf(type, 0));
  numbers.one = builder.AddConstant("one", ScalarOf(type, 1));
  numbers.total = numbers.one;
  for (const Part& part : along.parts()) {
    TUNEC_ASSIGN(const ValueId extent, ExactOf(node, part, type));
    ValueId product = extent;
    if (!numbers.extents.empty()) {
      TUNEC_ASSIGN(product, builder.Add(Op::kMul, {numbers.total, extent}));
    }
    numbers.extents.push_back(extent);
    numbers.total = product;
  }
  TUNEC_ASSIGN(const ValueId is_negative, builder.Add(Op::kLt, {given, numbers.zero}));
  TUNEC_ASSIGN(const ValueId from_end, builder.Add(Op::kAdd, {given, numbers.total}));
  TUNEC_ASSIGN(numbers.indices, builder.Add(Op::kWhere, {is_negative, from_end, given}));
  return numbers;
}

Result<ValueId> Embed(PaddedNode& node, ValueId numbers, const Axis& along,
                      const std::vector<ValueId>& extents) {
  if (along.IsPrefix()) return numbers;
  GraphBuilder& builder = node.builder();
  const DataType type = builder.TypeOf(numbers).type;
  ValueId sum;
  int64_t stride = 1;
  for (size_t p = along.parts().size(); p-- > 0; stride *= along.parts()[p].padded) {
    ValueId digit = numbers;
    if (p > 0) {
      TUNEC_ASSIGN(digit, builder.Add(Op::kMod, {numbers, extents[p]}));
      TUNEC_ASSIGN(numbers, builder.Add(Op::kDiv, {numbers, extents[p]}));
    }
    const ValueId step = builder.AddConstant("stride", ScalarOf(type, static_cast<double>(stride)));
    TUNEC_ASSIGN(digit, builder.Add(Op::kMul, {digit, step}));
    if (sum.valid()) {
      TUNEC_ASSIGN(digit, builder.Add(Op::kAdd, {sum, digit}));
    }
    sum = digit;
  }
  return sum;
}

}  // namespace tunec::pad
