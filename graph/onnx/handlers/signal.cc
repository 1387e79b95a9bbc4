// Handlers of operators for signal processing: windows, mel filters, and discrete Fourier
// transforms, which are products with constant matrices.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Largest length of a transform. Matrices of longer transforms are inefficient.
constexpr int64_t kMostTransform = 4096;
constexpr int64_t kMostElements = 1 << 26;

Result<DataType> OutputType(const NodeContext& node) {
  TUNEC_ASSIGN(const int64_t number, node.Int("output_datatype", 1));
  return ElementType(number);
}

/// Returns the window a - b cos(2 pi i / n) + c cos(4 pi i / n). n is the number of elements of a
/// periodic window. For any other window n is one less, but at least 1.
Result<Operands> Window(const NodeContext& node, double a, double b, double c) {
  TUNEC_ASSIGN(const int64_t size, node.ConstantInt(0));
  TUNEC_ASSIGN(const int64_t periodic, node.Int("periodic", 1));
  TUNEC_ASSIGN(const DataType type, OutputType(node));
  if (size < 0 || size > kMostElements) {
    return Fail(ErrorCode::kInvalidArgument, "a window of {} elements", size);
  }
  Array window(type, {size});
  const auto n = static_cast<double>(periodic != 0 ? size : std::max<int64_t>(1, size - 1));
  for (int64_t i = 0; i < size; ++i) {
    const double phase = 2 * std::numbers::pi * static_cast<double>(i) / n;
    window.SetDouble(i, a - b * std::cos(phase) + c * std::cos(2 * phase));
  }
  return Operands{node.Constant(std::move(window))};
}

Result<Operands> BlackmanWindow(const NodeContext& node, Op) {
  return Window(node, 0.42, 0.5, 0.08);
}
Result<Operands> HammingWindow(const NodeContext& node, Op) {
  return Window(node, 25.0 / 46, 21.0 / 46, 0);
}
Result<Operands> HannWindow(const NodeContext& node, Op) { return Window(node, 0.5, 0.5, 0); }

/// Returns a matrix of rows x columns, with element(i, j) at row i and column j.
template <class Function>
Formula Matrix(const NodeContext& node, DataType type, int64_t rows, int64_t columns,
               Function element) {
  Array matrix(type, {rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) matrix.SetDouble(i * columns + j, element(i, j));
  }
  return Constant(node, std::move(matrix));
}

/// Returns the angle of frequency j at position i of n. The product i * j is reduced modulo n
/// first, because it may be large.
double Angle(int64_t i, int64_t j, int64_t n) {
  return 2 * std::numbers::pi * static_cast<double>(i * j % n) / static_cast<double>(n);
}

/// A signal along its last axis: a real part and an optional imaginary part.
struct Signal {
  Formula real;
  std::optional<Formula> imaginary;
};

/// Reads x, whose last axis has the real part, or the real and the imaginary part. `axis` becomes
/// the last axis and is truncated or padded to `length`.
Result<Signal> ReadSignal(const Formula& x, int64_t axis, int64_t length) {
  TUNEC_ASSIGN(const int64_t parts, x.Extent(-1));
  TUNEC_ASSIGN(const int64_t given, x.Extent(axis));
  if (parts != 1 && parts != 2) {
    return Fail(ErrorCode::kInvalidArgument, "the last axis has size {}, expected 1 or 2", parts);
  }
  std::vector<int64_t> perm = AllAxes(x.rank() - 1);
  perm.erase(perm.begin() + axis);
  perm.push_back(axis);
  const auto part = [&](int64_t which) {
    std::vector<Dim> shape = x.shape();
    shape.pop_back();
    Formula signal = x.Slice(-1, which, which + 1).Reshape(shape).Transpose(perm);
    if (given > length) signal = signal.Slice(-1, 0, length);
    if (given >= length) return signal;
    std::vector<int64_t> pads(2 * shape.size(), 0);
    pads.back() = length - given;
    return Apply(Op::kPad, {signal}, {{"pads", pads}});
  };
  Signal signal{part(0), std::nullopt};
  if (parts == 2) signal.imaginary = part(1);
  return signal;
}

