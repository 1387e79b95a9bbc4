// Tests of graphs with named sizes: a specialized graph equals the graph that is parsed with
// numbers.
#include "graph/specialize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/open_dimensions.h"
#include "graph/text/graph_text.h"
#include "support/random.h"

namespace tunec {
namespace {

constexpr const char* kText = R"(graph g {
  input x: f32[b, 4, h, 2*w + 1]
  input i: i64[b]
  weight k: f32[8, 4, 3, 3]
  c = conv(x, k) {strides=[2, 2], pads=[1, 1, 1, 1]}
  r = reshape(x) {shape=[b*4, h*(2*w + 1)]}
  s = slice(r) {starts=[b, h mod 3], ends=[4*b, h + w], steps=[1, 2]}
  e = expand(i) {shape=[h, b]}
  p = pad(x) {pads=[0, 0, 0, w, 0, 0, h/2, 0]}
  t = tile(i) {repeats=[w - 1]}
  n = range() {start=0, limit=h*w, delta=3, to="i64"}
  o = one_hot(i) {depth=max(h, w)}
  j = concat(s, s) {axis=1}
  f = reduce_sum(c) {axes=[1], keepdims=0}
  output c
  output f
})";

// Windows, resizes and attention. Pads, kernels and offsets depend on sizes.
constexpr const char* kWindows = R"(graph g {
  input x: f32[b, 4, h, w]
  input q: f32[b, 2, s, 8]
  input k: f32[b, 2, t, 8]
  weight a: f32[8, 4, 3, 3]
  weight d: f32[8, 4, 2, 2]
  c = conv(x, a) {strides=[2, 2], pads=[h mod 2, 0, 1, w mod 3 + 1]}
  u = conv_transpose(c, d) {strides=[2, 2], pads=[0, 0, h mod 2, w mod 2]}
  m = max_pool(x) {kernel=[h/2, 2], strides=[2, 1], pads=[0, 0, (h - 1) mod 2, 1]}
  p = average_pool(m) {kernel=[h - 4, w - 3], count_include_pad=1}
  r = resize(x) {shape=[b, 4, 2*h, w + 5], mode="linear"}
  e = resize(x) {scales=[1, 1, 1.5, 0.5]}
  z = resize(x) {shape=[b, 4, 3*h/2, w/2 + v], scales=[1, 1, 1.5, 0.5]}
  y = attention(q, k, k) {causal=1, causal_offset=t - s}
  output u
  output p
  output y
})";

Result<Graph> ParseText(const char* text, const SizeValues& sizes) {
  return ParseGraph(text, "g.graph", RandomWeights(1), sizes);
}

Result<Graph> Parse(const SizeValues& sizes) { return ParseText(kText, sizes); }

TEST(Specialize, EqualsTheGraphOfTheNumbers) {
  const auto named = Parse({});
  ASSERT_TRUE(named) << named.error().Format();
  for (int64_t n = 4; n < 30; ++n) {
    const SizeValues sizes = {{"b", n % 3 + 1}, {"h", n}, {"w", n / 2 + 1}};
    const auto fixed = Parse(sizes);
    const auto specialized = Specialize(*named, sizes);
    ASSERT_TRUE(fixed) << fixed.error().Format();
    ASSERT_TRUE(specialized) << specialized.error().Format();
    EXPECT_EQ(Print(*specialized), Print(*fixed));
    EXPECT_TRUE(Verify(*specialized));
  }
}

TEST(Specialize, WindowsEqualThoseOfTheNumbers) {
  const auto named = ParseText(kWindows, {});
  ASSERT_TRUE(named) << named.error().Format();
  EXPECT_TRUE(Verify(*named));
  for (int64_t n = 0; n < 24; ++n) {
    const SizeValues sizes = {{"b", n % 2 + 1}, {"h", n % 3 + 5}, {"w", n / 2 + 4},
                              {"s", n % 4},     {"t", n % 5 + 1}, {"v", (n / 2) % 2}};
    const auto fixed = ParseText(kWindows, sizes);
    const auto specialized = Specialize(*named, sizes);
    ASSERT_TRUE(fixed) << fixed.error().Format();
    ASSERT_TRUE(specialized) << specialized.error().Format();
    EXPECT_EQ(Print(*specialized), Print(*fixed));
    EXPECT_TRUE(Verify(*specialized));
    EXPECT_TRUE(RequireFixedSizes(*specialized));
  }
}

