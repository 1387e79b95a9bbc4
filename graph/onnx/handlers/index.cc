// Import of gathers and related operators, such as Compress, OneHot and NonZero.
#include <algorithm>
#include <array>

#include "graph/onnx/fold_sizes.h"
#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/positions.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

Result<Operands> Gather(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, x->rank()));
  return One(node.Emit(op, {x, indices}, {{"axis", axis}}));
}

/// Imports GatherND. Rows of the last axis of `indices` are positions in the axes of x after the
/// batch_dims leading axes. The flattened positions select from x with the batch and indexed axes
/// merged into one.
Result<Operands> GatherNd(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  TUNEC_ASSIGN(const int64_t batch, node.Int("batch_dims", 0));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(given, 1, kMostAxes));
  TUNEC_ASSIGN(const int64_t depth, node.Extent(given, -1));
  const auto before = static_cast<size_t>(std::clamp<int64_t>(batch, 0, kMostAxes));
  bool fits = batch >= 0 && batch < given->rank() && batch < x->rank();
  for (int64_t axis = 0; fits && axis < batch; ++axis) {
    TUNEC_ASSIGN(const Dim own, node.DimOf(x, axis));
    TUNEC_ASSIGN(const Dim other, node.DimOf(given, axis));
    TUNEC_ASSIGN(fits, NodeContext::AreEqual(own, other));
  }
  if (!fits || depth < 1 || depth > x->rank() - batch) {
    return Fail(ErrorCode::kInvalidArgument,
                "indices have {} positions each and batch_dims is {}, expected positions in the "
                "input of rank {}",
                depth, batch, x->rank());
  }
  const auto indexed = static_cast<size_t>(batch + depth);
  // A computed position out of range becomes `rows` or more, which is out of range for the gather.
  const Dim rows = x->shape.Elements(0, indexed);
  TUNEC_ASSIGN(Formula numbers,
               RowNumbers(Formula(node, given), x->shape.Part(before, indexed), rows));
  if (batch > 0) {
    std::vector<Dim> shape = x->shape.Part(0, before);
    shape.resize(given->shape.size() - 1, 1);
    const Formula first = Iota(node, 0, x->shape.Elements(0, before)).Reshape(shape);
    numbers = numbers + first * first.Size(x->shape.Elements(before, indexed));
  }
  std::vector<Dim> shape = x->shape.Part(indexed);
  shape.insert(shape.begin(), rows);
  return Results({Gather(Formula(node, x).Reshape(shape), numbers)});
}

/// Imports Compress, which selects by a list of booleans. Positions beyond the list's end are not
/// selected.
Result<Operands> Compress(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Array condition, node.ConstantInput(1));
  Formula data(node, x);
  int64_t axis = 0;
  if (node.HasAttribute("axis")) {
    TUNEC_ASSIGN(axis, node.Axis("axis", 0, x->rank()));
  } else {
    data = data.Reshape({x->shape.Elements()});
  }
  TUNEC_ASSIGN(const int64_t extent, data.Extent(axis));
  std::vector<int64_t> selected;
  for (int64_t i = 0; i < std::min(extent, condition.size()); ++i) {
    if (condition.GetInt(i) != 0) selected.push_back(i);
  }
  return Results({Gather(data, Formula(node, node.Ints64(selected)), axis)});
}

/// Imports ReverseSequence. Reverses the first elements of each sequence, up to the sequence's
/// length in input 1. The other elements stay.
Result<Operands> ReverseSequence(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t time, node.Axis("time_axis", 0, x->rank()));
  TUNEC_ASSIGN(const int64_t batch, node.Axis("batch_axis", 1, x->rank()));
  if (time == batch || x->rank() < 2) {
    return Fail(ErrorCode::kInvalidArgument, "time and batch are the same axis");
  }
  const auto along = [&](int64_t axis, const Dim& extent) {
    std::vector<Dim> shape(x->shape.size(), 1);
    shape[static_cast<size_t>(axis)] = extent;
    return shape;
  };
  TUNEC_ASSIGN(const Dim steps, node.DimOf(x, time));
  TUNEC_ASSIGN(const Dim batches, node.DimOf(x, batch));
  const Formula given = In(node, 1).Cast(DataType::kI64).Reshape(along(batch, batches));
  // Lengths are clamped to 0..steps.
  const Formula lengths = Min(Max(given, given.Number(0)), given.Size(steps));
  const Formula position = Iota(node, 0, steps).Reshape(along(time, steps));
  const Formula source = Where(Less(position, lengths), lengths - position - 1, position);
  return Results(
      {Apply(Op::kGatherElements, {Formula(node, x), source.Expand(x->shape)}, {{"axis", time}})});
}

