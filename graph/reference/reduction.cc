// The reference execution of reductions over axes, argmax, argmin and cumulative sums.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/reference/run.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec::reference {
namespace {

/// Returns the offsets of all index combinations of the given axes, in row-major order.
std::vector<int64_t> OffsetsOver(std::span<const int64_t> shape, const std::vector<int64_t>& axes) {
  const std::vector<int64_t> strides = StridesOf(shape);
  std::vector<int64_t> offsets = {0};
  for (const int64_t axis : axes) {
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * static_cast<size_t>(shape[axis]));
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < shape[axis]; ++i) longer.push_back(offset + i * strides[axis]);
    offsets = std::move(longer);
  }
  return offsets;
}

std::vector<int64_t> OtherAxes(size_t rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> others;
  for (int64_t a = 0; a < static_cast<int64_t>(rank); ++a)
    if (std::ranges::find(axes, a) == axes.end()) others.push_back(a);
  return others;
}

double Extreme(std::span<const double> x, double sign) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double v : x)
    if (sign * v > best || std::isnan(v)) best = sign * v;
  return sign * best;
}

/// Returns log(sum(exp(x))), computed as max + log(sum(exp(x - max))) if max is finite. The
/// greatest term of this sum is 1, so no term overflows and the sum is not 0.
double LogSumExp(std::span<const double> x) {
  const double largest = Extreme(x, 1);
  if (!std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double v : x) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

double ReduceFloats(Op op, std::span<const double> x) {
  double sum = 0;
  switch (op) {
    case Op::kReduceMax:
      return Extreme(x, 1);
    case Op::kReduceMin:
      return Extreme(x, -1);
    case Op::kReduceLogSumExp:
      return LogSumExp(x);
    case Op::kReduceProd:
      sum = 1;
      for (const double v : x) sum *= v;
      return sum;
    case Op::kReduceSum:
    case Op::kReduceMean:
      for (const double v : x) sum += v;
      return op == Op::kReduceMean ? sum / static_cast<double>(x.size()) : sum;
    case Op::kReduceL1:
      for (const double v : x) sum += std::abs(v);
      return sum;
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
      for (const double v : x) sum += v * v;
      return op == Op::kReduceL2 ? std::sqrt(sum) : sum;
    default:
      TUNEC_UNREACHABLE("{} is no reduction", Name(op));
  }
}

/// Reduces integers in 64 bits. The low bits of a sum or product equal the result of wrapping
/// arithmetic in the element type.
int64_t ReduceInts(Op op, std::span<const int64_t> x, DataType type) {
  const auto wide = [](int64_t v) { return static_cast<uint64_t>(v); };
  const auto less = [type](int64_t a, int64_t b) {
    return type == DataType::kU64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  };
  uint64_t sum = op == Op::kReduceProd ? 1 : 0;
  switch (op) {
    case Op::kReduceMax:
      return x.empty() ? SmallestInt(type) : *std::ranges::max_element(x, less);
    case Op::kReduceMin:
      return x.empty() ? LargestInt(type) : *std::ranges::min_element(x, less);
    case Op::kReduceProd:
      for (const int64_t v : x) sum *= wide(v);
      return static_cast<int64_t>(sum);
    case Op::kReduceL1:
      for (const int64_t v : x) sum += less(v, 0) ? -wide(v) : wide(v);
      return static_cast<int64_t>(sum);
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
      for (const int64_t v : x) sum += wide(v) * wide(v);
      return op == Op::kReduceL2 ? static_cast<int64_t>(std::sqrt(static_cast<double>(sum)))
                                 : static_cast<int64_t>(sum);
    case Op::kReduceSum:
    case Op::kReduceMean:
      for (const int64_t v : x) sum += wide(v);
      if (op == Op::kReduceMean && !x.empty())
        return type == DataType::kU64 ? static_cast<int64_t>(sum / x.size())
                                      : static_cast<int64_t>(sum) / static_cast<int64_t>(x.size());
      return static_cast<int64_t>(sum);
    default:
      TUNEC_UNREACHABLE("{} is no reduction of integers", Name(op));
  }
}

/// Calls reduce(the elements along `axes`) for every index of the other axes, and stores the
/// results. In and Out are the types of the elements and of the results of `reduce`.
template <class In, class Out, class F>
std::vector<Array> ReduceOver(const RunContext& context, const std::vector<int64_t>& axes,
                              const F& reduce) {
  const Array& input = context.input(0);
  Array result = context.MakeOutput();
  const std::vector<int64_t> along = OffsetsOver(input.shape(), axes);
  const std::vector<int64_t> starts =
      OffsetsOver(input.shape(), OtherAxes(input.shape().size(), axes));
  const std::vector<In> x = LoadAll<In>(input);
  ParallelFor(result.size(), static_cast<int64_t>(along.size()) * 2,
              [&](int64_t begin, int64_t end) {
                std::vector<In> values(along.size());
                for (int64_t i = begin; i < end; ++i) {
                  for (size_t k = 0; k < along.size(); ++k) values[k] = x[starts[i] + along[k]];
                  const Out reduced = reduce(std::span<const In>(values));
                  Store(&reduced, i, 1, result);
                }
              });
  return {std::move(result)};
}

/// Returns the index of the smallest element if `smallest`, and of the largest otherwise. Of equal
/// elements, the last one counts if `last`, and the first one otherwise. NaN counts as the extreme,
/// as in numpy.
template <class T>
int64_t IndexOfBest(std::span<const T> x, bool smallest, bool last) {
  size_t best = 0;
  for (size_t i = 1; i < x.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x[best]) && !(last && std::isnan(x[i]))) continue;
      if (std::isnan(x[i])) best = i;
    }
    const bool better = smallest ? x[i] < x[best] : x[i] > x[best];
    if (better || (last && x[i] == x[best])) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class T>
