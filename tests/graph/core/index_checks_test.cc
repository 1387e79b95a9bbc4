// Tests of the checks of gather indices. Indices are proven to be in range, rejected, checked at
// run time, or left to constant folding.
#include "graph/passes/index_checks.h"

#include <gtest/gtest.h>

#include "graph/text/graph_text.h"

namespace tunec {
namespace {

Graph GraphOf(const std::string& lines) {
  const auto graph = ParseGraph("graph g {\n" + lines + "\n}\n", "g.graph", NoWeights());
  EXPECT_TRUE(graph.has_value()) << graph.error().Format();
  return graph ? *graph : Graph();
}

/// Returns "NODE/EXTENT input|output POSITION; " for each UnprovenIndices, then the names of added
/// outputs. On an error, returns the message.
std::string Unproven(const std::string& lines) {
  const auto checked = AddIndexChecks(GraphOf(lines));
  if (!checked) return checked.error().message;
  std::string text;
  for (const UnprovenIndices& unproven : checked->unproven) {
    const bool input = unproven.port == UnprovenIndices::Port::kInput;
    text += fmt::format("{}/{} {} {}; ", unproven.node, unproven.extent, input ? "input" : "output",
                        unproven.position);
  }
  for (size_t i = checked->outputs; i < checked->graph.outputs().size(); ++i)
    text += checked->graph.output_names()[i];
  EXPECT_TRUE(Verify(checked->graph).has_value());
  return text;
}

TEST(IndexChecks, InputsAreCountedWhereTheyLie) {
  EXPECT_EQ(Unproven("input x: f32[30, 4]\n input i: i64[5]\n wte = gather(x, i)\n output wte"),
            "wte/30 input 1; ");
  EXPECT_EQ(Unproven("input x: f32[30, 4]\n input i: i32[6]\n w = cast(i) {to=\"i64\"}\n"
                     " r = reshape(w) {shape=[2, 3]}\n y = gather(x, r)\n output y"),
            "y/30 input 1; ");
}

TEST(IndexChecks, OneForAllGathersOfTheSameIndicesAndExtent) {
  EXPECT_EQ(Unproven("input x: f32[30, 4]\n input i: i64[5]\n a = gather(x, i)\n"
                     " b = gather(x, i)\n c = gather(x, i) {axis=1}\n"
                     " output a\n output b\n output c"),
            "a/30 input 1; c/4 input 1; ");
}

TEST(IndexChecks, ComputedOnesBecomeOutputs) {
  EXPECT_EQ(Unproven("input x: f32[30]\n input i: i64[5]\n constant one: i64[] = 1\n"
                     " next = add(i, one)\n y = gather(x, next)\n output y"),
            "y/30 output 1; y.indices");
}

TEST(IndexChecks, ConstantsOutOfRangeAreAnError) {
  EXPECT_EQ(
      Unproven("input x: f32[3]\n constant i: i64[2] = [-3, 3]\n y = gather(x, i)\n output y"),
      "gather y: index 3 at position 1 is out of range, expected -3 to 2");
  EXPECT_EQ(
      Unproven("input x: f32[3]\n constant i: i64[2] = [-3, 2]\n y = gather(x, i)\n output y"), "");
}

/// Returns Unproven for y = gather(x, index) with x: f32[10]. i, f and b are integer, float and
/// boolean inputs.
std::string OfIndex(const std::string& lines) {
  return Unproven(
      "input x: f32[10]\n input i: i64[4]\n input f: f32[4]\n input b: bool[4]\n"
      " constant zero: i64[] = 0\n constant nine: i64[] = 9\n constant ten: i64[] = 10\n" +
      lines + "\n y = gather(x, index)\n output y");
}

TEST(IndexChecks, WhatIsProvenIsNotCounted) {
  EXPECT_EQ(OfIndex("low = max(i, zero)\n index = min(low, nine)"), "");
  EXPECT_EQ(OfIndex("index = mod(i, ten)"), "");
  EXPECT_EQ(OfIndex("index = clip(i) {min=-10, max=9}"), "");
  EXPECT_EQ(OfIndex("low = max(i, zero)\n c = min(low, nine)\n index = where(b, zero, c)"), "");
  EXPECT_EQ(OfIndex("p = argmax(x) {axis=0}\n index = reshape(p) {shape=[1]}"), "");
  EXPECT_EQ(OfIndex("low = max(i, zero)\n c = min(low, nine)\n constant five: i64[] = 5\n"
                    " half = min(c, five)\n index = sub(half, c)"),
            "");
}

TEST(IndexChecks, WhatMayBeOutOfRangeIsCounted) {
  const std::string counted = "y/10 output 1; y.indices";
  EXPECT_EQ(OfIndex("index = max(i, zero)"), counted);
  EXPECT_EQ(OfIndex("index = min(i, nine)"), counted);
  EXPECT_EQ(OfIndex("index = mod(i, i)"), counted);
  EXPECT_EQ(OfIndex("low = max(i, zero)\n c = min(low, nine)\n index = where(b, i, c)"), counted);
  EXPECT_EQ(OfIndex("e = exp(f)\n index = cast(e) {to=\"i64\"}"), counted);
  // The cast turns a NaN into the smallest integer, which is out of range.
  EXPECT_EQ(OfIndex("s = sigmoid(f)\n index = cast(s) {to=\"i64\"}"), counted);
  EXPECT_EQ(OfIndex("c = clip(f) {min=-10, max=9.5}\n index = cast(c) {to=\"i32\"}"), counted);
  // Twice 120 overflows i8 and wraps around.
  EXPECT_EQ(OfIndex("n = cast(i) {to=\"i8\"}\n constant two: i8[] = 2\n d = mul(n, two)\n"
                    " constant top: i8[] = 100\n o = min(d, top)\n constant one: i8[] = 120\n"
                    " w = max(o, one)\n index = mul(w, two)"),
            counted);
}

// There are forty paths at each of eight levels. The proof is given up instead of taking too long.
TEST(IndexChecks, ManyWaysAreNotAllWalked) {
  std::string lines;
  std::string value = "i";
  for (int level = 0; level < 8; ++level) {
    std::string operands = value;
    for (int k = 1; k < 40; ++k) operands += ", " + value;
    lines += fmt::format("c{} = concat({}) {{axis=0}}\n", level, operands);
    value = level == 7 ? "index" : fmt::format("s{}", level);
    lines += fmt::format(" {} = slice(c{}) {{starts=[0], ends=[4]}}\n ", value, level);
  }
  EXPECT_EQ(OfIndex(lines), "y/10 output 1; y.indices");
}

TEST(IndexChecks, WhatConstantsMakeIsLeftToFolding) {
  EXPECT_EQ(OfIndex("constant c: i64[2] = [3, 4]\n index = add(c, nine)"), "");
  EXPECT_EQ(CheckConstantIndices(GraphOf("input x: f32[3]\n constant i: i64[1] = [3]\n"
                                         " y = gather_elements(x, i)\n output y"))
                .error()
                .message,
            "gather_elements y: index 3 at position 0 is out of range, expected -3 to 2");
}

}  // namespace
}  // namespace tunec
