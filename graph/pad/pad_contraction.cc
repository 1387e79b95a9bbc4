// Rules that pad matrix products and attention.
#include <cmath>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// The axes of a matrix operand. `sum` is the axis that is summed over. `free` is the other axis,
/// or -1 for a vector.
struct MatrixAxes {
  size_t sum = 0;
  int free = -1;
};

MatrixAxes MatrixAxesOf(size_t rank, bool sums_last) {
  if (rank == 1) return {};
  const size_t last = rank - 1, before = rank - 2;
  return sums_last ? MatrixAxes{last, static_cast<int>(before)}
                   : MatrixAxes{before, static_cast<int>(last)};
}

// Extends the mask (operand 3), so that keys beyond the exact ones are also hidden. Rejects a
// finite `hidden` score, because keys with this score have a weight.
Status HideKeys(PaddedNode& node, const Axis& keys) {
  if (std::isfinite(node.bucket().Float("hidden")))
    return node.Reject("what it hides counts with a finite score");
  TUNEC_ASSIGN(ValueId mask, node.padder().IsExact({keys}, {0}));
  if (node.Given(3)) {
    const ValueId own = node.input(3).value;
    const DataType type = node.builder().TypeOf(own).type;
    if (type == DataType::kBool) {
      TUNEC_ASSIGN(mask, node.builder().Add(Op::kAnd, {own, mask}));
    } else {
      // The mask is added to the scores, and NaN plus -inf is NaN. So keys beyond the exact ones
      // become 0, and do not make scores NaN.
      TUNEC_RETURN_IF_ERROR(node.MaskInput(1, {node.axes(1).size() - 2}, 0));
      const ValueId hidden = node.builder().AddConstant("hidden", ScalarOf(type, -INFINITY));
      TUNEC_ASSIGN(mask, node.builder().Add(Op::kWhere, {mask, own, hidden}));
    }
  }
  node.SetInput(3, mask);
  return {};
}

// Returns true if the causal mask hides all keys that are not exact from all exact queries, and
// hidden keys have no weight.
bool CausalHides(const PaddedNode& node, const Axis& queries, const Axis& keys) {
  if (std::isfinite(node.bucket().Float("hidden"))) return false;
  if (node.bucket().Int("causal") == 0 || !queries.IsPrefix() || !keys.IsPrefix()) return false;
  const SizeExpr seen = queries.exact() + node.Size("causal_offset");
  return node.padder().IsProved(AtMost(seen, keys.exact()));
}

// Replaces a causal mask whose offset depends on the sizes by a mask operand: key j is visible to
// query i if j <= i + offset. Rejects a mask of numbers, since a hidden score may be NaN before the
// mask is added.
Status MaskByOffset(PaddedNode& node, const Axis& queries, const Axis& keys) {
  GraphBuilder& builder = node.builder();
  if (node.bucket().Int("window") != 0 || std::isfinite(node.bucket().Float("hidden")))
    return node.Reject("its causal_offset depends on the sizes");
  TUNEC_ASSIGN(const ValueId offset,
               node.padder().Number(node.Size("causal_offset"), DataType::kI64));
  const std::vector<int64_t> column = {queries.padded(), 1};
  TUNEC_ASSIGN(const ValueId query, builder.Add(Op::kReshape, {CountUp(builder, queries.padded())},
                                                {{"shape", column}}));
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kAdd, {query, offset}));
  TUNEC_ASSIGN(ValueId mask, builder.Add(Op::kLe, {CountUp(builder, keys.padded()), last}));
  if (node.Given(3)) {
    const ValueId own = node.input(3).value;
    if (builder.TypeOf(own).type != DataType::kBool)
      return node.Reject("its causal_offset depends on the sizes, and its mask has numbers");
    TUNEC_ASSIGN(mask, builder.Add(Op::kAnd, {own, mask}));
  }
  node.SetInput(3, mask);
  Attributes attributes = node.bucket().attributes;
  attributes["causal"] = attributes["causal_offset"] = int64_t{0};
  node.SetAttributes(std::move(attributes));
  return {};
}

}  // namespace

Result<std::vector<PaddedValue>> PadMatmul(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const MatrixAxes a = MatrixAxesOf(node.axes(0).size(), node.bucket().Int("transpose_a") == 0);
  const MatrixAxes b = MatrixAxesOf(node.axes(1).size(), node.bucket().Int("transpose_b") != 0);
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs({0, 1}, 2));
  TUNEC_ASSIGN(const Axis sum, node.UnifyAxes(node.axis(0, a.sum), node.axis(1, b.sum)));
  node.input(0).axes[a.sum] = node.input(1).axes[b.sum] = sum;
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {a.sum}, 0));
  TUNEC_RETURN_IF_ERROR(node.MaskInput(1, {b.sum}, 0));
  if (a.free >= 0) axes.push_back(node.axis(0, static_cast<size_t>(a.free)));
  if (b.free >= 0) axes.push_back(node.axis(1, static_cast<size_t>(b.free)));
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadAttention(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"causal_offset"}));
  const size_t rank = node.axes(0).size();
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, rank - 1));
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(2, rank - 1));
  TUNEC_ASSIGN(Axis keys, node.UnifyAxes(node.axis(1, rank - 2), node.axis(2, rank - 2)));
  // k and v may have fewer heads than q. The axes of the heads must then be fixed.
  const size_t batch = rank > 2 ? rank - 3 : 0;
  Axes scores(node.axes(0).begin(), node.axes(0).begin() + static_cast<std::ptrdiff_t>(batch));
  for (size_t d = 0; d < rank - 2; ++d) {
    const bool groups = node.axis(0, d).padded() != node.axis(1, d).padded();
    if (groups) {
      TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, d));
      TUNEC_RETURN_IF_ERROR(node.RequireFixed(1, d));
      TUNEC_RETURN_IF_ERROR(node.RequireFixed(2, d));
    }
    Axis axis = node.axis(0, d);
    for (size_t i = 1; i < 3 && !groups; ++i) {
      TUNEC_ASSIGN(axis, node.UnifyAxes(axis, node.axis(i, d)));
    }
    if (d < batch) scores[d] = axis;
    if (d >= batch) scores.push_back(axis);
  }
  scores.push_back(node.axis(0, rank - 2));
  scores.push_back(keys);
  if (node.Given(3)) {
    TUNEC_ASSIGN(scores, node.UnifyInputs({3}, 0, scores));
  }
  keys = node.input(1).axes[rank - 2] = node.input(2).axes[rank - 2] = scores[rank - 1];
  const bool is_causal = node.bucket().Int("causal") != 0;
  if (is_causal) scores[rank - 2] = scores[rank - 2].Different();
  const Axis queries = scores[rank - 2];
  Axes result = scores;
  result[rank - 1] = node.axis(2, rank - 1);
  if (is_causal && !node.Size("causal_offset").IsConstant())
    TUNEC_RETURN_IF_ERROR(MaskByOffset(node, queries, keys));
  if (keys.IsOpen()) {
    node.padder().Mix(keys);
    if (!CausalHides(node, queries, keys)) TUNEC_RETURN_IF_ERROR(HideKeys(node, keys));
    TUNEC_RETURN_IF_ERROR(node.MaskInput(2, {rank - 2}, 0));
  }
  if (is_causal) {
    node.padder().Mix(queries);
    if (!queries.IsPrefix() || !keys.IsPrefix())
      return node.Reject("it is causal along several dimensions");
  }
  return WithAxes(std::move(result));
}

}  // namespace tunec::pad
