#include "tests/programs/random_program.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"
#include "tests/programs/rows.h"
#include "tests/programs/small_operators.h"

namespace tunec::test {
namespace {

// A writer of random programs.
class Writer {
 public:
  explicit Writer(std::mt19937& random) : random_(random) {}

  std::string Any() {
    using Kind = std::string (Writer::*)();
    static constexpr Kind kKinds[] = {&Writer::Matmul,     &Writer::Convolution, &Writer::Softmax,
                                      &Writer::Reductions, &Writer::Attention,   &Writer::Jacobi1D,
                                      &Writer::Jacobi2D,   &Writer::Seidel1D,    &Writer::Seidel2D,
                                      &Writer::Causal,     &Writer::Cholesky,    &Writer::Sample};
    return (this->*kKinds[random_() % std::size(kKinds)])();
  }

 private:
  // Returns a random number from `least` to `most`.
  int64_t Draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_()) % (most - least + 1);
  }

  std::string Sample() { return kSmallPrograms[random_() % std::size(kSmallPrograms)]; }

  std::string Matmul() {
    const int64_t m = Draw(1, 7), k = Draw(1, 6);
    // Some programs have enough columns for a tile of an instruction.
    const int64_t n = Draw(0, 2) == 0 ? Draw(12, 36) : Draw(1, 11);
    return ProductText({.rows = m,
                        .columns = n,
                        .length = k,
                        .right = {.weight = m % 2 == 0 ? "constant finite" : "constant"},
                        .bias = "input",
                        .value = "max(acc[i, j] + b[j], 0.0)"});
  }

