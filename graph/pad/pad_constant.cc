// Padding of constants. A constant may depend on the sizes, such as positions, attention masks and
// counts.
#include <cstring>

#include "graph/pad/padder.h"

namespace tunec::pad {
namespace {

// Greatest number of elements of a constant that becomes an input. A model computes such small
// constants from sizes. Larger constants are mostly weights, which are equal in all graphs.
constexpr int64_t kMostElementsOfParameters = 64;

Result<ValueId> Copy(Padder& padder, const Node& node) {
  const Value& value = padder.bucket().value(node.outputs[0]);
  GraphBuilder& builder = padder.builder();
  const std::string init = node.Has("init") ? node.String("init") : "";
  const ValueId copy = builder.AddWeight(node.name, node.constant, node.weight_name, init);
  if (!value.layout.IsRowMajor()) builder.SetLayout(copy, value.layout);
  return copy;
}

}  // namespace

bool IsEmbeddedIn(const Array& exact, const Array& bucket, const Axes& axes) {
  const size_t width = SizeOf(exact.type());
  std::vector<int64_t> at(axes.size(), 0);
  for (int64_t i = 0; i < exact.size(); ++i) {
    int64_t place = 0, rest = i;
    for (size_t a = axes.size(); a-- > 0; rest /= exact.shape()[a])
      at[a] = axes[a].Embed(rest % exact.shape()[a]);
    for (size_t a = 0; a < axes.size(); ++a) place = place * bucket.shape()[a] + at[a];
    const size_t from = static_cast<size_t>(i) * width, to = static_cast<size_t>(place) * width;
    if (std::memcmp(exact.data() + from, bucket.data() + to, width) != 0) return false;
  }
  return true;
}

Result<std::vector<PaddedValue>> PadConstant(Padder& padder, size_t number) {
  const Node& bucket = padder.bucket().nodes()[number];
  const Array& small = padder.exact().nodes()[number].constant;
  const Array& large = bucket.constant;
  PaddedValue result;
  bool same_shape = true, same = true;
  for (size_t a = 0; a < large.shape().size(); ++a) {
    const Series series = padder.SeriesOf(bucket.outputs[0], a);
    if (series[0] > series[1])
      return Fail(ErrorCode::kUnsupported, "constant {} is larger at the smaller size",
                  bucket.name);
    same_shape = same_shape && !Varies(series);
    result.axes.push_back(Axis({padder.PartFor(series)}));
  }
  for (const Graph* graph : padder.graphs())
    same = same && same_shape && HaveSameBytes(graph->nodes()[number].constant, large);
  if (same_shape && !same) {
    if (small.size() > kMostElementsOfParameters)
      return Fail(ErrorCode::kUnsupported, "the {} elements of constant {} depend on the sizes",
                  small.size(), bucket.name);
    TUNEC_ASSIGN(result.value, padder.AddConstantParameter(number));
    return std::vector<PaddedValue>{std::move(result)};
  }
  if (!same_shape) {
    result.is_loose = true;
    result.is_embedded = IsEmbeddedIn(small, large, result.axes);
    for (const Axis& axis : result.axes) padder.MixWhatMakes(axis);
  }
  TUNEC_ASSIGN(result.value, Copy(padder, bucket));
  return std::vector<PaddedValue>{std::move(result)};
}

}  // namespace tunec::pad
