// Tests of Winograd's matrices, and of the expressions for products with them.
#include "graph/lower/winograd_tile.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tunec::lower {
namespace {

Matrix Transposed(const Matrix& a) {
  Matrix result(a[0].size(), Row(a.size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[0].size(); ++j) result[j][i] = a[i][j];
  return result;
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix result(a.size(), Row(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b[0].size(); ++j)
      for (size_t k = 0; k < b.size(); ++k) result[i][j] += a[i][k] * b[k][j];
  return result;
}

Matrix BothSides(const Matrix& a, const Matrix& x) { return Product(Product(a, x), Transposed(a)); }

Matrix Random(size_t size, std::mt19937& random) {
  Matrix result(size, Row(size));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Row& row : result)
    for (double& value : row) value = uniform(random);
  return result;
}

class WinogradTiles : public testing::TestWithParam<const WinogradTile*> {};

TEST_P(WinogradTiles, AreTheConvolution) {
  const WinogradTile& tile = *GetParam();
  std::mt19937 random(1);
  const Matrix g = Random(3, random);
  const Matrix d = Random(tile.Patch(), random);
  Matrix products = BothSides(tile.filter, g);
  const Matrix inputs = BothSides(tile.input, d);
  for (size_t i = 0; i < products.size(); ++i)
    for (size_t j = 0; j < products.size(); ++j) products[i][j] *= inputs[i][j];
  const Matrix outputs = BothSides(tile.output, products);
  ASSERT_EQ(outputs.size(), tile.outputs);
  for (size_t y = 0; y < outputs.size(); ++y) {
    for (size_t x = 0; x < outputs.size(); ++x) {
      double sum = 0;
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j) sum += g[i][j] * d[y + i][x + j];
      EXPECT_NEAR(outputs[y][x], sum, 1e-13) << y << " " << x;
    }
  }
}

// If a filter's factors are inexact, the filter is transformed in float64. So only these factors
// may be inexact.
TEST_P(WinogradTiles, TransformImagesByExactFactors) {
  EXPECT_TRUE(IsExactInFloat32(GetParam()->input));
  EXPECT_TRUE(IsExactInFloat32(GetParam()->output));
}

double Evaluate(const Expr& expr, const Row& reads) {
  if (expr.kind() == ExprKind::kRead) return reads.at(expr.node().slot);
  if (expr.IsConstant()) return expr.node().float_value;
  const double a = Evaluate(expr.operands().at(0), reads);
  const double b = Evaluate(expr.operands().at(1), reads);
  if (expr.Is(ScalarOp::kMul)) return a * b;
  EXPECT_TRUE(expr.Is(ScalarOp::kAdd) || expr.Is(ScalarOp::kSub));
  return expr.Is(ScalarOp::kAdd) ? a + b : a - b;
}

// Returns the number of different operations in the expressions.
size_t Operations(const Exprs& exprs) {
  std::set<Expr> operations;
  for (const std::vector<Expr>& row : exprs) {
    for (const Expr& expr : row) {
      Visit(expr, [&](const Expr& node) {
        if (node.kind() == ExprKind::kApply) operations.insert(node);
      });
    }
  }
  return operations.size();
}

Exprs Reads(size_t size) {
  Exprs reads(size);
  for (size_t i = 0; i < size * size; ++i)
    reads[i / size].push_back(Expr::Read(static_cast<int>(i), DataType::kF64));
  return reads;
}

TEST_P(WinogradTiles, ExpressionsAreTheProductsWithMatrices) {
  std::mt19937 random(2);
  for (const Matrix& matrix : {GetParam()->filter, GetParam()->input, GetParam()->output}) {
    const size_t size = matrix[0].size();
    const Matrix x = Random(size, random);
    Row reads;
    for (const Row& row : x) reads.insert(reads.end(), row.begin(), row.end());
    const Exprs exprs = TransformBothSides(matrix, Reads(size));
    const Matrix expected = BothSides(matrix, x);
    for (size_t i = 0; i < matrix.size(); ++i)
      for (size_t j = 0; j < matrix.size(); ++j)
        EXPECT_NEAR(Evaluate(exprs[i][j], reads), expected[i][j], 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, WinogradTiles, testing::Values(&TileOfTwo(), &TileOfFour()),
                         [](const auto& info) {
                           return "OutputsOf" + std::to_string(info.param->outputs);
                         });

// In the tile of four, rows of `input` and columns of `output` share partial sums. Without sharing,
// the expressions would have more operations. In the `input` of the tile of two, nothing is shared.
TEST(WinogradTile, SharesWhatDiffersInSigns) {
  EXPECT_EQ(Operations(TransformBothSides(TileOfTwo().input, Reads(4))), 32U);
  EXPECT_LE(Operations(TransformBothSides(TileOfFour().input, Reads(6))), 12 * 22U);
  EXPECT_LE(Operations(TransformBothSides(TileOfFour().output, Reads(6))), 10 * 17U);
}

}  // namespace
}  // namespace tunec::lower