  // Returns a convolution. Its stride is 1 or 2, and its padding 0 or 1.
  std::string Convolution() {
    const int64_t filters = Draw(1, 3), channels = Draw(1, 3), height = Draw(3, 6);
    const int64_t taps = Draw(1, 3), stride = Draw(1, 2), pad = Draw(0, 1);
    const int64_t reach = height + 2 * pad - taps;
    const int64_t out = reach / stride + 1;
    return fmt::format(R"(compute convolution {{
  input X: f32[{1}, {2}, {2}]
  weight W: f32[{0}, {1}, {3}, {3}] constant{8}
  output Y: f32[{0}, {4}, {4}]
  workspace acc: f32[{0}, {4}, {4}]
  acc[m: {0}, h: {4}, w: {4}, c: {1} reduction, r: {3} reduction, s: {3} reduction]:
    acc[m, h, w] sum= (X[c, {5}*h + r - {6}, {5}*w + s - {6}] where ({5}*h + r - {6} >= 0, {7} - {5}*h - r >= 0, {5}*w + s - {6} >= 0, {7} - {5}*w - s >= 0) else 0.0) * W[m, c, r, s]
  Y[m: {0}, h: {4}, w: {4}]:
    Y[m, h, w] = acc[m, h, w] * 0.5
}}
)",
                       filters, channels, height, taps, out, stride, pad, height - 1 + pad,
                       filters % 2 == 0 ? " finite" : "");
  }

  std::string Softmax() { return SoftmaxText(Draw(1, 5), Draw(1, 9)); }

  // Returns a maximum over the middle dimension, minus a sum over the last two dimensions.
  std::string Reductions() {
    return fmt::format(R"(compute reductions {{
  input X: f32[{0}, {1}, {2}]
  output Y: f32[{0}, {2}]
  workspace m: f32[{0}, {2}]
  workspace s: f32[{0}]
  m[i: {0}, k: {2}, j: {1} reduction]:
    m[i, k] max= X[i, j, k]
  s[i: {0}, j: {1} reduction, k: {2} reduction]:
    s[i] sum= X[i, j, k]
  Y[i: {0}, k: {2}]:
    Y[i, k] = m[i, k] - s[i]
}}
)",
                       Draw(1, 4), Draw(1, 5), Draw(1, 6));
  }

  std::string Attention() {
    return fmt::format(R"(compute attention {{
  input Q: f32[{0}, {1}]
  input K: f32[{0}, {1}]
  input V: f32[{0}, {1}]
  output O: f32[{0}, {1}]
  workspace p: f32[{0}, {0}]
  workspace m: f32[{0}]
  workspace e: f32[{0}, {0}]
  workspace s: f32[{0}]
  workspace o: f32[{0}, {1}]
  p[i: {0}, j: {0}, d: {1} reduction]:
    p[i, j] sum= Q[i, d] * K[j, d]
  m[i: {0}, j: {0} reduction]:
    m[i] max= p[i, j]
  e[i: {0}, j: {0}]:
    e[i, j] = exp(p[i, j] - m[i])
  s[i: {0}, j: {0} reduction]:
    s[i] sum= e[i, j]
  o[i: {0}, d: {1}, j: {0} reduction]:
    o[i, d] sum= e[i, j] * V[j, d]
  O[i: {0}, d: {1}]:
    O[i, d] = o[i, d] / s[i]
}}
)",
                       Draw(2, 5), Draw(1, 4));
  }

  std::string Jacobi1D() {
    const int64_t inner = Draw(1, 9), steps = Draw(1, 5);
    return fmt::format(R"(compute jacobi_1d {{
  input X: f32[{0}]
  output Y: f32[{0}]
  workspace A: f32[2, {0}]
  start[b: 2, i: {0}]:
    A[b, i] = X[i]
  A[t: {2} sequential, i: {1}]:
    A[(t + 1) mod 2, i + 1] = (A[t mod 2, i] + A[t mod 2, i + 1] + A[t mod 2, i + 2]) * 0.25
  Y[i: {0}]:
    Y[i] = A[{3}, i]
}}
)",
                       inner + 2, inner, steps, steps % 2);
  }

  std::string Jacobi2D() {
    const int64_t rows = Draw(1, 4), columns = Draw(1, 4), steps = Draw(1, 4);
    return fmt::format(R"(compute jacobi_2d {{
  input X: f32[{0}, {1}]
  output Y: f32[{0}, {1}]
  workspace A: f32[2, {0}, {1}]
  start[b: 2, i: {0}, j: {1}]:
    A[b, i, j] = X[i, j]
  A[t: {4} sequential, i: {2}, j: {3}]:
    A[(t + 1) mod 2, i + 1, j + 1] = (A[t mod 2, i, j + 1] + A[t mod 2, i + 2, j + 1] + A[t mod 2, i + 1, j] + A[t mod 2, i + 1, j + 2]) * 0.25
  Y[i: {0}, j: {1}]:
    Y[i, j] = A[{5}, i, j]
}}
)",
                       rows + 2, columns + 2, rows, columns, steps, steps % 2);
  }

  std::string Seidel1D() { return SeidelText(Draw(1, 9), Draw(1, 5)); }

  std::string Seidel2D() {
    const int64_t rows = Draw(1, 4), columns = Draw(1, 4);
    return fmt::format(R"(compute seidel_2d {{
  input X: f32[{0}, {1}]
  output A: f32[{0}, {1}]
  start[i: {0}, j: {1}]:
    A[i, j] = X[i, j]
  A[t: {4} sequential, i: {2} sequential, j: {3} sequential]:
    A[i + 1, j + 1] = (A[i, j + 1] + A[i + 2, j + 1] + A[i + 1, j] + A[i + 1, j + 2]) * 0.25
}}
)",
                       rows + 2, columns + 2, rows, columns, Draw(1, 4));
  }

  std::string Causal() {
    return fmt::format(R"(compute causal {{
  input A: f32[{0}, {1}]
  output C: f32[{0}, {0}]
  workspace acc: f32[{0}, {0}]
  acc[i: {0}, j: {0}, k: {1} reduction] where i - j >= 0:
    acc[i, j] sum= A[i, k] * A[j, k]
  C[i: {0}, j: {0}]:
    C[i, j] = (acc[i, j] where (i - j >= 0) else -1.0)
}}
)",
                       Draw(1, 8), Draw(1, 4));
  }

  std::string Cholesky() {
    return fmt::format(R"(compute cholesky {{
  input X: f32[{0}, {0}]
  output A: f32[{0}, {0}]
  start[i: {0}, j: {0}]:
    A[i, j] = X[i, j] * 0.125 + select(holds(i - j >= 0, j - i >= 0), 4.0, 0.0)
  A[k: {0} sequential, i: {0}, j: {0}] where i - j >= 0, j - k - 1 >= 0:
    A[i, j] = A[i, j] - A[i, k] * A[j, k] / A[k, k]
}}
)",
                       Draw(2, 6));
  }

  std::mt19937& random_;
};

}  // namespace

Compute RandomProgram(std::mt19937& random) {
  Compute compute = MustParse(Writer(random).Any());
  // In about half of the programs, inputs and weights are aligned to 16 bytes.
  const int64_t alignment = random() % 2 == 0 ? 0 : 16;
  for (Tensor& tensor : compute.tensors)
    if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight)
      tensor.alignment = alignment;
  return compute;
}

}  // namespace tunec::test
