// Scatters and TopK. Compiled statements know where each instance writes, so scatters are written
// the other way round: each element of the result looks for what belongs there. A scatter costs
// the elements of the axis times the updates along it; beyond a limit it is unsupported.
#include <array>
#include <optional>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/order.h"
#include "graph/onnx/handlers/positions.h"
#include "graph/onnx/handlers/window.h"
#include "graph/passes/index_checks.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

/// Comparisons of elements with updates.
constexpr int64_t kMostComparisons = int64_t{1} << 30;

Status CheckComparisons(const std::vector<int64_t>& shape) {
  const int64_t count = ElementCount(shape);
  if (count >= 0 && count <= kMostComparisons) return {};
  return Fail(ErrorCode::kUnsupported, "more than {} comparisons", kMostComparisons);
}

/// How updates of one element combine with it.
struct Combination {
  std::string name;  // none, add, mul, max, min

  Formula Reduce(const Formula& hits, const Formula& updates, int64_t axis) const {
    const Attributes over{{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{0}}};
    const auto reduce = [&](Op op, const Formula& neutral) {
      return Apply(op, {Where(hits, updates, neutral)}, over);
    };
    if (name == "add") return reduce(Op::kReduceSum, updates.Number(0));
    if (name == "mul") return reduce(Op::kReduceProd, updates.Number(1));
    // What no update hits keeps its own element, so any update is neutral there.
    return name == "max" ? reduce(Op::kReduceMax, Extreme(updates, Op::kReduceMin))
                         : reduce(Op::kReduceMin, Extreme(updates, Op::kReduceMax));
  }
  Formula Combine(const Formula& element, const Formula& update) const {
    if (name == "add") return element + update;
    if (name == "mul") return element * update;
    return name == "max" ? Max(element, update) : Min(element, update);
  }

 private:
  /// The least or greatest update of all: neutral for the opposite reduction.
  static Formula Extreme(const Formula& updates, Op op) {
    return Apply(op, {updates}, {{"axes", AllAxes(updates.rank())}, {"keepdims", int64_t{0}}});
  }
};

Result<Combination> ReadCombination(const NodeContext& node) {
  TUNEC_ASSIGN(const std::string name, node.String("reduction", "none"));
  for (const std::string_view known : {"none", "add", "mul", "max", "min"}) {
    if (name == known) return Combination{name};
  }
  return Fail(ErrorCode::kParse, "reduction is '{}'", name);
}

/// Of rows data[n, inner], those at indices[u] replaced by or combined with updates[u, inner]. Of
/// several updates without a reduction the last one counts.
Result<Formula> ScatterRows(const Formula& data, const Formula& indices, const Formula& updates,
                            const Combination& combination) {
  const NodeContext& node = data.node();
  TUNEC_ASSIGN(const auto extents, data.Extents<2>());
  TUNEC_ASSIGN(const int64_t count, indices.Extent(0));
  const auto [rows, inner] = extents;
  if (count == 0 || rows == 0) return data;
  const bool replaces = combination.name == "none";
  TUNEC_RETURN_IF_ERROR(CheckComparisons({rows, count, replaces ? 1 : inner}));
  const Formula hits = Equal(Iota(node, 0, rows).Unsqueeze(1), indices.Unsqueeze(0));  // [n, u]
  const Attributes along{{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}};
  const Formula any =
      Apply(Op::kReduceMax, {hits.Cast(DataType::kU8)}, along).Cast(DataType::kBool);
  if (replaces) {
    const Formula last =
        Apply(Op::kArgMax, {hits.Cast(DataType::kU8)},
              {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}, {"select_last_index", int64_t{1}}});
    return Where(any, Gather(updates, last), data);
  }
  const Formula reduced = combination.Reduce(hits.Unsqueeze(2), updates.Unsqueeze(0), 1);
  return Where(any, combination.Combine(data, reduced), data);
}

