#include "tests/programs/chains.h"

#include <fmt/format.h>

#include <regex>

namespace tunec::test {
namespace {

constexpr const char* kChain = R"(compute chain {{
  input X: f32[2, {C}, {H}, {W}] layout [2, {H}, {W}, {C}] (n, c, h, w) -> [n, h, w, c]
  weight D: f32[{C}, 1, {K}, {K}] constant
  weight b: f32[{C}] constant
  weight P: f32[{M}, {C}, 1, 1] constant
  weight d: f32[{M}] constant
  input R: f32[2, {M}, {V}, {U}] layout [2, {V}, {U}, {M}] (n, m, h, w) -> [n, h, w, m]
  output Y: f32[2, {M}, {V}, {U}] layout [2, {V}, {U}, {M}] (n, m, h, w) -> [n, h, w, m]
  workspace acc: f32[2, {C}, {V}, {U}] layout [2, {V}, {U}, {C}] (n, c, h, w) -> [n, h, w, c]
  workspace operand: f32[2, {C}, {V}, {U}]
  workspace acc1: f32[2, {M}, {V}, {U}] layout [2, {V}, {U}, {M}] (n, m, h, w) -> [n, h, w, m]
  acc[n: 2, c: {C}, oh: {V}, ow: {U}, kh: {K} reduction, kw: {K} reduction]
      where {S}*oh + kh - {B} >= 0, {H} - 1 - {S}*oh - kh + {B} >= 0, {S}*ow + kw - {B} >= 0, {W} - 1 - {S}*ow - kw + {B} >= 0:
    acc[n, c, oh, ow] sum= X[n, c, {S}*oh + kh - {B}, {S}*ow + kw - {B}] * D[c, 0, kh, kw]
  operand[n: 2, c: {C}, oh: {V}, ow: {U}]:
    operand[n, c, oh, ow] = {F}
  acc1[n: 2, m: {M}, oh: {V}, ow: {U}, ic: {C} reduction]:
    acc1[n, m, oh, ow] sum= operand[n, ic, oh, ow] * P[m, ic, 0, 0]
  Y[n: 2, m: {M}, oh: {V}, ow: {U}]:
    Y[n, m, oh, ow] = acc1[n, m, oh, ow] + d[m] + R[n, m, oh, ow]
}}
)";

// Returns the text for one image instead of two. As in the lowering, the batch then has no loop.
std::string OfOneImage(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\[n: 2, )"), "[");
  text = std::regex_replace(text, std::regex(R"((\w)\[n, )"), "$1[0, ");
  return std::regex_replace(text, std::regex(R"((f32|layout )\[2, )"), "$1[1, ");
}

// Returns the text with inputs instead of constant weights.
std::string WithWeightsAsInputs(const std::string& text) {
  const std::string inputs = std::regex_replace(text, std::regex(R"(weight (\w+):)"), "input $1:");
  return std::regex_replace(inputs, std::regex(" constant\n"), "\n");
}

}  // namespace

std::string ChainOf(const ChainShape& shape) {
  // With RandomArguments, `operand` has multiples of 1/64 from -2 to 2, exact in bfloat16.
  const char* const with_bias = "min(max(acc[n, c, oh, ow] + b[c], 0.0), 2.0)";
  return fmt::format(
      fmt::runtime(kChain), fmt::arg("C", shape.channels), fmt::arg("M", shape.outputs),
      fmt::arg("H", shape.height), fmt::arg("W", shape.width), fmt::arg("K", shape.window),
      fmt::arg("S", shape.stride), fmt::arg("B", shape.window / 2),
      fmt::arg("V", (shape.height - 1) / shape.stride + 1),
      fmt::arg("U", (shape.width - 1) / shape.stride + 1),
      fmt::arg("F", shape.has_bias ? with_bias : "min(max(acc[n, c, oh, ow], -2.0), 2.0)"));
}

std::vector<ChainProgram> ChainPrograms() {
  return {
      {"odd", ChainOf({}), false},
      {"even", ChainOf({.channels = 48, .outputs = 32, .height = 6, .width = 14})},
      {"one_image", OfOneImage(ChainOf({.channels = 48, .outputs = 32, .height = 6, .width = 14}))},
      {"weights_are_inputs",
       WithWeightsAsInputs(ChainOf({.channels = 48, .outputs = 32, .height = 6, .width = 14}))},
      {"strided", ChainOf({.channels = 34, .outputs = 20, .width = 17, .stride = 2})},
      {"large_window", ChainOf({.channels = 8, .outputs = 40, .window = 7})},
      {"wide", ChainOf({.channels = 80, .outputs = 70, .height = 3, .width = 40})},
      {"few_columns", ChainOf({.channels = 16, .outputs = 3, .height = 5, .width = 3})},
      {"no_bias", ChainOf({.stride = 2, .has_bias = false}), false},
  };
}

}  // namespace tunec::test
