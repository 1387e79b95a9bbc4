#include "tests/programs/dot_products.h"

#include <utility>

#include "tests/programs/operators.h"
#include "tests/programs/replaced.h"

namespace tunec::test {
namespace {

// Returns a product of two inputs A and B, which are indexed by `left` and by `right`.
std::string Computed(const ProductShape& shape, const std::string& left, const std::string& right) {
  return ProductText({.rows = shape.rows,
                      .columns = shape.columns,
                      .length = shape.length,
                      .left = {.index = left},
                      .right = {.index = right},
                      .value = ""});
}

// Returns a product of stored bfloat16 operands.
std::string Stored(int64_t length) {
  return ProductText({.rows = 23,
                      .columns = 45,
                      .length = length,
                      .left = {.type = "bf16"},
                      .right = {.type = "bf16", .index = "j, k", .weight = "constant"},
                      .result = "bf16",
                      .value = "bf16(max(acc[i, j], 0.0))"});
}

// A product with a batch of one element, and with rows for several blocks.
constexpr std::string_view kOneBatch = R"(compute one_batch {
  input A: f32[1, 150, 34]
  weight W: f32[34, 37] constant
  input R: f32[1, 150, 37]
  output C: f32[1, 150, 37]
  workspace acc: f32[150, 37]
  acc[i: 150, j: 37, k: 34 reduction]:
    acc[i, j] sum= A[0, i, k] * W[k, j]
  C[i: 150, j: 37]:
    C[0, i, j] = acc[i, j] + R[0, i, j]
})";

// A product with operations before and after the sums. The last operation adds a residual.
constexpr std::string_view kChain = R"(compute chain {
  input X: f32[23, 26]
  weight W: f32[26, 45] constant
  input b: f32[45]
  input R: f32[23, 45]
  output Y: f32[23, 45]
  workspace t: f32[23, 26]
  workspace acc: f32[23, 45]
  workspace u: f32[23, 45]
  t[i: 23, k: 26]:
    t[i, k] = max(X[i, k], 0.0) + 1.0
  acc[i: 23, j: 45, k: 26 reduction]:
    acc[i, j] sum= t[i, k] * W[k, j]
  u[i: 23, j: 45]:
    u[i, j] = acc[i, j] + b[j]
  Y[i: 23, j: 45]:
    Y[i, j] = max(u[i, j], 0.0) + R[i, j]
})";

// A product whose left operand is constant.
const std::string kLeftWeight = ProductText(
    {.rows = 41, .columns = 35, .length = 39, .left = {.weight = "constant"}, .value = ""});

// Returns the text with constants known to be finite.
std::string Finite(std::string text) {
  return Replaced(std::move(text), " constant\n", " constant finite\n");
}

// A convolution of images with channels last.
constexpr std::string_view kImage = R"(compute image {
  input X: f32[2, $C, 9, 11] layout [2, 9, 11, $C] (n, c, h, w) -> [n, h, w, c]
  weight W: f32[$M, $C, 3, 3] constant
  weight b: f32[$M] constant
  output Y: f32[2, $M, $H, $V] layout [2, $H, $V, $M] (n, m, h, w) -> [n, h, w, m]
  workspace acc: f32[2, $M, $H, $V] layout [2, $H, $V, $M] (n, m, h, w) -> [n, h, w, m]
  acc[n: 2, m: $M, oh: $H, ow: $V, ic: $C reduction, kh: 3 reduction, kw: 3 reduction]
      where $S*oh + kh - 1 >= 0, 9 - $S*oh - kh >= 0, $S*ow + kw - 1 >= 0, 11 - $S*ow - kw >= 0:
    acc[n, m, oh, ow] sum= X[n, ic, $S*oh + kh - 1, $S*ow + kw - 1] * W[m, ic, kh, kw]
  Y[n: 2, m: $M, oh: $H, ow: $V]:
    Y[n, m, oh, ow] = max(acc[n, m, oh, ow] + b[m], 0.0)
})";

// A product whose left operand, residual and result are stored as bfloat16.
constexpr std::string_view kBf16Product = R"(compute terms {
  input A: bf16[$M, $K]
  weight B: f32[$K, $N] constant
  input R: bf16[$M, $N]
  output C: bf16[$M, $N]
  workspace acc: f32[$M, $N]
  acc[i: $M, j: $N, k: $K reduction]:
    acc[i, j] sum= f32(A[i, k]) * B[k, j]
  C[i: $M, j: $N]:
    C[i, j] = bf16(max(acc[i, j] + f32(R[i, j]), 0.0))
})";

