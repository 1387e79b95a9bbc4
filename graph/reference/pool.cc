#include <cmath>
#include <limits>

#include "graph/reference/run.h"
#include "ir/rounding.h"

namespace tunec::reference {
namespace {

/// The largest of the values; NaN if one is. Of none: the smallest value of the type.
double MaxOf(std::span<const double> x, std::span<const int64_t> window, double smallest) {
  double best = smallest;
  for (const int64_t i : window)
    if (i >= 0 && (x[i] > best || std::isnan(x[i]))) best = x[i];
  return best;
}

/// Padding counts as zeros, or not at all.
double AverageOf(std::span<const double> x, std::span<const int64_t> window,
                 int64_t padding_weight) {
  double sum = 0;
  int64_t count = 0;
  for (const int64_t i : window) {
    if (i >= 0) sum += x[i];
    count += i >= 0 ? 1 : padding_weight;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

Outputs RunPool(const RunContext& context) {
  const Node& node = context.node;
  const Array& input = context.input(0);
  Array result = context.MakeOutput();
  const WindowTable table =
      MakeWindowTable(node, std::span(input.shape()).subspan(2),
                      std::span(result.shape()).subspan(2), node.Ints("kernel"));
  const bool average = node.op == Op::kAveragePool;
  const int64_t padding_weight = average ? node.Int("count_include_pad") : 0;
  const double smallest = IsFloat(input.type())
                              ? -std::numeric_limits<double>::infinity()
                              : IntToDouble(SmallestInt(input.type()), input.type());
  const int64_t planes = input.shape()[0] * input.shape()[1];
  const int64_t size = Product(input.shape(), 2, input.shape().size());
  ParallelFor(planes, table.places * table.taps, [&](int64_t begin, int64_t end) {
    std::vector<double> x(static_cast<size_t>(size)), y(static_cast<size_t>(table.places));
    for (int64_t plane = begin; plane < end; ++plane) {
      Load(input, plane * size, 1, size, x.data());
      for (int64_t p = 0; p < table.places; ++p)
        y[p] =
            average ? AverageOf(x, table.At(p), padding_weight) : MaxOf(x, table.At(p), smallest);
      Store(y.data(), plane * table.places, table.places, result);
    }
  });
  return std::vector<Array>{std::move(result)};
}

}  // namespace tunec::reference
