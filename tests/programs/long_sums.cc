#include "tests/programs/long_sums.h"

#include <fmt/format.h>

#include "tests/programs/chains.h"
#include "tests/programs/products.h"
#include "tests/programs/winograd.h"

namespace tunec::test {
namespace {

std::string ProductOf(int rows, int columns, int length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .right = {.weight = "constant"},
                      .bias = "input",
                      .value = "max(acc[i, j] + b[j], 0.0)"});
}

std::string BareProductOf(int rows, int columns, int length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .right = {.index = "j, k"},
                      .value = ""});
}

// Returns a product whose left operand another statement computes. Schedules compute the operand
// for a block of rows or in a separate phase.
std::string OfComputedOperand(int batch, int rows, int columns, int length) {
  return fmt::format(R"(compute computed {{
  input A: f32[{0}, {1}, {3}]
  input scale: f32[{3}]
  weight B: f32[{3}, {2}] constant
  output C: f32[{0}, {1}, {2}]
  workspace operand: f32[{0}, {1}, {3}]
  workspace acc: f32[{0}, {1}, {2}]
  operand[b: {0}, i: {1}, k: {3}]:
    operand[b, i, k] = max(A[b, i, k] + scale[k], 0.0)
  acc[b: {0}, i: {1}, j: {2}, r: {3} reduction]:
    acc[b, i, j] sum= operand[b, i, r] * B[r, j]
  C[b: {0}, i: {1}, j: {2}]:
    C[b, i, j] = acc[b, i, j]
}}
)",
                     batch, rows, columns, length);
}

// Returns a convolution of an image with channels last and a border.
std::string ConvolutionOf(int channels, int outputs, int size, int stride, int window = 3) {
  const int out = (size - 1) / stride + 1;
  return fmt::format(R"(compute conv {{
  input X: f32[1, {0}, {2}, {2}] layout [1, {2}, {2}, {0}] (n, c, h, w) -> [n, h, w, c]
  weight W: f32[{1}, {0}, {5}, {5}] constant
  output Y: f32[1, {1}, {4}, {4}] layout [1, {4}, {4}, {1}] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, {1}, {4}, {4}] layout [1, {4}, {4}, {1}] (n, c, h, w) -> [n, h, w, c]
  acc[n: 1, m: {1}, oh: {4}, ow: {4}, ic: {0} reduction, kh: {5} reduction, kw: {5} reduction]
      where {3}*oh + kh - {6} >= 0, {2} - 1 - {3}*oh - kh + {6} >= 0, {3}*ow + kw - {6} >= 0, {2} - 1 - {3}*ow - kw + {6} >= 0:
    acc[n, m, oh, ow] sum= X[n, ic, {3}*oh + kh - {6}, {3}*ow + kw - {6}] * W[m, ic, kh, kw]
  Y[n: 1, m: {1}, oh: {4}, ow: {4}]:
    Y[n, m, oh, ow] = max(acc[n, m, oh, ow], 0.0)
}}
)",
                     channels, outputs, size, stride, out, window, window / 2);
}

// Returns two products. The second multiplies the first product's results, limited to -1 to 1.
std::string TwoProductsOf(int rows, int columns, int length) {
  return fmt::format(R"(compute two {{
  input A: f32[{0}, {2}]
  weight B: f32[{2}, {2}] constant
  weight D: f32[{2}, {1}] constant
  output E: f32[{0}, {1}]
  workspace acc: f32[{0}, {2}]
  workspace t: f32[{0}, {2}]
  workspace acc1: f32[{0}, {1}]
  acc[i: {0}, j: {2}, k: {2} reduction]:
    acc[i, j] sum= A[i, k] * B[k, j]
  t[i: {0}, j: {2}]:
    t[i, j] = min(max(acc[i, j], -1.0), 1.0)
  acc1[i: {0}, j: {1}, k: {2} reduction]:
    acc1[i, j] sum= t[i, k] * D[k, j]
  E[i: {0}, j: {1}]:
    E[i, j] = acc1[i, j]
}}
)",
                     rows, columns, length);
}

}  // namespace

std::vector<LongSum> LongSums() {
  const WinogradConv few_tiles{.channels = 256, .height = 5, .width = 6, .outputs = 20};
  const WinogradConv odd{.channels = 250, .height = 10, .width = 9, .outputs = 16, .batch = 2};
  return {
      {"whole_pieces", ProductOf(24, 32, 256), "tile/j"},
      {"odd", ProductOf(13, 37, 303), "tile/j"},
      {"row", ProductOf(1, 530, 520), "tile/j"},
      {"column", ProductOf(40, 3, 257), "tile/"},
      {"bare", BareProductOf(11, 18, 384), "tile/"},
      {"computed_operand", OfComputedOperand(2, 20, 36, 240), "tile/j"},
      {"odd_computed_operand", OfComputedOperand(3, 40, 17, 301), "tile/j"},
      {"half_precision", HalfProductText(64, 20, 264), "tile/j"},
      {"convolution", ConvolutionOf(32, 24, 7, 2), "tile/m"},
      {"odd_convolution", ConvolutionOf(27, 19, 5, 1), "tile/m"},
      {"large_window", ConvolutionOf(3, 20, 9, 2, 7), "tile/m"},
      {"chain", ChainOf({.channels = 256, .outputs = 20, .height = 4, .width = 5}), "tile/m/chain"},
      {"odd_chain", ChainOf({.channels = 237, .height = 5, .width = 3}), "tile/m/chain"},
      {"two_products", TwoProductsOf(9, 20, 240), "composed"},
      {"winograd", DirectText(few_tiles), "transformed", WinogradText(few_tiles)},
      {"odd_winograd", DirectText(odd), "transformed", WinogradText(odd)},
  };
}

LongSum LongProduct(int rows, int columns, int length) {
  return {"product", ProductOf(rows, columns, length), "tile/j"};
}

LongSum LongConvolution(int channels) {
  return {"convolution", ConvolutionOf(channels, 16, 5, 2), "tile/m"};
}

LongSum LongWinograd(int channels) {
  const WinogradConv conv{.channels = channels, .height = 14, .width = 14, .outputs = 16};
  return {"winograd", DirectText(conv), "transformed", WinogradText(conv)};
}

}  // namespace tunec::test
