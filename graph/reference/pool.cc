#include <cmath>
#include <limits>

#include "graph/reference/run.h"
#include "ir/rounding.h"

namespace tunec::reference {
namespace {

/// Returns the largest value of the window, or NaN if a value is NaN. Returns `smallest` for a
/// window without elements.
template <class T>
T MaxOf(std::span<const T> x, std::span<const int64_t> window, T smallest) {
  T best = smallest;
  for (const int64_t i : window)
    if (i >= 0 && (x[i] > best || x[i] != x[i])) best = x[i];
  return best;
}

/// Returns the mean over the window. An element in the padding counts as `padding_weight` zeros (0
/// or 1). Returns NaN if no element counts.
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

/// Calls combine(elements of a plane, indices of the window in the plane) for every output
/// position, and stores the results. An index is -1 in the padding. T is double or int64_t.
template <class T, class F>
std::vector<Array> PoolOver(const RunContext& context, const F& combine) {
  const Array& input = context.input(0);
  Array result = context.MakeOutput();
  const WindowTable table =
      MakeWindowTable(context.node, std::span(input.shape()).subspan(2),
                      std::span(result.shape()).subspan(2), context.node.Ints("kernel"));
  const int64_t planes = input.shape()[0] * input.shape()[1];
  const int64_t size = Product(input.shape(), 2, input.shape().size());
  ParallelFor(planes, table.positions * table.taps, [&](int64_t begin, int64_t end) {
    std::vector<T> x(static_cast<size_t>(size)), y(static_cast<size_t>(table.positions));
    for (int64_t plane = begin; plane < end; ++plane) {
      Load(input, plane * size, 1, size, x.data());
      for (int64_t p = 0; p < table.positions; ++p)
        y[p] = combine(std::span<const T>(x), table.At(p));
      Store(y.data(), plane * table.positions, table.positions, result);
    }
  });
  return {std::move(result)};
}

}  // namespace

Outputs RunPool(const RunContext& context) {
  const DataType type = context.input(0).type();
  if (context.node.op == Op::kAveragePool) {
    const int64_t padding_weight = context.node.Int("count_include_pad") != 0 ? 1 : 0;
    return PoolOver<double>(
        context, [=](auto x, auto window) { return AverageOf(x, window, padding_weight); });
  }
  if (IsFloat(type)) {
    const double smallest = -std::numeric_limits<double>::infinity();
    return PoolOver<double>(context,
                            [=](auto x, auto window) { return MaxOf(x, window, smallest); });
  }
  // Integers are loaded as int64; u64 is loaded by its bits.
  const int64_t smallest = SmallestInt(type);
  if (type != DataType::kU64)
    return PoolOver<int64_t>(context,
                             [=](auto x, auto window) { return MaxOf(x, window, smallest); });
  return PoolOver<int64_t>(context, [=](std::span<const int64_t> x, auto window) {
    const std::span unsigned_x(reinterpret_cast<const uint64_t*>(x.data()), x.size());
    return static_cast<int64_t>(MaxOf(unsigned_x, window, uint64_t{0}));
  });
}

}  // namespace tunec::reference
