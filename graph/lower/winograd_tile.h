// The matrices of Winograd's tiles F(m x m, 3 x 3), and products with them.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/expr.h"

namespace tunec::lower {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;
using Exprs = std::vector<std::vector<Expr>>;

/// Outputs Y of m x m of a filter g over inputs d of (m + 2) x (m + 2):
///   Y = At ((G g Gt) * (Bt d B)) A, where * multiplies element by element.
struct WinogradTile {
  int64_t outputs = 0;  // m
  Matrix filter;        // G
  Matrix input;         // Bt
  Matrix output;        // At

  /// Of inputs along an axis.
  int64_t Patch() const { return static_cast<int64_t>(input.size()); }
  /// Of a pair of channels.
  int64_t Products() const { return Patch() * Patch(); }
};

/// F(2 x 2, 3 x 3), by the points 0, 1, -1 and infinity.
const WinogradTile& TileOfTwo();
/// F(4 x 4, 3 x 3), by the points 0, 5/8, -5/8, 3/2, -3/2 and infinity, of those that were measured
/// the ones with the smallest error whose `input` and `output` are exact in float32
/// (docs/decisions/0033_winograd_by_four.md).
const WinogradTile& TileOfFour();

/// matrix * x * transposed matrix. What elements share of a row is one expression.
Exprs TransformBothSides(const Matrix& matrix, const Exprs& x);

/// Whether float32 has all its elements.
bool IsExactInFloat32(const Matrix& matrix);

}  // namespace tunec::lower