std::vector<Array> CumSum(const RunContext& context) {
  const Node& node = context.node;
  const Array& input = context.input(0);
  Array result = context.MakeOutput();
  const int64_t axis = node.Int("axis");
  const std::vector<int64_t> along = OffsetsOver(input.shape(), {axis});
  const bool exclusive = node.Int("exclusive") != 0, reverse = node.Int("reverse") != 0;
  const std::vector<T> x = LoadAll<T>(input);
  std::vector<T> y(x.size());
  for (const int64_t start : OffsetsOver(input.shape(), OtherAxes(input.shape().size(), {axis}))) {
    T sum = 0;
    for (size_t k = 0; k < along.size(); ++k) {
      const int64_t at = start + along[reverse ? along.size() - 1 - k : k];
      const T before = sum;
      if constexpr (std::is_integral_v<T>) {
        sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x[at]));
      } else {
        sum += x[at];
      }
      y[at] = exclusive ? before : sum;
    }
  }
  Store(y.data(), 0, result.size(), result);
  return {std::move(result)};
}

}  // namespace

Outputs RunReduction(const RunContext& context) {
  const Op op = context.node.op;
  const DataType type = context.input(0).type();
  const std::vector<int64_t>& axes = context.node.Ints("axes");
  if (IsFloat(type))
    return ReduceOver<double, double>(
        context, axes, [op](std::span<const double> x) { return ReduceFloats(op, x); });
  return ReduceOver<int64_t, int64_t>(
      context, axes, [op, type](std::span<const int64_t> x) { return ReduceInts(op, x, type); });
}

Outputs RunArg(const RunContext& context) {
  const bool smallest = context.node.op == Op::kArgMin;
  const bool last = context.node.Int("select_last_index") != 0;
  const std::vector<int64_t> axes = {context.node.Int("axis")};
  const auto index = [=](auto x) { return IndexOfBest(x, smallest, last); };
  if (IsFloat(context.input(0).type())) return ReduceOver<double, int64_t>(context, axes, index);
  if (context.input(0).type() == DataType::kU64)  // compares u64 by value, not its bits as signed
    return ReduceOver<int64_t, int64_t>(context, axes, [=](std::span<const int64_t> x) {
      return IndexOfBest(std::span(reinterpret_cast<const uint64_t*>(x.data()), x.size()), smallest,
                         last);
    });
  return ReduceOver<int64_t, int64_t>(context, axes, index);
}

Outputs RunCumSum(const RunContext& context) {
  if (IsFloat(context.input(0).type())) return CumSum<double>(context);
  return CumSum<int64_t>(context);
}

}  // namespace tunec::reference
