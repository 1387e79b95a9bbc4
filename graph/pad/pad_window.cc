// Convolutions and pools: what a window finds beyond the exact positions is what it finds outside.
#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// The open ones of the axes that windows move along.
Result<std::set<size_t>> OpenSpatialAxes(PaddedNode& node) {
  std::set<size_t> open;
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    const Axis& axis = node.axis(0, a);
    if (!axis.IsOpen()) continue;
    if (!axis.IsPrefix()) return node.Refuse("its windows move along several dimensions");
    open.insert(a);
    node.padder().Mix(axis);
  }
  return open;
}

/// Windows begin at the same places in both graphs. How much is added at the end may differ: what
/// is there is beyond the exact positions in one, and outside in the other.
Status CheckPads(const PaddedNode& node, const std::set<size_t>& open) {
  const std::vector<int64_t>& exact = node.exact().Ints("pads");
  const std::vector<int64_t>& bucket = node.bucket().Ints("pads");
  const size_t axes = bucket.size() / 2;
  if (exact.size() != bucket.size()) return node.Refuse("its pads differ in number");
  for (size_t a = 0; a < axes; ++a) {
    const bool same_end = exact[axes + a] == bucket[axes + a];
    if (exact[a] != bucket[a] || (!same_end && !open.contains(a + 2)))
      return node.Refuse("its pads depend on the sizes");
  }
  return {};
}

/// Those along which some window reaches beyond the end.
std::set<size_t> PaddedAtEnd(const PaddedNode& node, const std::set<size_t>& open) {
  std::set<size_t> padded;
  for (const size_t a : open) {
    const size_t end = node.bucket().Ints("pads").size() / 2 + a - 2;
    if (node.exact().Ints("pads")[end] > 0 || node.bucket().Ints("pads")[end] > 0) padded.insert(a);
  }
  return padded;
}

Axes WindowAxes(PaddedNode& node, const Axis& channels, const std::set<size_t>& open) {
  Axes axes = {node.axis(0, 0), channels};
  const std::vector<Extents> shape = node.OutputShape();
  for (size_t a = 2; a < shape.size(); ++a)
    axes.push_back(open.contains(a) ? node.NewAxis(a) : Axis::Fixed(shape[a].padded));
  return axes;
}

}  // namespace

Result<std::vector<PaddedValue>> PadConv(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  for (size_t i = 1; i < node.num_inputs(); ++i) {
    if (!node.Given(i)) continue;
    for (size_t a = 0; a < node.axes(i).size(); ++a) TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, a));
  }
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_RETURN_IF_ERROR(CheckPads(node, open));
  const bool transposed = node.op() == Op::kConvTranspose;
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, transposed ? open : PaddedAtEnd(node, open), 0));
  const Axis channels = Axis::Fixed(node.OutputShape()[1].padded);
  return Lies(WindowAxes(node, channels, open));
}

Result<std::vector<PaddedValue>> PadPool(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_RETURN_IF_ERROR(CheckPads(node, open));
  const std::set<size_t> padded = PaddedAtEnd(node, open);
  const bool is_average = node.op() == Op::kAveragePool;
  if (is_average && !padded.empty() && node.bucket().Int("count_include_pad") == 0)
    return node.Refuse("how many elements it averages depends on the sizes");
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, padded, is_average ? 0 : LeastOf(type)));
  return Lies(WindowAxes(node, node.axis(0, 1), open));
}

}  // namespace tunec::pad
