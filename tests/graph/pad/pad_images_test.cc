// Tests of PadGraph for images with dynamic height and width. One padded graph serves all sizes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/pad/graph_at_sizes.h"

namespace tunec {
namespace {

using test::CountOf;
using test::ExpectOneGraph;
using test::RejectionOf;
using ::testing::HasSubstr;

const SizeValues kBucket = {{"H", 24}, {"W", 20}};
// The heights have each remainder modulo 2, 3 and 4, and the widths modulo 2 and 4. Some sizes
// equal the bucket's.
const std::vector<SizeValues> kSizes = {
    {{"H", 12}, {"W", 10}}, {{"H", 23}, {"W", 19}}, {{"H", 17}, {"W", 14}}, {{"H", 22}, {"W", 13}},
    {{"H", 21}, {"W", 16}}, {{"H", 24}, {"W", 11}}, {{"H", 13}, {"W", 12}}, {{"H", 18}, {"W", 17}},
    {{"H", 19}, {"W", 15}}, {{"H", 16}, {"W", 20}}};

std::string Text(const std::string& lines) {
  return fmt::format("graph g {{\n{}\n  output y\n}}", lines);
}

PaddedGraph ExpectImages(const std::string& lines) {
  return ExpectOneGraph(Text("  input x: f32[2, 3, H, W]\n" + lines), kBucket, kSizes);
}

TEST(PadImages, StridedConvolutions) {
  for (const char* attributes :
       {"strides=[2, 2], pads=[1, 1, 1, 1]", "strides=[3, 2]", "strides=[2, 3], pads=[0, 2, 1, 0]",
        "strides=[4, 2], pads=[2, 0, 2, 0], dilations=[2, 1]"}) {
    ExpectImages(fmt::format("  weight w: f32[4, 3, 3, 3]\n  y = conv(x, w) {{{}}}", attributes));
  }
}

TEST(PadImages, ChainsOfStrides) {
  const PaddedGraph padded = ExpectImages(R"(
  weight w: f32[4, 3, 7, 7]
  a = conv(x, w) {strides=[2, 2], pads=[3, 3, 3, 3]}
  p = max_pool(a) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
  weight v: f32[4, 4, 3, 3]
  weight u: f32[4, 4, 1, 1]
  b = conv(p, v) {strides=[2, 2], pads=[1, 1, 1, 1]}
  c = conv(p, u) {strides=[2, 2]}
  d = add(b, c)
  e = conv(d, v) {pads=[1, 1, 1, 1]}
  y = reduce_mean(e) {axes=[2, 3], keepdims=0})");
  // The parameters are the exact heights and widths of four values, and the mean's count. The
  // values are the image, and the results of the first convolution, the pool and the second
  // convolution.
  EXPECT_EQ(padded.parameters.size(), 2U + 2 * 3 + 1);
}

TEST(PadImages, TransposedConvolutions) {
  for (const char* attributes :
       {"strides=[2, 2]", "strides=[2, 3], pads=[1, 0, 0, 1]",
        "strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]", "pads=[1, 1, 1, 1]"}) {
    ExpectImages(
        fmt::format("  weight w: f32[3, 2, 3, 3]\n  y = conv_transpose(x, w) {{{}}}", attributes));
  }
}

TEST(PadImages, Pools) {
  for (const char* attributes :
       {"kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]", "kernel=[2, 3], strides=[2, 1]",
        "kernel=[3, 2], strides=[2, 3], pads=[1, 1, 0, 1]",
        "kernel=[3, 3], pads=[1, 1, 1, 1], dilations=[1, 1]"}) {
    ExpectImages(fmt::format("  y = max_pool(x) {{{}}}", attributes));
    for (const int counts : {0, 1})
      ExpectImages(
          fmt::format("  y = average_pool(x) {{{}, count_include_pad={}}}", attributes, counts));
  }
}

// Pads at the end complete the last window. Importers translate ceil_mode in this way.
TEST(PadImages, PoolsThatRoundUp) {
  for (const char* pool : {"max_pool", "average_pool"}) {
    ExpectImages(fmt::format(
        "  y = {}(x) {{kernel=[2, 2], strides=[2, 2], pads=[0, 0, H mod 2, W mod 2]}}", pool));
    ExpectImages(fmt::format(R"(
  a = {}(x) {{kernel=[2, 2], strides=[2, 2], pads=[0, 0, H mod 2, W mod 2]}}
  weight w: f32[4, 3, 3, 3]
  y = conv(a, w) {{strides=[2, 2], pads=[1, 1, 1, 1]}})",
                             pool));
  }
}

// The pads at the start depend on the size, as in SAME_UPPER, or those at the end, as in
// SAME_LOWER.
TEST(PadImages, WindowsThatBeginBySize) {
  for (const char* pads : {"pads=[H mod 2, W mod 2, 1, 1]", "pads=[1, 1, H mod 2, W mod 2]"}) {
    ExpectImages(
        fmt::format("  weight w: f32[4, 3, 3, 3]\n  y = conv(x, w) {{strides=[2, 2], {}}}", pads));
    for (const char* pool : {"max_pool", "average_pool"})
      ExpectImages(fmt::format("  y = {}(x) {{kernel=[3, 3], strides=[2, 2], {}}}", pool, pads));
  }
}

TEST(PadImages, WindowsOverAllThereIs) {
  for (const char* pool : {"max_pool", "average_pool"})
    ExpectImages(fmt::format("  y = {}(x) {{kernel=[H, W]}}", pool));
  EXPECT_THAT(
      RejectionOf(Text("  input x: f32[1, 2, L]\n  y = max_pool(x) {kernel=[L/2]}"), {{"L", 8}}),
      HasSubstr("depends on the sizes"));
}

TEST(PadImages, ResizesByAFactor) {
  for (const char* manner :
       {"mode=\"nearest\", coordinate=\"asymmetric\", nearest_mode=\"floor\"", "mode=\"nearest\"",
        "mode=\"nearest\", nearest_mode=\"ceil\"", "mode=\"linear\"",
        "mode=\"linear\", coordinate=\"pytorch_half_pixel\"",
        "mode=\"linear\", coordinate=\"asymmetric\"", "mode=\"cubic\"",
        "mode=\"linear\", coordinate=\"half_pixel_symmetric\""}) {
    for (const char* scales : {"[1.0, 1.0, 2.0, 2.0]", "[1.0, 1.0, 3.0, 1.0]",
                               "[1.0, 1.0, 0.5, 0.5]", "[1.0, 1.0, 1.5, 0.25]"}) {
      const bool is_exact =
          !std::string_view(scales).contains(".5") && !std::string_view(scales).contains(".25");
      if (!is_exact && std::string_view(manner).contains("symmetric") &&
          !std::string_view(manner).contains("asymmetric"))
        continue;
      ExpectImages(fmt::format("  y = resize(x) {{scales={}, {}}}", scales, manner));
    }
  }
}

TEST(PadImages, DoublingTakesNoMask) {
  const PaddedGraph padded = ExpectImages(
      "  y = resize(x) {scales=[1.0, 1.0, 2.0, 2.0], coordinate=\"asymmetric\", "
      "nearest_mode=\"floor\"}");
  EXPECT_EQ(CountOf(padded.graph, Op::kGather), 0);
  EXPECT_TRUE(padded.parameters.empty());
}

// The factor of the resize is a quotient of sizes.
TEST(PadImages, ResizesToSizes) {
  for (const char* manner : {"mode=\"linear\"", "mode=\"linear\", coordinate=\"align_corners\"",
                             "mode=\"linear\", coordinate=\"asymmetric\"", "mode=\"nearest\"",
                             "mode=\"nearest\", nearest_mode=\"round_prefer_ceil\"",
                             "mode=\"nearest\", nearest_mode=\"ceil\"",
                             "mode=\"nearest\", coordinate=\"asymmetric\", nearest_mode=\"floor\"",
                             "mode=\"nearest\", coordinate=\"align_corners\"",
                             "mode=\"linear\", coordinate=\"half_pixel_symmetric\""}) {
    // The pool's result, a third of the image's size rounded down, is resized to the image's size.
    ExpectImages(fmt::format(R"(
  a = max_pool(x) {{kernel=[3, 3], strides=[3, 3]}}
  y = resize(a) {{shape=[2, 3, H, W], {}}})",
                             manner));
    // A fixed size is resized to the image's size, and the image's size to a fixed size.
    ExpectImages(fmt::format(R"(
  b = max_pool(x) {{kernel=[H, W]}}
  t = tile(b) {{repeats=[1, 1, 5, 7]}}
  u = resize(t) {{shape=[2, 3, H, W], {}}}
  c = add(u, x)
  y = resize(c) {{shape=[2, 3, 9, 6], {}}})",
                             manner, manner));
  }
  EXPECT_THAT(RejectionOf(Text("  input x: f32[1, 2, L]\n"
                               "  y = resize(x) {shape=[1, 2, 11], mode=\"cubic\"}"),
                          {{"L", 8}}),
              HasSubstr("cubic sums by a factor that depends on the sizes"));
}

