// Tests of the ONNX operator TopK, as machine code and by the reference, against a stable sort. The
// cases cover every algorithm of graph/onnx/handlers/order.cc, first, middle and last axes, every
// numeric type, and NaN.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "graph/reference.h"
#include "tests/compiler/models.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec {
namespace {

using onnx_test::Model;
using testing::Options;

struct Case {
  std::vector<int64_t> shape;
  int axis = -1;
  int64_t k = 1;
  bool largest = true;
  DataType type = DataType::kF32;
  int64_t spread = 9;  // number of different values; few values make many ties
  bool specials = false;
  bool infinite = false;  // every element is an infinity or NaN, with more NaN at the beginning
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << fmt::format("[{}] axis {} k {} {} {}{}", fmt::join(c.shape, ","), c.axis, c.k,
                      c.largest ? "largest" : "smallest", Name(c.type),
                      c.infinite   ? " infinite"
                      : c.specials ? " specials"
                                   : "");
}

Graph GraphOf(const Case& c) {
  Model model(11);
  model.Input("x", c.shape, c.type)
      .Constant("k", onnx_test::Ints({1}, {c.k}))
      .Node("TopK", {"x", "k"}, {"values", "places"},
            {{"axis", c.axis}, {"largest", c.largest ? 1 : 0}})
      .Output("values")
      .Output("places");
  const std::string bytes = model.Bytes();
  const auto graph = ImportOnnxBytes(std::as_bytes(std::span(bytes)), "test.onnx", {});
  EXPECT_TRUE(graph) << graph.error().Format();
  return *graph;
}

Array InputOf(const Case& c) {
  std::mt19937 random(7);
  Array x(c.type, c.shape);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> specials = {kInfinity, -kInfinity, std::nan(""), -0.0, 0.0};
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto drawn = static_cast<int64_t>(random() % static_cast<uint64_t>(c.spread));
    const bool special = c.specials && random() % 2 == 0;
    if (c.infinite) {
      const bool is_nan = random() % static_cast<uint64_t>(x.size()) >= static_cast<uint64_t>(i);
      x.SetDouble(i, is_nan ? std::nan("") : random() % 40 == 0 ? -kInfinity : kInfinity);
    } else if (special) {
      x.SetDouble(i, specials[random() % specials.size()]);
    } else if (IsFloat(c.type)) {
      const int64_t centre = c.spread / 2;
      x.SetDouble(i, static_cast<double>(drawn - centre));
    } else if (drawn == 0) {  // the smallest signed or the largest unsigned integer
      x.SetInt(i, IsSigned(c.type) ? int64_t{-1} << (8 * SizeOf(c.type) - 1) : -1);
    } else {
      x.SetInt(i, drawn - (IsSigned(c.type) ? c.spread / 2 : 0));
    }
  }
  return x;
}

// Returns true if the value of element i precedes that of element j in TopK's order. For equal
// values, the result is false.
bool Precedes(const Array& x, int64_t i, int64_t j, bool largest) {
  if (!largest) std::swap(i, j);
  if (x.type() == DataType::kU64)
    return static_cast<uint64_t>(x.GetInt(i)) > static_cast<uint64_t>(x.GetInt(j));
  if (!IsFloat(x.type())) return x.GetInt(i) > x.GetInt(j);
  const double a = x.GetDouble(i);
  const double b = x.GetDouble(j);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

struct Line {
  int64_t from = 0, stride = 1, length = 0, to = 0;
};

std::vector<Line> LinesOf(const Case& c) {
  const auto rank = static_cast<int>(c.shape.size());
  const auto axis = static_cast<size_t>(c.axis < 0 ? c.axis + rank : c.axis);
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < axis; ++d) outer *= c.shape[d];
  for (size_t d = axis + 1; d < c.shape.size(); ++d) inner *= c.shape[d];
  std::vector<Line> lines;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      lines.push_back({o * c.shape[axis] * inner + i, inner, c.shape[axis], o * c.k * inner + i});
  return lines;
}

void ExpectInOrder(const Case& c, const Array& x, const std::vector<Array>& results) {
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(results[0].type(), c.type);
  for (const Line& line : LinesOf(c)) {
    std::vector<int64_t> order(static_cast<size_t>(line.length));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t i, int64_t j) {
      return Precedes(x, line.from + i * line.stride, line.from + j * line.stride, c.largest);
    });
    for (int64_t i = 0; i < c.k; ++i) {
      const int64_t position = order[static_cast<size_t>(i)];
      const int64_t at = line.to + i * line.stride;
      ASSERT_EQ(results[1].GetInt(at), position) << "number " << i << " of line " << line.from;
      const double value = x.GetDouble(line.from + position * line.stride);
      const double actual = results[0].GetDouble(at);
      ASSERT_TRUE(actual == value || (std::isnan(actual) && std::isnan(value))) << actual;
    }
  }
}