/// Rows of the last axis of `indices` are positions in the leading axes of data.
Result<Operands> ScatterNd(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand data, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Operand updates, node.Input(2));
  TUNEC_ASSIGN(const Combination combination, ReadCombination(node));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(indices, 1, kMostAxes));
  TUNEC_ASSIGN(const int64_t depth, node.Extent(indices, -1));
  if (depth < 1 || depth > data->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "indices have {} positions each, wanted 1 to {}",
                depth, data->rank());
  }
  const auto axes = static_cast<size_t>(depth);
  const int64_t rows = Product(data->shape, 0, axes);
  const int64_t inner = Product(data->shape, axes, data->shape.size());
  const int64_t count = Product(indices->shape, 0, indices->shape.size() - 1);
  if (Product(updates->shape, 0, updates->shape.size()) != count * inner) {
    return Fail(ErrorCode::kInvalidArgument, "updates do not fit indices and data");
  }
  constexpr int64_t kNoRow = -1;
  TUNEC_ASSIGN(const Formula numbers,
               RowNumbers(Formula(node, indices), data->shape.Part(0, axes), kNoRow));
  TUNEC_ASSIGN(const Formula y,
               ScatterRows(Formula(node, data).Reshape({rows, inner}), numbers.Reshape({count}),
                           Formula(node, updates).Reshape({count, inner}), combination));
  return Results({y.Reshape(data->shape)});
}

/// x with its last axis `axis` and the others grown to those of `shape`, as many, by `filler`.
Formula AxisLast(const Formula& x, int64_t axis, const std::vector<int64_t>& shape, double filler) {
  const std::vector<int64_t> given = x.shape();
  std::vector<int64_t> pads(2 * shape.size(), 0);
  bool grows = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int64_t>(d) == axis) continue;
    pads[shape.size() + d] = shape[d] - given[d];
    grows |= pads[shape.size() + d] != 0;
  }
  const Formula grown = grows ? Apply(Op::kPad, {x}, {{"pads", pads}, {"value", filler}}) : x;
  std::vector<int64_t> perm = AllAxes(x.rank());
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return grown.Transpose(perm);
}

/// Each update has its own index along the axis; its other positions are its own.
Result<Operands> ScatterElements(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand data, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Operand updates, node.Input(2));
  TUNEC_ASSIGN(const Combination combination, ReadCombination(node));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, data->rank()));
  if (indices->shape != updates->shape || indices->rank() != data->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "indices and updates do not fit the data");
  }
  for (int64_t d = 0; d < data->rank(); ++d) {
    TUNEC_ASSIGN(const int64_t most, node.Extent(data, d));
    TUNEC_ASSIGN(const int64_t given, node.Extent(indices, d));
    if (d != axis && given > most) {
      return Fail(ErrorCode::kInvalidArgument, "indices are larger than the data on axis {}", d);
    }
  }
  TUNEC_ASSIGN(const int64_t extent, node.Extent(data, axis));
  TUNEC_ASSIGN(const int64_t count, node.Extent(indices, axis));
  if (extent == 0 || Product(indices->shape, 0, indices->shape.size()) == 0) return Operands{data};
  if (indices->constant) TUNEC_RETURN_IF_ERROR(CheckIndices(*indices->constant, extent));
  const Formula given = Formula(node, indices).Cast(DataType::kI64);
  const Formula from_start =
      Where(Less(given, given.Number(0)), given + static_cast<double>(extent), given);
  // [others..., updates]; -1 hits nothing.
  const Formula at = AxisLast(from_start, axis, data->shape, -1);
  const Formula values = AxisLast(Formula(node, updates), axis, data->shape, 0);
  const Formula x = AxisLast(Formula(node, data), axis, data->shape, 0);
  std::vector<int64_t> compared = x.shape();
  compared.push_back(count);
  TUNEC_RETURN_IF_ERROR(CheckComparisons(compared));
  const Formula hits = Equal(Iota(node, 0, extent).Unsqueeze(1), at.Unsqueeze(-2));
  const int64_t last_axis = x.rank();
  const Formula any = Apply(Op::kReduceMax, {hits.Cast(DataType::kU8)},
                            {{"axes", std::vector<int64_t>{last_axis}}, {"keepdims", int64_t{0}}})
                          .Cast(DataType::kBool);
  std::optional<Formula> y;
  if (combination.name == "none") {
    const Formula last =
        Apply(Op::kArgMax, {hits.Cast(DataType::kU8)},
              {{"axis", last_axis}, {"keepdims", int64_t{0}}, {"select_last_index", int64_t{1}}});
    y = Where(any, Apply(Op::kGatherElements, {values, last}, {{"axis", x.rank() - 1}}), x);
  } else {
    const Formula reduced = combination.Reduce(hits, values.Unsqueeze(-2), last_axis);
    y = Where(any, combination.Combine(x, reduced), x);
  }
  std::vector<int64_t> perm = AllAxes(x.rank());
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return Results({y->Transpose(perm)});
}

