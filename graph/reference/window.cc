#include "graph/reference/run.h"

namespace tunec::reference {
namespace {

/// A function that returns the input coordinate along axis `a` for output coordinate `out` at tap
/// `tap`. A coordinate outside of the input means that there is no input element.
using InputCoordinate = std::function<int64_t(size_t a, int64_t out, int64_t tap)>;

/// Increments `index` by one position in row-major order. The last position is followed by zeros.
void Advance(std::vector<int64_t>& index, std::span<const int64_t> shape) {
  for (size_t a = shape.size(); a-- > 0;) {
    if (++index[a] < shape[a]) return;
    index[a] = 0;
  }
}

WindowTable MakeTable(std::span<const int64_t> from, std::span<const int64_t> to,
                      std::span<const int64_t> kernel, const InputCoordinate& coordinate) {
  WindowTable table{.positions = Product(to, 0, to.size()),
                    .taps = Product(kernel, 0, kernel.size())};
  table.input.reserve(static_cast<size_t>(table.positions * table.taps));
  std::vector<int64_t> position(to.size(), 0), tap(kernel.size(), 0);
  for (int64_t p = 0; p < table.positions; ++p, Advance(position, to)) {
    for (int64_t t = 0; t < table.taps; ++t, Advance(tap, kernel)) {
      int64_t index = 0;
      for (size_t a = 0; a < to.size() && index >= 0; ++a) {
        const int64_t i = coordinate(a, position[a], tap[a]);
        index = i < 0 || i >= from[a] ? -1 : index * from[a] + i;
      }
      table.input.push_back(index);
    }
  }
  return table;
}

}  // namespace

WindowTable MakeWindowTable(const Node& node, std::span<const int64_t> from,
                            std::span<const int64_t> to, std::span<const int64_t> kernel) {
  const auto &strides = node.Ints("strides"), &pads = node.Ints("pads");
  const auto& dilations = node.Ints("dilations");
  return MakeTable(from, to, kernel, [&](size_t a, int64_t out, int64_t tap) {
    return out * strides[a] + tap * dilations[a] - pads[a];
  });
}

WindowTable MakeTransposedTable(const Node& node, std::span<const int64_t> from,
                                std::span<const int64_t> to, std::span<const int64_t> kernel) {
  const auto &strides = node.Ints("strides"), &pads = node.Ints("pads");
  const auto& dilations = node.Ints("dilations");
  return MakeTable(from, to, kernel, [&](size_t a, int64_t out, int64_t tap) {
    // Input i is added to output i*stride + tap*dilation - pad.
    const int64_t scaled = out + pads[a] - tap * dilations[a];
    return scaled < 0 || scaled % strides[a] != 0 ? -1 : scaled / strides[a];
  });
}

}  // namespace tunec::reference