class TopK : public ::testing::TestWithParam<Case> {};

TEST_P(TopK, IsAStableSort) {
  const Graph graph = GraphOf(GetParam());
  const Array x = InputOf(GetParam());
  const auto expected = RunReference(graph, {&x, 1});
  ASSERT_TRUE(expected) << expected.error().Format();
  ExpectInOrder(GetParam(), x, *expected);
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const auto actual = testing::RunOnce(*model->executable, {x});
  ASSERT_TRUE(actual) << actual.error().Format();
  ExpectInOrder(GetParam(), x, *actual);
  EXPECT_TRUE(model->executable->Outside().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TopK,
    ::testing::Values(Case{.shape = {7}, .k = 3}, Case{.shape = {4, 20}, .k = 20, .largest = false},
                      Case{.shape = {3, 200}, .k = 1}, Case{.shape = {2, 700}, .k = 7},
                      Case{.shape = {2000}, .k = 2, .largest = false, .spread = 5000},
                      Case{.shape = {600}, .k = 600},
                      Case{.shape = {3, 300}, .k = 300, .spread = 1000},
                      Case{.shape = {1, 1100}, .k = 200, .spread = 400},
                      Case{.shape = {40, 70}, .k = 33},
                      Case{.shape = {5, 90, 4}, .axis = 1, .k = 20, .largest = false},
                      Case{.shape = {90, 21}, .axis = 0, .k = 64, .spread = 100}));

// Long rows are split into pieces unless k is 1. The last piece of a row is partial. Some cases
// select along the first or a middle axis.
INSTANTIATE_TEST_SUITE_P(
    Pieces, TopK,
    ::testing::Values(Case{.shape = {40, 2001}, .k = 5, .spread = 90},
                      Case{.shape = {2, 20011}, .k = 40, .spread = 3000},
                      Case{.shape = {2, 20011}, .k = 40, .largest = false, .spread = 3},
                      Case{.shape = {6, 701, 20}, .axis = 1, .k = 4, .largest = false},
                      Case{.shape = {700, 33}, .axis = 0, .k = 1},
                      Case{.shape = {40, 2001}, .k = 5, .type = DataType::kU8, .spread = 2},
                      Case{.shape = {3, 9000}, .k = 20, .specials = true},
                      Case{.shape = {3, 9000}, .k = 20, .largest = false, .specials = true}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, TopK,
    ::testing::Values(Case{.shape = {40, 70}, .k = 9, .specials = true},
                      Case{.shape = {40, 70}, .k = 70, .largest = false, .specials = true},
                      Case{.shape = {6, 9}, .k = 9, .specials = true},
                      Case{.shape = {3, 200}, .k = 1, .largest = false, .specials = true}));

// NaN is greater than infinity in every algorithm.
INSTANTIATE_TEST_SUITE_P(
    Infinite, TopK,
    ::testing::Values(Case{.shape = {6, 9}, .k = 9, .infinite = true},
                      Case{.shape = {6, 9}, .k = 9, .largest = false, .infinite = true},
                      Case{.shape = {3, 200}, .k = 1, .infinite = true},
                      Case{.shape = {3, 200}, .k = 1, .largest = false, .infinite = true},
                      Case{.shape = {600}, .k = 599, .infinite = true},
                      Case{.shape = {600}, .k = 599, .largest = false, .infinite = true},
                      Case{.shape = {3, 9001}, .k = 20, .infinite = true},
                      Case{.shape = {3, 9001}, .k = 500, .largest = false, .infinite = true},
                      Case{.shape = {2, 9001}, .k = 30, .type = DataType::kF16, .infinite = true},
                      Case{.shape = {2, 20011},
                           .k = 700,
                           .largest = false,
                           .type = DataType::kF64,
                           .infinite = true}));

std::vector<Case> EveryType() {
  std::vector<Case> cases;
  for (const DataType type : {DataType::kF64, DataType::kF16, DataType::kBF16, DataType::kI8,
                              DataType::kI16, DataType::kI32, DataType::kI64, DataType::kU8,
                              DataType::kU16, DataType::kU32, DataType::kU64}) {
    for (const bool largest : {false, true}) {
      cases.push_back({.shape = {40, 70}, .k = 5, .largest = largest, .type = type});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Types, TopK, ::testing::ValuesIn(EveryType()));

}  // namespace
}  // namespace tunec