std::string Bf16Product(const ProductShape& shape) {
  return Numbered(std::string(kBf16Product),
                  {{"$M", shape.rows}, {"$N", shape.columns}, {"$K", shape.length}});
}

// Returns `text`, which is kImage, with bfloat16 input and output.
std::string Bf16Image(std::string text) {
  const auto replace = [&](std::string_view what, std::string_view by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("input X: f32", "input X: bf16");
  replace("output Y: f32", "output Y: bf16");
  replace("X[n, ic, $S*oh + kh - 1, $S*ow + kw - 1]",
          "f32(X[n, ic, $S*oh + kh - 1, $S*ow + kw - 1])");
  replace("max(acc[n, m, oh, ow] + b[m], 0.0)", "bf16(max(acc[n, m, oh, ow] + b[m], 0.0))");
  return text;
}

std::string Image(int64_t channels, int64_t outputs, int64_t stride, bool is_bf16 = false) {
  return Numbered(is_bf16 ? Bf16Image(std::string(kImage)) : std::string(kImage),
                  {{"$C", channels},
                   {"$M", outputs},
                   {"$S", stride},
                   {"$H", (9 - 1) / stride + 1},
                   {"$V", (11 - 1) / stride + 1}});
}

}  // namespace

std::string DotProduct(const ProductShape& shape) {
  return ProductText({.rows = shape.rows,
                      .columns = shape.columns,
                      .length = shape.length,
                      .right = {.weight = "constant"}});
}

std::vector<DotProgram> DotPrograms() {
  return {
      {"product", DotProduct({})},
      {"whole", DotProduct({32, 64, 48})},
      {"odd_length", DotProduct({5, 16, 7})},
      {"few_columns", DotProduct({21, 10, 12})},
      {"one_row", DotProduct({1, 50, 33})},
      {"many_rows", DotProduct({200, 17, 6})},
      {"long", DotProduct({18, 33, 300})},
      {"both_computed", Computed({17, 35, 20}, "i, k", "k, j")},
      {"transposed_right", Computed({17, 35, 21}, "i, k", "j, k")},
      {"transposed_left", Computed({18, 33, 10}, "k, i", "k, j")},
      {"batch", ProductText({.rows = 19, .columns = 33, .length = 31, .batch = 3, .value = ""})},
      {"one_batch", std::string(kOneBatch)},
      {"chain", std::string(kChain)},
      {"weight_matmul", kWeightMatmul},
      {"computed_operand", std::string(kComputedOperand)},
      {"stored", Stored(30)},
      {"stored_odd", Stored(31)},
      {"stored_batch", ProductText({.rows = 19,
                                    .columns = 37,
                                    .length = 26,
                                    .batch = 2,
                                    .left = {.type = "bf16", .index = "h, k, i"},
                                    .right = {.type = "bf16"},
                                    .value = ""})},
      {"stored_image", std::string(kHalfConv)},
      {"image", Image(5, 18, 1)},
      {"image_even", Image(8, 32, 1)},
      {"image_strided", Image(6, 20, 2)},
      {"left_weight", kLeftWeight},
      {"finite", Finite(DotProduct({}))},
      {"finite_whole", Finite(DotProduct({32, 64, 64}))},
      {"finite_left", Finite(kLeftWeight)},
      {"finite_chain", Finite(std::string(kChain))},
      {"finite_image", Finite(Image(5, 18, 1))},
      {.name = "terms", .text = Bf16Product({}), .has_bf16_operand = true},
      {.name = "terms_whole", .text = Bf16Product({32, 64, 48}), .has_bf16_operand = true},
      {.name = "terms_one_row", .text = Bf16Product({1, 50, 33}), .has_bf16_operand = true},
      {.name = "image_of_terms", .text = Image(5, 18, 1, true), .has_bf16_operand = true},
      {.name = "image_of_terms_even", .text = Image(16, 32, 1, true), .has_bf16_operand = true},
      {.name = "image_of_terms_strided", .text = Image(16, 20, 2, true), .has_bf16_operand = true},
      {"pointwise", std::string(kPointwiseConv)},
      {"conv3x3", std::string(kConv3x3)},
      {"triangle", std::string(kTriangularProduct), false},
      {"depthwise", std::string(kDepthwise), false},
  };
}

}  // namespace tunec::test