// The text of a graph with named sizes is read again.
TEST(Specialize, NamedWindowsInText) {
  const auto named = ParseText(kWindows, {});
  ASSERT_TRUE(named) << named.error().Format();
  const std::string text = Print(*named);
  EXPECT_THAT(text, testing::HasSubstr("causal_offset=-s + t"));
  const auto again = ParseText(text.c_str(), {});
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(Print(*again), text);
}

// Pads that retain the size, or divide it by the stride, have a result with a short expression.
TEST(Specialize, SamePadsDivideTheSize) {
  const auto graph = ParseGraph(R"(graph g {
  input x: f32[n, 1, h]
  weight a: f32[1, 1, 3]
  c = conv(x, a) {strides=[2], pads=[((h mod 2) + 1)/2, (h mod 2) + 1 - ((h mod 2) + 1)/2]}
  p = max_pool(c) {kernel=[2], strides=[2], pads=[0, 2*((h + 3)/4) - (h + 1)/2]}
  k = average_pool(x) {kernel=[h], pads=[h/2, h - 1 - h/2]}
  output p
  output k
})",
                                "g.graph", RandomWeights(1));
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto shape = [&](size_t output) {
    return ShapeText(graph->value(graph->outputs()[output]).type.dims);
  };
  EXPECT_EQ(shape(0), "nx1x((h + 3)/4)");
  EXPECT_EQ(shape(1), "nx1xh");
}

TEST(Specialize, SomeNamesMayStay) {
  const auto named = Parse({});
  const auto partly = Specialize(*named, {{"h", 9}});
  ASSERT_TRUE(partly) << partly.error().Format();
  EXPECT_TRUE(Verify(*partly));
  EXPECT_EQ(Print(*partly), Print(*Parse({{"h", 9}})));
  EXPECT_EQ(Print(*Specialize(*partly, {{"b", 2}, {"w", 5}})),
            Print(*Parse({{"b", 2}, {"h", 9}, {"w", 5}})));
}

TEST(Specialize, ChecksTheSizes) {
  const auto graph = ParseGraph(
      "graph g {\n  input x: f32[n, 6]\n  y = reshape(x) {shape=[n/2, 12]}\n  output y\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_TRUE(Specialize(*graph, {{"n", 8}}));
  const auto odd = Specialize(*graph, {{"n", 9}});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().Format(),
            "g.graph:3:3: error: reshape sizes differ: input is 9x6 with 54 elements, shape is "
            "[4, 12]");
}