/// Returns the parts side by side on a new last axis. The transformed axis is moved back to `axis`.
Formula WriteSignal(const std::vector<Formula>& parts, int64_t axis) {
  if (!parts[0].ok()) return parts[0];  // an error has no rank
  const int64_t rank = parts[0].rank();
  std::vector<int64_t> perm = AllAxes(rank - 1);
  perm.insert(perm.begin() + axis, rank - 1);
  std::vector<Formula> columns;
  for (const Formula& part : parts) columns.push_back(part.Transpose(perm).Unsqueeze(-1));
  return Concat(columns, rank);
}

/// Returns the first `count` frequencies of the transform, as real and imaginary parts. Frequency j
/// is the sum of x_p exp(sign 2 pi i p j / n) over all positions p, with the imaginary unit i.
std::vector<Formula> Transform(const Signal& x, int64_t n, int64_t count, double sign) {
  const NodeContext& node = x.real.node();
  const DataType type = x.real.type();
  const Formula cos =
      Matrix(node, type, n, count, [n](int64_t i, int64_t j) { return std::cos(Angle(i, j, n)); });
  const Formula sin = Matrix(node, type, n, count, [n, sign](int64_t i, int64_t j) {
    return sign * std::sin(Angle(i, j, n));
  });
  Formula real = Matmul(x.real, cos);
  Formula imaginary = Matmul(x.real, sin);
  if (x.imaginary) {
    real = real - Matmul(*x.imaginary, sin);
    imaginary = imaginary + Matmul(*x.imaginary, cos);
  }
  return {real, imaginary};
}

/// Returns the real signal of length n with the given first n/2+1 frequencies. The other
/// frequencies are their conjugates.
Formula RealInverse(const Signal& x, int64_t n) {
  const NodeContext& node = x.real.node();
  const DataType type = x.real.type();
  const int64_t count = n / 2 + 1;
  const auto factor = [n](int64_t j) {
    return (j == 0 || 2 * j == n ? 1.0 : 2.0) / static_cast<double>(n);
  };
  const Formula cos = Matrix(node, type, count, n, [&](int64_t j, int64_t i) {
    return factor(j) * std::cos(Angle(i, j, n));
  });
  Formula real = Matmul(x.real, cos);
  if (!x.imaginary) return real;
  const Formula sin = Matrix(node, type, count, n, [&](int64_t j, int64_t i) {
    return factor(j) * std::sin(Angle(i, j, n));
  });
  return real - Matmul(*x.imaginary, sin);
}

/// Returns the axis, an attribute before opset 20 and an optional input from then on.
Result<int64_t> TransformAxis(const NodeContext& node, int64_t rank) {
  if (node.version() < 20) return node.Axis("axis", 1, rank);
  if (!node.HasInput(2)) return rank - 2;
  TUNEC_ASSIGN(const int64_t axis, node.ConstantInt(2));
  return NormalizeAxis(axis, rank);
}

Result<Operands> Dft(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(input, 2, kMostAxes));
  TUNEC_ASSIGN(const int64_t axis, TransformAxis(node, input->rank()));
  TUNEC_ASSIGN(const int64_t inverse, node.Int("inverse", 0));
  TUNEC_ASSIGN(const int64_t onesided, node.Int("onesided", 0));
  const bool to_real = inverse != 0 && onesided != 0;
  if (axis == input->rank() - 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "axis is the last axis, which contains the real and imaginary parts");
  }
  TUNEC_ASSIGN(const int64_t extent, node.Extent(input, axis));
  int64_t n = to_real ? 2 * (extent - 1) : extent;
  if (node.HasInput(1)) {
    TUNEC_ASSIGN(n, node.ConstantInt(1));
  }
  if (n < 1) return Fail(ErrorCode::kInvalidArgument, "a transform of length {}", n);
  if (n > kMostTransform) {
    return Fail(ErrorCode::kUnsupported, "a transform of length {}, expected at most {}", n,
                kMostTransform);
  }
  const Formula x(node, input);
  TUNEC_ASSIGN(const Signal signal, ReadSignal(x, axis, to_real ? n / 2 + 1 : n));
  if (to_real) return Results({WriteSignal({RealInverse(signal, n)}, axis)});
  std::vector<Formula> parts =
      Transform(signal, n, onesided != 0 ? n / 2 + 1 : n, inverse != 0 ? 1 : -1);
  if (inverse != 0) {
    for (Formula& part : parts) part = part / static_cast<double>(n);
  }
  return Results({WriteSignal(parts, axis)});
}

