#include "graph/lower/winograd_tile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tunec::lower {
namespace {

WinogradTile MakeTileOfTwo() {
  return {.outputs = 2,
          .filter = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
          .input = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
          .output = {{1, 1, 1, 0}, {0, 1, -1, -1}}};
}

// Row i of `input` has the coefficients of the product of (x - q) over the other finite points q.
// Row i of `filter` has the powers of the point, divided by that product's value at the point.
// Column i of `output` has the powers of the point. For infinity, only the highest power is 1, and
// the others are 0. For the points kNear and -kNear, the rows of `input` and `filter` have the
// opposite sign.
WinogradTile MakeTileOfFour() {
  constexpr double kNear = 0.625;
  constexpr double kFar = 1.5;
  constexpr double kNear2 = kNear * kNear;
  constexpr double kFar2 = kFar * kFar;
  constexpr double kAll = kNear2 * kFar2;
  constexpr double kSum = kNear2 + kFar2;
  constexpr double kAtNear = 2 * kNear2 * (kFar2 - kNear2);
  constexpr double kAtFar = 2 * kFar2 * (kFar2 - kNear2);
  return {.outputs = 4,
          .filter = {{1 / kAll, 0, 0},
                     {1 / kAtNear, kNear / kAtNear, kNear2 / kAtNear},
                     {1 / kAtNear, -kNear / kAtNear, kNear2 / kAtNear},
                     {1 / kAtFar, kFar / kAtFar, kFar2 / kAtFar},
                     {1 / kAtFar, -kFar / kAtFar, kFar2 / kAtFar},
                     {0, 0, 1}},
          .input = {{kAll, 0, -kSum, 0, 1, 0},
                    {0, kNear * kFar2, kFar2, -kNear, -1, 0},
                    {0, -kNear * kFar2, kFar2, kNear, -1, 0},
                    {0, -kFar * kNear2, -kNear2, kFar, 1, 0},
                    {0, kFar * kNear2, -kNear2, -kFar, 1, 0},
                    {0, kAll, 0, -kSum, 0, 1}},
          .output = {{1, 1, 1, 1, 1, 0},
                     {0, kNear, -kNear, kFar, -kFar, 0},
                     {0, kNear2, kNear2, kFar2, kFar2, 0},
                     {0, kNear * kNear2, -kNear * kNear2, kFar * kFar2, -kFar * kFar2, 1}}};
}

// Returns the sum of `values` weighted by the row's factors. Positive factors come first, so that
// the sum does not begin with a negation.
Expr Combine(const Row& row, const std::vector<Expr>& values) {
  std::optional<Expr> sum;
  for (const bool negative : {false, true}) {
    for (size_t k = 0; k < row.size(); ++k) {
      if (row[k] == 0 || (row[k] < 0) != negative) continue;
      const double factor = std::abs(row[k]);
      const Expr term =
          factor == 1 ? values[k] : values[k] * Expr::Constant(factor, values[k].type());
      if (!sum) {
        sum = term;  // each row has a positive factor
      } else {
        sum = negative ? *sum - term : *sum + term;
      }
    }
  }
  return *sum;
}

// Two rows, or two columns, that differ only in signs. `same` has the elements of the first with
// equal signs, `opposite` those with opposite signs. The other elements are 0.
struct SignPair {
  Row same;
  Row opposite;
};

// Returns the parts of `a` and `b`. Returns nullopt if `a` and `b` do not differ only in signs, or
// if a part has fewer than two elements other than 0.
std::optional<SignPair> PairOf(const Row& a, const Row& b) {
  SignPair pair{Row(a.size()), Row(a.size())};
  int same = 0;
  int opposite = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (std::abs(a[k]) != std::abs(b[k])) return std::nullopt;
    if (a[k] == 0) continue;
    (a[k] == b[k] ? pair.same : pair.opposite)[k] = a[k];
    ++(a[k] == b[k] ? same : opposite);
  }
  return same > 1 && opposite > 1 ? std::optional(std::move(pair)) : std::nullopt;
}

Row Column(const Matrix& matrix, size_t column) {
  Row elements;
  for (const Row& row : matrix) elements.push_back(row[column]);
  return elements;
}

// A matrix and values whose product equals a given product. Two adjacent columns with a SignPair
// (PairOf) are replaced by columns for the sum and the difference of their values.
struct FactoredProduct {
  Matrix matrix;
  std::vector<Expr> values;
};

FactoredProduct ShareColumns(const Matrix& matrix, const std::vector<Expr>& values) {
  FactoredProduct factored{Matrix(matrix.size()), {}};
  const auto add = [&](const Row& column, const Expr& value) {
    for (size_t i = 0; i < column.size(); ++i) factored.matrix[i].push_back(column[i]);
    factored.values.push_back(value);
  };
  for (size_t k = 0; k < values.size(); ++k) {
    const Row column = Column(matrix, k);
    const auto pair = k + 1 < values.size() ? PairOf(column, Column(matrix, k + 1)) : std::nullopt;
    if (!pair) {
      add(column, values[k]);
      continue;
    }
    add(pair->same, values[k] + values[k + 1]);
    add(pair->opposite, values[k] - values[k + 1]);
    ++k;
  }
  return factored;
}

// Returns matrix * values.
std::vector<Expr> Transformed(const Matrix& matrix, const std::vector<Expr>& values) {
  const FactoredProduct factored = ShareColumns(matrix, values);
  std::vector<Expr> result;
  for (size_t i = 0; i < factored.matrix.size(); ++i) {
    const Row& row = factored.matrix[i];
    const auto pair =
        i + 1 < factored.matrix.size() ? PairOf(row, factored.matrix[i + 1]) : std::nullopt;
    if (!pair) {
      result.push_back(Combine(row, factored.values));
      continue;
    }
    const Expr same = Combine(pair->same, factored.values);
    const Expr opposite = Combine(pair->opposite, factored.values);
    result.push_back(same + opposite);
    result.push_back(same - opposite);
    ++i;
  }
  return result;
}

}  // namespace

const WinogradTile& TileOfTwo() {
  static const WinogradTile tile = MakeTileOfTwo();
  return tile;
}

const WinogradTile& TileOfFour() {
  static const WinogradTile tile = MakeTileOfFour();
  return tile;
}

Exprs TransformBothSides(const Matrix& matrix, const Exprs& x) {
  Exprs columns;  // matrix * x, transposed
  for (size_t j = 0; j < x[0].size(); ++j) {
    std::vector<Expr> column;
    for (const std::vector<Expr>& row : x) column.push_back(row[j]);
    columns.push_back(Transformed(matrix, column));
  }
  Exprs result;
  for (size_t i = 0; i < matrix.size(); ++i) {
    std::vector<Expr> row;
    for (const std::vector<Expr>& column : columns) row.push_back(column[i]);
    result.push_back(Transformed(matrix, row));
  }
  return result;
}

bool IsExactInFloat32(const Matrix& matrix) {
  return std::ranges::all_of(matrix, [](const Row& row) {
    return std::ranges::all_of(row, [](double v) { return static_cast<float>(v) == v; });
  });
}

}  // namespace tunec::lower