/// A cache into which each batch's update is written from its own place on.
Result<Operands> TensorScatter(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand cache, node.Input(0));
  TUNEC_ASSIGN(const Operand update, node.Input(1));
  TUNEC_ASSIGN(const std::string mode, node.String("mode", "linear"));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -2, cache->rank()));
  if (mode != "linear" && mode != "circular") {
    return Fail(ErrorCode::kParse, "mode is '{}', wanted 'linear' or 'circular'", mode);
  }
  if (axis == 0 || update->rank() != cache->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "cache and update do not fit at axis {}", axis);
  }
  TUNEC_ASSIGN(const int64_t batch, node.Extent(cache, 0));
  TUNEC_ASSIGN(const int64_t extent, node.Extent(cache, axis));
  TUNEC_ASSIGN(const int64_t length, node.Extent(update, axis));
  const auto along = [&](int64_t d, int64_t size) {
    std::vector<int64_t> shape(cache->shape.size(), 1);
    shape[static_cast<size_t>(d)] = size;
    return shape;
  };
  if (length > extent || length == 0) {
    return Fail(ErrorCode::kInvalidArgument, "an update of {} for a cache of {}", length, extent);
  }
  Formula source = Iota(node, 0, extent).Reshape(along(axis, extent));
  if (node.HasInput(2)) source = source - In(node, 2).Cast(DataType::kI64).Reshape(along(0, batch));
  if (mode == "circular") {
    source = Apply(Op::kMod, {source, source.Number(static_cast<double>(extent))});
  }
  const auto last = static_cast<double>(length - 1);
  const Formula inside =
      And(LessOrEqual(source.Number(0), source), LessOrEqual(source, source.Number(last)));
  const Formula moved =
      Apply(Op::kGatherElements,
            {Formula(node, update), Clamp(source, 0, last).Expand(cache->shape)}, {{"axis", axis}});
  return Results({Where(inside, moved, Formula(node, cache))});
}

/// Values back at the places that a max pool took them from; zeros elsewhere.
Result<Operands> MaxUnpool(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Window window, ReadWindow(node, {}));
  const size_t rank = window.rank();
  const std::vector<int64_t> sizes = x->shape.Part(2);
  if (sizes.size() != rank || indices->shape != x->shape) {
    return Fail(ErrorCode::kInvalidArgument, "input, indices and kernel_shape do not fit");
  }
  std::vector<int64_t> shape = x->shape.Part(0, 2);
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(MultiplySizes(sizes[i] - 1, window.strides[i]) + window.kernel[i] -
                    window.pads[i] - window.pads[i + rank]);
  }
  std::vector<int64_t> wanted = shape;
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(wanted, node.ConstantInts(2));
  }
  const int64_t size = ElementCount(shape);
  if (size < 0 || wanted.size() != shape.size() || ElementCount(wanted) < size) {
    return Fail(ErrorCode::kInvalidArgument, "the result's shape does not fit");
  }
  // Indices count in the tensor that was pooled; a larger result has zeros at its ends.
  const int64_t count = Product(x->shape, 0, x->shape.size());
  const Formula value(node, x);
  TUNEC_ASSIGN(const Formula rows,
               ScatterRows(value.Number(0).Expand({size, 1}),
                           Formula(node, indices).Cast(DataType::kI64).Reshape({count}),
                           value.Reshape({count, 1}), Combination{"none"}));
  std::vector<int64_t> ends(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) ends[shape.size() + d] = wanted[d] - shape[d];
  const Formula y = rows.Reshape(shape);
  return Results({wanted == shape ? y : Apply(Op::kPad, {y}, {{"pads", ends}})});
}

/// The k first elements of each row in order, and where they stood.
Result<Operands> TopK(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, input->rank()));
  TUNEC_ASSIGN(const int64_t largest, node.Int("largest", 1));
  TUNEC_ASSIGN(int64_t k, node.Int("k", 0));
  if (node.version() >= 10) {
    TUNEC_ASSIGN(k, node.ConstantInt(1));
  }
  TUNEC_ASSIGN(const int64_t n, node.Extent(input, axis));
  if (k < 1 || k > n) return Fail(ErrorCode::kInvalidArgument, "k is {} of {} elements", k, n);
  const Formula x(node, input);
  const Formula places = FirstPlaces(x, axis, k, largest != 0);
  const Formula values = Apply(Op::kGatherElements, {x, places}, {{"axis", axis}});
  return Results({values, places});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"MaxUnpool", 9, MaxUnpool},
    {"Scatter", 9, ScatterElements},
    {"ScatterElements", 11, ScatterElements},
    {"ScatterND", 11, ScatterNd},
    {"TensorScatter", 24, TensorScatter},
    {"TopK", 1, TopK},
});

}  // namespace

std::span<const Handler> ScatterHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