TEST(Specialize, ANamedSizeInAnAttributeIsOpen) {
  const auto graph = ParseGraph(
      "graph g {\n  input x: f32[9]\n  y = slice(x) {starts=[n], ends=[n + 2]}\n  output y\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  const Status fixed = RequireFixedSizes(*graph);
  ASSERT_FALSE(fixed);
  EXPECT_THAT(
      fixed.error().message,
      testing::StartsWith("attribute ends of node y contains named sizes, and the size of n "
                          "is open: the option dims"));
  EXPECT_TRUE(RequireFixedSizes(*Specialize(*graph, {{"n", 3}})));
  // The result has the same type at each size, and yet its operand is read beyond its end.
  EXPECT_EQ(Specialize(*graph, {{"n", 8}}).error().Format(),
            "g.graph:3:3: error: slice of axis 0 reads 8 to 9, expected 0 to 8");
}

TEST(Specialize, SizesWithoutAValueAreErrors) {
  const auto graph = ParseGraph(
      "graph g {\n  input x: f32[9]\n  y = slice(x) {starts=[8/n], ends=[8/n + 1]}\n  output y\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_TRUE(Specialize(*graph, {{"n", 2}}));
  EXPECT_EQ(Specialize(*graph, {{"n", 0}}).error().Format(),
            "g.graph:3:3: error: slice attribute ends contains a size that is divided by 0, or "
            "beyond 2^60");
  EXPECT_EQ(Specialize(*graph, {{"n", -1}}).error().Format(),
            "error: the size of dimension n is -1, expected at least 0");
}

TEST(Specialize, NumbersBecomeFloatsWhereTheyMust) {
  const auto graph = ParseGraph(
      "graph g {\n  y = range() {start=n, limit=n + 3, delta=1, to=\"f32\"}\n  output y\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto fixed = Specialize(*graph, {{"n", 2}});
  ASSERT_TRUE(fixed) << fixed.error().Format();
  EXPECT_EQ(fixed->nodes()[0].Float("start"), 2);
}

TEST(Specialize, NestedGraphsToo) {
  const std::string text =
      "graph g {\n  input c: bool[]\n  input x: f32[n]\n"
      "  y = if(c, x) graph then {\n    input x: f32[n]\n"
      "    r = slice(x) {starts=[0], ends=[n/2]}\n    output r\n  } graph else {\n"
      "    input x: f32[n]\n    r = slice(x) {starts=[n - n/2], ends=[n]}\n    output r\n  }\n"
      "  output y\n}";
  const auto graph = ParseGraph(text, "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_FALSE(RequireFixedSizes(*graph));
  const auto fixed = Specialize(*graph, {{"n", 7}});
  ASSERT_TRUE(fixed) << fixed.error().Format();
  EXPECT_TRUE(RequireFixedSizes(*fixed));
  EXPECT_EQ(Print(*fixed), Print(*ParseGraph(text, "g.graph", NoWeights(), {{"n", 7}})));
}

TEST(ConditionsOf, NamesWhatInferenceAssumes) {
  const auto graph = ParseGraph(
      "graph g {\n  input x: f32[n, 2*h - 3]\n  input y: f32[m, 1]\n  input i: i64[k]\n"
      "  input u: f32[1, 2, w]\n  a = add(x, y)\n  b = mul(a, x)\n"
      "  r = reshape(x) {shape=[n/2, 4*h - 6]}\n"
      "  s = slice(x) {starts=[1, 0], ends=[n - 1, 4]}\n  g = gather(y, i)\n"
      "  t = max_pool(u) {kernel=[3]}\n  output b\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  std::vector<std::string> texts;
  for (const SizeCondition& condition : ConditionsOf(*graph)) texts.push_back(Print(condition));
  EXPECT_THAT(texts, testing::ElementsAre("0 <= 2*h - 3", "m == n", "2*h*(n mod 2) == 3*(n mod 2)",
                                          "0 <= 4*h - 6", "4 <= 2*h - 3", "1 <= m", "3 <= w"));
}

// Random sizes: if all conditions hold, the graph can be specialized, and its inference agrees. The
// conditions of windows and resizes are exact where no image is empty.
TEST(ConditionsOf, AreEnoughForWindows) {
  Random random(1);
  const auto named = ParseText(kWindows, {});
  ASSERT_TRUE(named) << named.error().Format();
  const std::vector<SizeCondition> conditions = ConditionsOf(*named);
  int valid = 0;
  int invalid = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random.Below(limit)); };
    const SizeValues sizes = {{"b", below(3) + 1}, {"h", below(10)}, {"w", below(10)},
                              {"s", below(4)},     {"t", below(4)},  {"v", below(3)}};
    const bool hold = std::ranges::all_of(conditions, [&](const SizeCondition& condition) {
      return Holds(condition, sizes).value_or(false);
    });
    const auto fixed = Specialize(*named, sizes);
    (fixed ? valid : invalid) += 1;
    EXPECT_EQ(hold, fixed.has_value());
    EXPECT_EQ(fixed.has_value(), ParseText(kWindows, sizes).has_value());
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(invalid, 100);
}

// Random sizes: if all conditions hold, the graph can be specialized, and its inference agrees.
TEST(ConditionsOf, AreEnough) {
  Random random(1);
  const auto named = Parse({});
  ASSERT_TRUE(named);
  const std::vector<SizeCondition> conditions = ConditionsOf(*named);
  EXPECT_FALSE(conditions.empty());
  int valid = 0;
  int invalid = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const SizeValues sizes = {{"b", static_cast<int64_t>(random.Below(5))},
                              {"h", static_cast<int64_t>(random.Below(9))},
                              {"w", static_cast<int64_t>(random.Below(7))}};
    const bool hold = std::ranges::all_of(conditions, [&](const SizeCondition& condition) {
      return Holds(condition, sizes).value_or(false);
    });
    const auto fixed = Specialize(*named, sizes);
    (fixed ? valid : invalid) += 1;
    if (hold) {
      EXPECT_TRUE(fixed) << fixed.error().Format();
    }
    EXPECT_EQ(fixed.has_value(), Parse(sizes).has_value());
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(invalid, 100);
}

TEST(Specialize, OperatorsWithoutNamedSizesRejectThem) {
  const auto error = [](const std::string& line) {
    const auto graph = ParseGraph("graph g {\n  input x: f32[n, 6]\n  " + line + "\n  output y\n}",
                                  "g.graph", NoWeights());
    return graph ? Print(*graph) : graph.error().Format();
  };
  EXPECT_EQ(error("y = reduce_sum(x) {axes=[n]}"),
            "g.graph:3:3: error: reduce_sum attribute axes is a list with named sizes, expected a "
            "list of integers");
  EXPECT_EQ(error("y = leaky_relu(x) {alpha=n}"),
            "g.graph:3:3: error: leaky_relu attribute alpha is a number with named sizes, expected "
            "a number");
  EXPECT_EQ(
      error("y = conv(x, x) {strides=[n]}"),
      "g.graph:3:3: error: conv attribute strides is a list with named sizes, expected a list "
      "of integers");
  EXPECT_EQ(error("y = pad(x) {pads=[0, n, 1.5, 0]}"),
            "g.graph:3:20: error: a list contains floats and named sizes");
  EXPECT_EQ(error("y = range() {start=0.5, limit=n, delta=1, to=\"f32\"}"),
            "g.graph:3:3: error: range from ? to n needs integers with named sizes");
}

TEST(Specialize, WindowsThatNeverFitAreErrors) {
  const auto error = [](const std::string& line) {
    const auto graph =
        ParseGraph("graph g {\n  input x: f32[1, 2, n]\n  " + line + "\n  output y\n}", "g.graph",
                   NoWeights());
    return graph ? Print(*graph) : graph.error().Format();
  };
  EXPECT_EQ(error("y = max_pool(x) {kernel=[2], pads=[n]}"),
            "g.graph:3:3: error: max_pool attribute pads has 1 entries, expected 2");
  EXPECT_EQ(error("y = max_pool(x) {kernel=[2], pads=[0, -n - 1]}"),
            "g.graph:3:3: error: max_pool attribute pads holds -n - 1, expected at least 0");
  EXPECT_EQ(error("y = average_pool(x) {kernel=[-n]}"),
            "g.graph:3:3: error: average_pool kernel holds -n, expected at least 1");
  EXPECT_EQ(error("y = max_pool(x) {kernel=[n + 4], pads=[1, 2]}"),
            "g.graph:3:3: error: max_pool window does not fit: spatial axis 0 is n + 3 with pads, "
            "the window reaches n + 4");
}

TEST(Specialize, ResizesWithNamedSizesNeedExactScales) {
  const auto error = [](const std::string& attributes) {
    const auto graph = ParseGraph(
        "graph g {\n  input x: f32[2, n]\n  y = resize(x) {" + attributes + "}\n  output y\n}",
        "g.graph", NoWeights());
    return graph ? Print(*graph) : graph.error().Format();
  };
  EXPECT_EQ(error("mode=\"linear\""),
            "g.graph:3:3: error: resize needs the attribute shape or scales");
  EXPECT_EQ(error("shape=[n]"), "g.graph:3:3: error: resize has 1 sizes and 0 scales, expected 2");
  EXPECT_EQ(error("scales=[1, 0.3]"),
            "g.graph:3:3: error: resize scales axis 1 of n by 0.3, expected a shape");
  EXPECT_EQ(error("shape=[2, m], scales=[1, 0.123456789]"),
            "g.graph:3:3: error: resize scale of axis 1 is 0.123456789, expected a small fraction "
            "for n elements");
  EXPECT_EQ(error("shape=[2, m], scales=[1, -1]"),
            "g.graph:3:3: error: resize scale of axis 1 is -1, for n elements, expected more than "
            "0");
  EXPECT_EQ(error("shape=[2, n + 1], scales=[1, 1]"),
            "g.graph:3:3: error: resize of axis 1 to n + 1 elements contradicts its scale 1 of n "
            "elements");
  EXPECT_EQ(error("shape=[5, n], scales=[2, 1]"),
            "g.graph:3:3: error: resize of axis 0 to 5 elements contradicts its scale 2, which "
            "makes 4 of 2");
}

}  // namespace
}  // namespace tunec
