// The rule for the operator `scatter`, which writes updates at the positions that indices give.
#include "graph/pad/exact_numbers.h"
#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// Returns the result's axis for an axis that is not scattered. `axis` is its number in the indices
/// and updates, `data_axis` in the data.
Result<Axis> BesideAxis(PaddedNode& node, size_t data_axis, size_t axis) {
  const Axis& data = node.axis(0, data_axis);
  const Axis& updates = node.axis(2, axis);
  const Axis& numbers = node.axis(1, axis);
  if (!node.HasSamePositions(updates, data))
    return node.Reject(fmt::format("its operands lie differently along axis {}", data_axis));
  TUNEC_ASSIGN(const Axis written, node.UnifyAxes(numbers, updates));
  if (updates.exact() == data.exact()) return node.UnifyAxes(written, data);
  // Only some positions are written, so elements along a repeated axis are no longer equal.
  node.padder().Mix(updates);
  node.padder().Mix(data);
  return data.Different();
}

/// Converts indices to positions in the padded axis. Indices of updates that are not exact, and
/// indices out of the exact range, are replaced by an index out of the padded range. So scatter
/// omits these updates.
Status NumberPlaces(PaddedNode& node, size_t axis, const Axis& along) {
  const Axis& updates = node.axis(2, axis);
  node.padder().Mix(along);
  node.padder().Mix(updates);
  const bool as_they_are =
      !along.IsOpen() || (along.IsPrefix() && CountFromStart(node, 1, along.exact()));
  if (as_they_are && !updates.IsOpen()) return {};
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ExactNumbers numbers, CountExact(node, 1, along));
  TUNEC_ASSIGN(const ValueId from_start, builder.Add(Op::kGe, {numbers.indices, numbers.zero}));
  TUNEC_ASSIGN(const ValueId to_end, builder.Add(Op::kLt, {numbers.indices, numbers.total}));
  TUNEC_ASSIGN(ValueId counts, builder.Add(Op::kAnd, {from_start, to_end}));
  if (updates.IsOpen()) {
    TUNEC_ASSIGN(const ValueId is_exact, node.padder().IsExact(node.axes(2), {axis}));
    TUNEC_ASSIGN(counts, builder.Add(Op::kAnd, {counts, is_exact}));
  }
  TUNEC_ASSIGN(const ValueId places, Embed(node, numbers.indices, along, numbers.extents));
  const ValueId nowhere = builder.AddConstant(
      "nowhere", ScalarOf(builder.TypeOf(places).type, static_cast<double>(along.padded())));
  TUNEC_ASSIGN(const ValueId masked, builder.Add(Op::kWhere, {counts, places, nowhere}));
  node.SetInput(1, masked);
  return {};
}

}  // namespace

Result<std::vector<PaddedValue>> PadScatter(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const auto depth = static_cast<size_t>(node.bucket().Int("depth"));
  Axes axes = node.axes(0);
  for (size_t a = 0; a < node.axes(2).size(); ++a) {
    if (a == axis) continue;
    const size_t beside = a < axis ? a : a + depth - 1;
    TUNEC_ASSIGN(axes[beside], BesideAxis(node, beside, a));
  }
  std::vector<Part> parts;
  for (size_t a = axis; a < axis + depth; ++a) {
    axes[a] = axes[a].Different();
    parts.insert(parts.end(), axes[a].parts().begin(), axes[a].parts().end());
  }
  TUNEC_RETURN_IF_ERROR(node.UnifyAxes(node.axis(1, axis), node.axis(2, axis)));
  TUNEC_RETURN_IF_ERROR(NumberPlaces(node, axis, Axis(parts)));
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
