// The reference execution of normalisations and softmax, in double by their definitions.
#include <algorithm>
#include <cmath>

#include "graph/reference/run.h"

namespace tunec::reference {
namespace {

/// The shape of x as `outer` blocks of `channels` planes of `inner` elements. Axis 1 is the
/// channel.
struct Planes {
  int64_t outer, channels, inner;
};
Planes PlanesOf(const Array& x) {
  return {x.shape()[0], x.shape()[1], Product(x.shape(), 2, x.shape().size())};
}

struct Moments {
  double mean = 0, variance = 0;
};
double MeanSquare(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum / static_cast<double>(x.size());
}
Moments MomentsOf(std::span<const double> x) {
  Moments moments;
  for (const double v : x) moments.mean += v;
  moments.mean /= static_cast<double>(x.size());
  for (const double v : x) moments.variance += (v - moments.mean) * (v - moments.mean);
  moments.variance /= static_cast<double>(x.size());
  return moments;
}

void Softmax(std::vector<double>& line, bool logarithm) {
  double largest = -INFINITY;
  for (const double v : line) largest = std::max(largest, v);
  double sum = 0;
  for (double& v : line) sum += std::exp(v -= largest);
  for (double& v : line) v = logarithm ? v - std::log(sum) : std::exp(v) / sum;
}

/// Returns the operand's elements broadcast to `shape`, in row-major order.
std::vector<double> BroadcastTo(const Array& operand, std::span<const int64_t> shape) {
  const std::vector<int64_t> strides = StridesOf(operand.shape());
  const std::vector<double> values = LoadAll<double>(operand);
  std::vector<double> result(static_cast<size_t>(Product(shape, 0, shape.size())));
  const size_t skip = shape.size() - operand.shape().size();
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), offset = 0;
    for (size_t d = shape.size(); d-- > skip; rest /= shape[d])
      if (operand.shape()[d - skip] != 1) offset += rest % shape[d] * strides[d - skip];
    result[i] = values[offset];
  }
  return result;
}

std::vector<Array> StoreAll(const RunContext& context, const std::vector<double>& y) {
  Array result = context.MakeOutput();
  Store(y.data(), 0, result.size(), result);
  return {std::move(result)};
}

}  // namespace

Outputs RunSoftmax(const RunContext& context) {
  const Array& input = context.input(0);
  const auto axis = static_cast<size_t>(context.node.Int("axis"));
  const int64_t length = input.shape()[axis];
  const int64_t inner = Product(input.shape(), axis + 1, input.shape().size());
  const bool logarithm = context.node.op == Op::kLogSoftmax;
  std::vector<double> x = LoadAll<double>(input);
  const int64_t lines = length == 0 ? 0 : input.size() / length;
  ParallelFor(lines, length * 20, [&](int64_t begin, int64_t end) {
    std::vector<double> line(static_cast<size_t>(length));
    for (int64_t i = begin; i < end; ++i) {
      double* start = x.data() + i / inner * length * inner + i % inner;
      for (int64_t k = 0; k < length; ++k) line[k] = start[k * inner];
      Softmax(line, logarithm);
      for (int64_t k = 0; k < length; ++k) start[k * inner] = line[k];
    }
  });
  return StoreAll(context, x);
}

Outputs RunBatchNorm(const RunContext& context) {
  const Planes planes = PlanesOf(context.input(0));
  const double epsilon = context.node.Float("epsilon");
  std::vector<double> x = LoadAll<double>(context.input(0));
  std::vector<std::vector<double>> parameters;
  for (size_t i = 1; i < 5; ++i) parameters.push_back(LoadAll<double>(context.input(i)));
  double* element = x.data();
  for (int64_t n = 0; n < planes.outer; ++n) {
    for (int64_t c = 0; c < planes.channels; ++c) {
      const double scale = parameters[0][c], bias = parameters[1][c], mean = parameters[2][c];
      const double deviation = std::sqrt(parameters[3][c] + epsilon);
      for (int64_t i = 0; i < planes.inner; ++i, ++element)
        *element = (*element - mean) / deviation * scale + bias;
    }
  }
  return StoreAll(context, x);
}