/// Imports ai.onnx.ml's selection of elements of the last axis.
Result<Operands> ArrayFeatureExtractor(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  const Dim rows = x->rank() < 2 ? Dim(1) : x->shape.Elements(0, x->shape.size() - 1);
  const Formula indices = Formula(node, given).Reshape({given->shape.Elements()});
  TUNEC_RETURN_IF_ERROR(node.RequireRank(x, 1, kMostAxes));
  const Formula picked = Gather(Formula(node, x), indices, x->rank() - 1);
  if (x->rank() >= 2) return Results({picked});
  TUNEC_ASSIGN(const Dim count, indices.DimOf(0));
  return Results({picked.Reshape({rows, count})});
}

/// Rejects an operator whose result's shape depends on operand values.
Result<Operands> DependsOnValues(const NodeContext&, Op) {
  return Fail(ErrorCode::kUnsupported,
              "the shape of its result depends on the values of its operands");
}

/// Returns whether all elements are known to be the same number, which is not 0.
bool IsFullOfNonzero(const Operand& x) {
  if (!x->counting) return false;
  const auto is_zero = [](const Dim& step) { return step == Dim(0); };
  return x->counting->first.AsConstant().value_or(0) != 0 &&
         std::ranges::all_of(x->counting->steps, is_zero);
}

/// Returns the positions of all elements of a shape, axis by axis: [axes, elements].
Formula AllPositions(const NodeContext& node, const OperandShape& shape) {
  std::vector<Formula> rows;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<Dim> along(shape.size(), 1);
    along[axis] = shape.list()[axis];
    const Formula positions = Iota(node, 0, along[axis]).Reshape(along).Expand(shape);
    rows.push_back(positions.Reshape({1, shape.Elements()}));
  }
  return Concat(rows, 0);
}

/// Returns the positions of a constant's nonzero elements, axis by axis. Rejects other operands,
/// except for equal elements. Exporters write the positions of an axis in this way.
Result<Operands> NonZero(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  if (!x->constant && x->rank() > 0 && IsFullOfNonzero(x))
    return Results({AllPositions(node, x->shape)});
  if (!x->constant) return DependsOnValues(node, op);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x->constant->size(); ++i) {
    const bool is_zero =
        IsFloat(x->type) ? x->constant->GetDouble(i) == 0 : x->constant->GetInt(i) == 0;
    if (!is_zero) found.push_back(i);
  }
  const auto count = static_cast<int64_t>(found.size());
  Array positions(DataType::kI64, {x->rank(), count});
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = found[static_cast<size_t>(i)];
    for (int64_t axis = x->rank(); axis-- > 0;) {
      TUNEC_ASSIGN(const int64_t extent, node.Extent(x, axis));
      positions.SetInt(axis * count + i, rest % extent);
      rest /= extent;
    }
  }
  return Operands{node.Constant(std::move(positions))};
}

constexpr int64_t kMostDepth = int64_t{1} << 30;

Result<Operands> OneHot(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand indices, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  Dim depth;
  if (given->sizes) {
    depth = given->sizes->front();
    if (given->sizes->size() != 1 || !IsPositive(depth))
      return Fail(ErrorCode::kUnsupported, "the depth is {}, expected a number", Print(depth));
  } else {
    TUNEC_ASSIGN(const double number, node.ConstantFloat(1));
    depth = number >= 1 && number <= kMostDepth ? Dim(static_cast<int64_t>(number)) : Dim(0);
  }
  TUNEC_ASSIGN(const Array values, node.ConstantInput(2));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, indices->rank() + 1));
  if (values.size() != 2 || depth == Dim(0)) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} values, or a depth out of range; expected 2, and 1 to {}", values.size(),
                kMostDepth);
  }
  return One(node.Emit(op, {indices},
                       {{"axis", axis},
                        {"depth", Substitute(Attribute(depth), {})},
                        {"off_value", values.GetDouble(0)},
                        {"on_value", values.GetDouble(1)},
                        {"to", std::string(Name(values.type()))}}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"ArrayFeatureExtractor", 1, ArrayFeatureExtractor, Op::kGather, "ai.onnx.ml"},
    {"Compress", 9, Compress, Op::kGather},
    {"Gather", 1, Gather, Op::kGather},
    {"GatherElements", 11, Gather, Op::kGatherElements},
    {"GatherND", 11, GatherNd},
    {"NonMaxSuppression", 10, DependsOnValues},
    {"NonZero", 9, NonZero},
    {"OneHot", 9, OneHot, Op::kOneHot},
    {"ReverseSequence", 10, ReverseSequence, Op::kGatherElements},
    {"Unique", 11, DependsOnValues},
});

}  // namespace

std::span<const Handler> IndexHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