/// Imports STFT: each frame is weighted by the window, if given, and transformed. Each matrix
/// product covers all frames.
Result<Operands> Stft(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const int64_t step, node.ConstantInt(1));
  TUNEC_ASSIGN(const int64_t onesided, node.Int("onesided", 1));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(input, 3, 3));
  TUNEC_ASSIGN(const int64_t samples, node.Extent(input, 1));
  int64_t length = samples;
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const auto window, node.Extents<1>(node.OptionalInput(2)));
    length = window[0];
  }
  if (node.HasInput(3)) {
    TUNEC_ASSIGN(length, node.ConstantInt(3));
  }
  if (step < 1 || length < 1 || length > samples) {
    return Fail(ErrorCode::kInvalidArgument, "frames of {} every {} in a signal of {}", length,
                step, samples);
  }
  if (length > kMostTransform) {
    return Fail(ErrorCode::kUnsupported, "a transform of length {}, expected at most {}", length,
                kMostTransform);
  }
  const int64_t frames = 1 + (samples - length) / step;
  if (frames > kMostElements / length) {
    return Fail(ErrorCode::kUnsupported, "{} frames of {} elements, expected at most {} in all",
                frames, length, kMostElements);
  }
  Array positions(DataType::kI64, {frames, length});
  for (int64_t i = 0; i < positions.size(); ++i)
    positions.SetInt(i, i / length * step + i % length);
  Formula x = Gather(Formula(node, input), Constant(node, std::move(positions)), 1);
  if (node.HasInput(2)) x = x * In(node, 2).Reshape({length, 1});
  TUNEC_ASSIGN(const Signal signal, ReadSignal(x, 2, length));
  return Results(
      {WriteSignal(Transform(signal, length, onesided != 0 ? length / 2 + 1 : length, -1), 2)});
}

double HertzToMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double MelToHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

/// Imports MelWeightMatrix. Each column is a triangle over three successive frequencies of a list.
/// The list's frequencies are equally spaced in mel.
Result<Operands> MelWeightMatrix(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const int64_t bins, node.ConstantInt(0));
  TUNEC_ASSIGN(const int64_t length, node.ConstantInt(1));
  TUNEC_ASSIGN(const int64_t rate, node.ConstantInt(2));
  TUNEC_ASSIGN(const double lower, node.ConstantFloat(3));
  TUNEC_ASSIGN(const double upper, node.ConstantFloat(4));
  TUNEC_ASSIGN(const DataType type, OutputType(node));
  if (bins < 1 || length < 1 || rate < 1 || bins > kMostElements / length || !(lower >= 0) ||
      !(upper >= lower) || !(upper <= static_cast<double>(rate) / 2)) {
    return Fail(ErrorCode::kInvalidArgument, "{} bins of {} at {} Hz from {} to {}", bins, length,
                rate, lower, upper);
  }
  const int64_t rows = length / 2 + 1;
  const double first = HertzToMel(lower);
  const double step = (HertzToMel(upper) - first) / static_cast<double>(bins + 2);
  const auto edge = [&](int64_t i) {
    const double hertz = MelToHertz(first + static_cast<double>(i) * step);
    return std::min(rows - 1, static_cast<int64_t>(std::floor(static_cast<double>(length + 1) *
                                                              hertz / static_cast<double>(rate))));
  };
  Array matrix(type, {rows, bins});
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t low = edge(i);
    const int64_t centre = edge(i + 1);
    const int64_t high = edge(i + 2);
    for (int64_t j = low; j < centre; ++j) {
      matrix.SetDouble(j * bins + i,
                       static_cast<double>(j - low) / static_cast<double>(centre - low));
    }
    matrix.SetDouble(centre * bins + i, 1);
    for (int64_t j = centre; j < high; ++j) {
      matrix.SetDouble(j * bins + i,
                       static_cast<double>(high - j) / static_cast<double>(high - centre));
    }
  }
  return Operands{node.Constant(std::move(matrix))};
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"BlackmanWindow", 17, BlackmanWindow},
    {"DFT", 17, Dft},
    {"HammingWindow", 17, HammingWindow},
    {"HannWindow", 17, HannWindow},
    {"MelWeightMatrix", 17, MelWeightMatrix},
    {"STFT", 17, Stft},
});

}  // namespace

std::span<const Handler> SignalHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
