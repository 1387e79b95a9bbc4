// The reference execution of elementwise operators with broadcasting. Each thread computes one
// segment of a row at a time: operands are converted to double or int64, and results are stored.
#include <algorithm>
#include <array>

#include "graph/reference/run.h"
#include "graph/reference/scalar_functions.h"
#include "ir/rounding.h"

namespace tunec::reference {
namespace {

constexpr int64_t kPiece = 1024;

/// Dimensions for a loop over the result, and the strides of the operands along them. Adjacent
/// dimensions are merged where the strides of all operands allow it.
struct Walk {
  std::vector<int64_t> shape;                 // has at least one dimension
  std::vector<std::vector<int64_t>> strides;  // strides per operand; the innermost is 0 or 1
};

Walk MakeWalk(const std::vector<int64_t>& shape, std::span<const Array> operands) {
  std::vector<std::vector<int64_t>> all;
  for (const Array& operand : operands) all.push_back(BroadcastStrides(operand, shape.size()));
  Walk walk{{}, std::vector<std::vector<int64_t>>(operands.size())};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merges = !walk.shape.empty();
    for (size_t o = 0; o < all.size() && merges; ++o)
      merges = walk.strides[o].back() == all[o][d] * shape[d];
    if (!merges) walk.shape.push_back(1);
    walk.shape.back() *= shape[d];
    for (size_t o = 0; o < all.size(); ++o) {
      if (!merges) walk.strides[o].push_back(0);
      walk.strides[o].back() = all[o][d];
    }
  }
  if (walk.shape.empty()) {
    walk.shape = {1};
    for (auto& strides : walk.strides) strides = {0};
  }
  return walk;
}

int64_t OffsetOfRow(const Walk& walk, size_t operand, int64_t row) {
  int64_t offset = 0;
  for (size_t d = walk.shape.size() - 1; d-- > 0; row /= walk.shape[d])
    offset += row % walk.shape[d] * walk.strides[operand][d];
  return offset;
}

/// Calls compute(operands, result, count) on segments of all rows, and returns the stored results.
/// In and Out are double or int64_t.
template <class In, class Out, size_t kOperands, class F>
std::vector<Array> Apply(const RunContext& context, const F& compute) {
  Array result = context.MakeOutput();
  const std::span<const Array> operands = context.inputs.first(kOperands);
  const Walk walk = MakeWalk(result.shape(), operands);
  const int64_t row_size = walk.shape.back();
  result.mutable_data();
  ParallelFor(result.size(), 4, [&](int64_t position, int64_t end) {
    std::array<std::array<In, kPiece>, kOperands> in;
    std::array<Out, kPiece> out;
    while (position < end) {
      const int64_t row = position / row_size, column = position % row_size;
      const int64_t count = std::min({row_size - column, end - position, kPiece});
      for (size_t o = 0; o < kOperands; ++o) {
        const int64_t stride = walk.strides[o].back();
        Load(operands[o], OffsetOfRow(walk, o, row) + column * stride, stride, count, in[o].data());
      }
      compute(in, out.data(), count);
      Store(out.data(), position, count, result);
      position += count;
    }
  });
  return {std::move(result)};
}

template <class In, class Out, class F>
std::vector<Array> Apply1(const RunContext& context, const F& f) {
  return Apply<In, Out, 1>(context, [&f](const auto& in, Out* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(in[0][i]));
  });
}

template <class In, class Out, class F>
std::vector<Array> Apply2(const RunContext& context, const F& f) {
  return Apply<In, Out, 2>(context, [&f](const auto& in, Out* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(in[0][i], in[1][i]));
  });
}

template <class T>
std::vector<Array> Choose(const RunContext& context) {
  return Apply<T, T, 3>(context, [](const auto& in, T* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[0][i] != T{0} ? in[1][i] : in[2][i];
  });
}

}  // namespace

Outputs RunUnary(const RunContext& context) {
  const DataType type = context.input(0).type();
  if (IsFloat(type)) return Apply1<double, double>(context, FloatFunction(context.node));
  return Apply1<int64_t, int64_t>(context, IntFunction(context.node, type));
}

Outputs RunCast(const RunContext& context) {
  const auto same = [](auto x) { return x; };
  const bool float_in = IsFloat(context.input(0).type());
  const DataType to = context.output_types[0].type;
  if (float_in && !IsFloat(to))
    return Apply1<double, int64_t>(context, [to](double x) { return CastToInt(x, to); });
  if (IsFloat(to)) return Apply1<double, double>(context, same);
  return Apply1<int64_t, int64_t>(context, same);
}

Outputs RunBinary(const RunContext& context) {
  const DataType type = context.input(0).type();
  if (!IsFloat(type)) return Apply2<int64_t, int64_t>(context, IntFunction2(context.node, type));
  // These four operators are applied to large constants, so they are inlined and vectorised.
  switch (context.node.op) {
    case Op::kAdd:
      return Apply2<double, double>(context, std::plus<double>());
    case Op::kSub:
      return Apply2<double, double>(context, std::minus<double>());
    case Op::kMul:
      return Apply2<double, double>(context, std::multiplies<double>());
    case Op::kDiv:
      return Apply2<double, double>(context, std::divides<double>());
    default:
      return Apply2<double, double>(context, FloatFunction2(context.node));
  }
}

Outputs RunComparison(const RunContext& context) {
  const DataType type = context.input(0).type();
  if (IsFloat(type)) return Apply2<double, int64_t>(context, FloatComparison(context.node.op));
  return Apply2<int64_t, int64_t>(context, IntComparison(context.node.op, type));
}

Outputs RunWhere(const RunContext& context) {
  if (IsFloat(context.input(1).type())) return Choose<double>(context);
  return Choose<int64_t>(context);
}

}  // namespace tunec::reference