// A doubled pool result is one smaller than an odd size. Pads fill the difference.
TEST(PadImages, UNet) {
  ExpectImages(R"(
  weight w: f32[4, 3, 3, 3]
  a = conv(x, w) {pads=[1, 1, 1, 1]}
  p = max_pool(a) {kernel=[2, 2], strides=[2, 2]}
  weight v: f32[4, 4, 3, 3]
  b = conv(p, v) {pads=[1, 1, 1, 1]}
  weight t: f32[4, 4, 2, 2]
  u = conv_transpose(b, t) {strides=[2, 2]}
  f = pad(u) {pads=[0, 0, 0, 0, 0, 0, H mod 2, W mod 2]}
  c = concat(a, f) {axis=1}
  weight o: f32[2, 8, 3, 3]
  y = conv(c, o) {pads=[1, 1, 1, 1]})");
}

TEST(PadImages, PixelShuffle) {
  ExpectImages(R"(
  weight w: f32[8, 3, 3, 3]
  a = conv(x, w) {pads=[1, 1, 1, 1]}
  b = reshape(a) {shape=[2, 2, 2, 2, H, W]}
  c = transpose(b) {perm=[0, 1, 4, 2, 5, 3]}
  d = reshape(c) {shape=[2, 2, H*2, W*2]}
  weight v: f32[3, 2, 3, 3]
  y = conv(d, v) {pads=[1, 1, 1, 1], strides=[2, 1]})");
}

TEST(PadImages, PatchesThatSeeEachOther) {
  ExpectImages(R"(
  weight w: f32[4, 3, 4, 4]
  a = conv(x, w) {strides=[4, 4]}
  weight s: f32[4]
  n = instance_norm(a, s, s)
  t = transpose(n) {perm=[0, 3, 2, 1]}
  y = attention(t, t, t))");
}

}  // namespace
}  // namespace tunec