Outputs RunInstanceNorm(const RunContext& context) {
  const Planes planes = PlanesOf(context.input(0));
  const double epsilon = context.node.Float("epsilon");
  const int64_t groups =
      context.node.op == Op::kGroupNorm ? context.node.Int("groups") : planes.channels;
  std::vector<double> x = LoadAll<double>(context.input(0));
  const std::vector<double> scale = LoadAll<double>(context.input(1));
  const std::vector<double> bias = LoadAll<double>(context.input(2));
  const int64_t size = groups == 0 ? 0 : planes.channels / groups * planes.inner;
  for (int64_t g = 0; g < planes.outer * groups && size > 0; ++g) {
    const std::span<double> group(x.data() + g * size, static_cast<size_t>(size));
    const Moments moments = MomentsOf(group);
    const double deviation = std::sqrt(moments.variance + epsilon);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t c = g % groups * (planes.channels / groups) + i / planes.inner;
      group[i] = (group[i] - moments.mean) / deviation * scale[c] + bias[c];
    }
  }
  return StoreAll(context, x);
}

Outputs RunAxisNorm(const RunContext& context) {
  const Array& input = context.input(0);
  const auto axis = static_cast<size_t>(context.node.Int("axis"));
  const int64_t size = Product(input.shape(), axis, input.shape().size());
  const bool centred = context.node.op == Op::kLayerNorm;
  std::vector<double> x = LoadAll<double>(input);
  const std::vector<double> scale = BroadcastTo(context.input(1), input.shape());
  std::vector<double> bias;
  if (context.HasOperand(2)) bias = BroadcastTo(context.input(2), input.shape());
  for (int64_t start = 0; start < input.size(); start += size) {
    const std::span<double> line(x.data() + start, static_cast<size_t>(size));
    // rms_norm divides by the root mean square, which is the deviation if the mean is taken as 0.
    const Moments moments = centred ? MomentsOf(line) : Moments{0, MeanSquare(line)};
    const double deviation = std::sqrt(moments.variance + context.node.Float("epsilon"));
    for (int64_t i = 0; i < size; ++i)
      line[i] = (line[i] - moments.mean) / deviation * scale[start + i];
    for (int64_t i = 0; i < size && !bias.empty(); ++i) line[i] += bias[start + i];
  }
  return StoreAll(context, x);
}

Outputs RunLrn(const RunContext& context) {
  const Node& node = context.node;
  const Planes planes = PlanesOf(context.input(0));
  const int64_t size = node.Int("size");
  const double alpha = node.Float("alpha"), beta = node.Float("beta"), bias = node.Float("bias");
  const std::vector<double> x = LoadAll<double>(context.input(0));
  std::vector<double> y(x.size());
  const int64_t below = (size - 1) / 2, above = size / 2;
  const int64_t block = planes.channels * planes.inner;
  ParallelFor(planes.outer * planes.channels, planes.inner * (size + 20),
              [&](int64_t begin, int64_t end) {
                for (int64_t plane = begin; plane < end; ++plane) {
                  const int64_t n = plane / planes.channels, c = plane % planes.channels;
                  const int64_t first = std::max<int64_t>(0, c - below);
                  const int64_t last = std::min(planes.channels - 1, c + above);
                  for (int64_t i = 0; i < planes.inner; ++i) {
                    double sum = 0;
                    for (int64_t k = first; k <= last; ++k) {
                      const double v = x[n * block + k * planes.inner + i];
                      sum += v * v;
                    }
                    const int64_t at = n * block + c * planes.inner + i;
                    y[at] = x[at] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
                  }
                }
              });
  return StoreAll(context, y);
}

}  // namespace tunec::reference
