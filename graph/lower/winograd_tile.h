// The matrices of Winograd's tiles F(m x m, 3 x 3), and products with them.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/expr.h"

namespace tunec::lower {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;
using Exprs = std::vector<std::vector<Expr>>;

/// The tile that computes m x m outputs Y of a filter g over inputs d of (m + 2) x (m + 2):
///   Y = At ((G g Gt) * (Bt d B)) A, where * multiplies element by element.
struct WinogradTile {
  int64_t outputs = 0;  // m
  Matrix filter;        // G
  Matrix input;         // Bt
  Matrix output;        // At

  /// Returns the number of inputs along an axis of the tile.
  int64_t Patch() const { return static_cast<int64_t>(input.size()); }
  /// Returns the number of products for each pair of an input and an output channel.
  int64_t Products() const { return Patch() * Patch(); }
};

/// Returns F(2 x 2, 3 x 3), by the points 0, 1, -1 and infinity.
const WinogradTile& TileOfTwo();
/// Returns F(4 x 4, 3 x 3), by the points 0, 5/8, -5/8, 3/2, -3/2 and infinity. Among the measured
/// points with `input` and `output` exact in float32, these have the smallest root mean square
/// error (docs/decisions/0033_winograd_by_four.md).
const WinogradTile& TileOfFour();

/// Returns matrix * x * transposed matrix. Adjacent rows or columns of `matrix` that differ only in
/// signs share partial sums if this saves operations.
Exprs TransformBothSides(const Matrix& matrix, const Exprs& x);

/// Returns whether float32 represents all elements exactly.
bool IsExactInFloat32(const Matrix& matrix);

}  // namespace tunec::lower
