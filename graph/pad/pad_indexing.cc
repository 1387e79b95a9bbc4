// Gathers, and what makes values from indices.
#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

// Whether constant indices count from the start, wherever they are.
bool CountFromStart(const PaddedNode& node, size_t i) {
  for (const auto& [graph, id] : {std::pair{&node.padder().exact(), node.exact().inputs[i]},
                                  std::pair{&node.padder().bucket(), node.bucket().inputs[i]}}) {
    const Array* indices = graph->ConstantOf(id);
    if (indices == nullptr) return false;
    for (int64_t k = 0; k < indices->size(); ++k) {
      if (indices->GetInt(k) < 0) return false;
    }
  }
  return true;
}

/// How many exact elements a part has, as a scalar.
Result<ValueId> ExactOf(PaddedNode& node, const Part& part, DataType type) {
  GraphBuilder& builder = node.builder();
  if (!part.IsOpen())
    return builder.AddConstant("extent", ScalarOf(type, static_cast<double>(part.exact)));
  TUNEC_ASSIGN(const ValueId size, node.padder().SizeOf(part.parameter));
  return builder.Add(Op::kCast, {size}, {{"to", std::string(Name(type))}});
}

/// Numbers of exact elements as numbers of padded ones: the same digits, of other extents.
Result<ValueId> Embed(PaddedNode& node, ValueId numbers, const Axis& along,
                      const std::vector<ValueId>& extents) {
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

// Indices of an open axis: negative ones count from its exact end, and the nearest in range are
// taken of what is out of range.
Status CountFromExactEnd(PaddedNode& node, size_t axis) {
  const Axis& along = node.axis(0, axis);
  if (!along.IsOpen()) return {};
  node.padder().Mix(along);
  if (along.IsPrefix() && CountFromStart(node, 1)) return {};
  GraphBuilder& builder = node.builder();
  ValueId indices = node.input(1).value;
  // That hold the extent.
  if (SizeOf(builder.TypeOf(indices).type) < SizeOf(DataType::kI32)) {
    const std::string wide(Name(DataType::kI32));
    TUNEC_ASSIGN(indices, builder.Add(Op::kCast, {indices}, {{"to", wide}}));
  }
  const DataType type = builder.TypeOf(indices).type;
  const ValueId zero = builder.AddConstant("zero", ScalarOf(type, 0));
  const ValueId one = builder.AddConstant("one", ScalarOf(type, 1));
  std::vector<ValueId> extents;
  ValueId total;
  for (const Part& part : along.parts()) {
    TUNEC_ASSIGN(const ValueId extent, ExactOf(node, part, type));
    extents.push_back(extent);
    ValueId product = extent;
    if (total.valid()) {
      TUNEC_ASSIGN(product, builder.Add(Op::kMul, {total, extent}));
    }
    total = product;
  }
  TUNEC_ASSIGN(const ValueId is_negative, builder.Add(Op::kLt, {indices, zero}));
  TUNEC_ASSIGN(const ValueId from_end, builder.Add(Op::kAdd, {indices, total}));
  TUNEC_ASSIGN(const ValueId counted, builder.Add(Op::kWhere, {is_negative, from_end, indices}));
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {total, one}));
  TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {counted, zero}));
  TUNEC_ASSIGN(ValueId clamped, builder.Add(Op::kMin, {least, last}));
  if (!along.IsPrefix()) {
    TUNEC_ASSIGN(clamped, Embed(node, clamped, along, extents));
  }
  node.SetInput(1, clamped);
  return {};
}

// Whether places of the axis of indices are places of the axis of data.
bool LiesWithin(const Axis& indices, const Axis& data) {
  if (Unify(indices, data) && indices.extents().padded == data.extents().padded) return true;
  return !indices.IsOpen() && data.IsPrefix() && indices.extents().padded <= data.extents().exact;
}

}  // namespace

Result<ValueId> ClampIndices(GraphBuilder& builder, ValueId indices, int64_t extent) {
  const DataType type = builder.TypeOf(indices).type;
  const ValueId zero = builder.AddConstant("zero", ScalarOf(type, 0));
  const ValueId last = builder.AddConstant("last", ScalarOf(type, static_cast<double>(extent - 1)));
  TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {indices, zero}));
  return builder.Add(Op::kMin, {least, last});
}

Result<std::vector<PaddedValue>> PadGather(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(0);
  const auto place = axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  axes.insert(place, node.axes(1).begin(), node.axes(1).end());
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadGatherElements(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  for (size_t a = 0; a < node.axes(0).size(); ++a) {
    if (a == axis) continue;
    if (!LiesWithin(node.axis(1, a), node.axis(0, a)))
      return node.Refuse(fmt::format("its operands lie differently along axis {}", a));
    if (!node.axis(1, a).IsOpen()) node.padder().Mix(node.axis(0, a));  // the first ones are taken
  }
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(1);
  for (size_t a = 0; a < axes.size(); ++a) {
    // Indices that are repeated find other elements at each place of the data.
    const std::optional<Axis> both = a == axis ? std::nullopt : Unify(axes[a], node.axis(0, a));
    const bool alike = both && both->extents().padded == axes[a].extents().padded;
    if (alike) axes[a] = *both;
    if (!alike) axes[a] = a == axis ? axes[a] : axes[a].Different();
  }
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadOneHot(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  Axes axes = node.axes(0);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(node.bucket().Int("axis")),
              Axis::Fixed(node.bucket().Int("depth")));
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadRange(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"limit"}));
  const Axis axis = node.NewAxis(0);
  node.padder().Mix(axis);
  return Lies({axis});
}

Result<std::vector<PaddedValue>> PadRotary(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs({0, 1, 2}, 1));
  for (size_t i = 0; i < 3; ++i)
    TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, node.axes(i).size() - 1));
  axes.push_back(node.axes(0).back());
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadResize(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"shape"}));
  Axes axes = node.axes(0);
  const std::vector<double>& scales = node.bucket().Floats("scales");
  for (size_t a = 0; a < axes.size(); ++a) {
    if (scales[a] == 1) continue;
    TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, a));
    axes[a] = Axis::Fixed(node.OutputShape()[a].padded);
  }
  return Lies(std::move(axes));
}

}  // namespace tunec::pad
