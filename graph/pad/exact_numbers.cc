#include "graph/pad/exact_numbers.h"

#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// Returns the exact extent of a part as a scalar of `type`: a constant if the part is fixed.
Result<ValueId> ExactOf(PaddedNode& node, const Part& part, DataType type) {
  GraphBuilder& builder = node.builder();
  if (!part.IsOpen())
    return builder.AddConstant("extent", ScalarOf(type, static_cast<double>(part.exact)));
  TUNEC_ASSIGN(const ValueId size, node.padder().SizeOf(part.parameter));
  return builder.Add(Op::kCast, {size}, {{"to", std::string(Name(type))}});
}

bool AreBetween(const Array& indices, int64_t extent) {
  for (int64_t k = 0; k < indices.size(); ++k) {
    if (indices.GetInt(k) < 0 || indices.GetInt(k) >= extent) return false;
  }
  return true;
}

}  // namespace

bool CountFromStart(const PaddedNode& node, size_t i, const Series& extents) {
  const std::vector<const Graph*>& graphs = node.padder().graphs();
  for (size_t g = 0; g < graphs.size(); ++g) {
    const Array* indices = graphs[g]->ConstantOf(node.bucket().inputs[i]);
    if (indices == nullptr || !AreBetween(*indices, extents[g])) return false;
  }
  return true;
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

bool HasSamePositions(const Axis& axis, const Axis& data) {
  if (Unify(axis, data) && axis.extents().padded == data.extents().padded) return true;
  return !axis.IsOpen() && data.IsPrefix() && axis.extents().padded <= data.extents().exact;
}

}  // namespace tunec::pad
