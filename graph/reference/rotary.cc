// The reference execution of rotary embeddings, computed in double by their definition.
#include "graph/reference/run.h"

namespace tunec::reference {
namespace {

// Returns the offset of the angles of row `row` of the result, in elements. `x` and `angles` are
// shapes; the leading axes of `angles` are broadcast.
int64_t AngleRow(int64_t row, std::span<const int64_t> x, std::span<const int64_t> angles) {
  int64_t at = 0;
  int64_t stride = angles.back();
  for (size_t back = 2; back <= x.size(); ++back) {
    const int64_t extent = x[x.size() - back];
    if (back <= angles.size()) {
      const int64_t own = angles[angles.size() - back];
      if (own != 1) at += row % extent * stride;
      stride *= own;
    }
    row /= extent;
  }
  return at;
}

}  // namespace

// Rotates pairs: (a, b) at angle t becomes (a cos t - b sin t, b cos t + a sin t). If each element
// has its own angle, the first result uses the first element's angle and the second result the
// second element's. Elements beyond the pairs are copied.
Outputs RunRotaryEmbedding(const RunContext& context) {
  Array result = context.MakeOutput();
  const std::vector<double> x = LoadAll<double>(context.input(0));
  const std::vector<double> cos = LoadAll<double>(context.input(1));
  const std::vector<double> sin = LoadAll<double>(context.input(2));
  const int64_t size = result.shape().back();
  const int64_t angles = context.input(1).shape().back();
  const int64_t pairs = angles == size ? size / 2 : angles;
  const bool interleaved = context.node.Int("interleaved") != 0;
  std::vector<double> y = x;
  const int64_t rows = size == 0 ? 0 : result.size() / size;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t angle = AngleRow(row, result.shape(), context.input(1).shape());
    for (int64_t p = 0; p < pairs; ++p) {
      const int64_t a = interleaved ? 2 * p : p;
      const int64_t b = interleaved ? 2 * p + 1 : p + pairs;
      const int64_t at_a = angle + (angles == size ? a : p);
      const int64_t at_b = angle + (angles == size ? b : p);
      const int64_t start = row * size;
      y[start + a] = x[start + a] * cos[at_a] - x[start + b] * sin[at_a];
      y[start + b] = x[start + b] * cos[at_b] + x[start + a] * sin[at_b];
    }
  }
  Store(y.data(), 0, result.size(), result);
  return std::vector<Array>{std::move(result)};
}

}  // namespace tunec::reference
