#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/pad/graph_at_sizes.h"

namespace tunec {
namespace {

using test::ExpectExact;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SizeValues kSmall = {{"B", 2}, {"L", 5}};
const SizeValues kLarge = {{"B", 4}, {"L", 8}};

// The graph writes rows of a cache for any batch and any number of new positions. A padded index
// may be any number, so padded updates must not be written.
TEST(PadScatter, WritesTheExactUpdates) {
  for (const char* by : {"none", "add", "max"}) {
    const PaddedGraph padded = ExpectExact(fmt::format(R"(graph g {{
  input cache: f32[B, 12, 3]
  input places: i64[1, L, 1]
  input rows: f32[B, L, 3]
  y = scatter(cache, places, rows) {{axis=1, depth=1, reduction="{}"}}
  output y
}})",
                                                       by),
                                           kSmall, kLarge);
    EXPECT_THAT(padded.separable, ElementsAre("B"));
  }
}

// One index is broadcast to all updates of a row. For padded updates it is set out of range.
TEST(PadScatter, MasksIndicesThatAreRepeated) {
  ExpectExact(R"(graph g {
  input x: f32[3, 6]
  input place: i64[3, 1]
  input more: f32[3, L]
  y = scatter(x, place, more) {axis=1, depth=1, reduction="add"}
  output y
})",
              kSmall, kLarge);
}

// A negative index counts from the exact end. Indices out of the exact range write nothing.
TEST(PadScatter, PlacesOfOpenAxesAreExactOnes) {
  for (const char* indices : {"input i: i64[6, 1]", "constant i: i64[6, 1] = [-1, 4, -5, 0, 2, -6]",
                              "constant i: i64[6, 1] = [7, 5, 4, 3, 0, 1]"}) {
    ExpectExact(fmt::format(R"(graph g {{
  input x: f32[L, 3]
  {}
  input rows: f32[6, 3]
  y = scatter(x, i, rows) {{axis=0, depth=1, reduction="add"}}
  total = reduce_sum(y) {{axes=[0], keepdims=0}}
  output y
  output total
}})",
                            indices),
                kSmall, kLarge);
  }
}

TEST(PadScatter, PlacesOfSeveralAxes) {
  ExpectExact(R"(graph g {
  input x: f32[B, L, 2]
  input i: i64[7, 1]
  input rows: f32[7, 2]
  y = scatter(x, i, rows) {axis=0, depth=2, reduction="none"}
  output y
})",
              kSmall, kLarge);
}

// Elements that were equal differ after the scatter.
TEST(PadScatter, IntoRepeatedElements) {
  ExpectExact(R"(graph g {
  input n: f32[B, L]
  constant zero: f32[1, 1] = [0]
  zeros = expand(zero) {shape=[B, L]}
  constant i: i64[1, 1] = [1]
  first = slice(n) {starts=[0, 0], ends=[B, 1]}
  x = scatter(zeros, i, first) {axis=1, depth=1, reduction="none"}
  y = add(x, n)
  flat = reshape(x) {shape=[B*L]}
  output y
  output flat
})",
              kSmall, kLarge);
}

TEST(PadScatter, UpdatesOfFewerPositions) {
  ExpectExact(R"(graph g {
  input x: f32[2, M]
  input more: f32[1, L]
  input i: i64[1, L]
  y = scatter(x, i, more) {axis=0, depth=1, reduction="none"}
  output y
})",
              {{"L", 5}, {"M", 6}}, {{"L", 8}, {"M", 9}});
}

TEST(PadScatter, RejectsUpdatesThatLieOtherwise) {
  EXPECT_THAT(test::RejectionOf(R"(graph g {
  input x: f32[2, M]
  input rows: f32[1, B, L]
  more = reshape(rows) {shape=[1, B*L]}
  input i: i64[1, 1]
  y = scatter(x, i, more) {axis=0, depth=1, reduction="none"}
  output y
})",
                                {{"B", 2}, {"L", 4}, {"M", 9}}),
              HasSubstr("its operands lie differently along axis 1"));
}

}  // namespace
}  // namespace tunec
