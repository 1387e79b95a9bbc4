// Owner maps: the assignment of a matrix's elements to the registers of a warp's lanes.
//
// The number of a lane has mixed-radix digits, and so has the number of an element in its lane. A
// step of a digit moves the element by a number of rows or columns. Tensor-core instructions fix
// these maps for their operands and for the accumulator.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// One digit of a number, from 0 to `extent` - 1. A step of the digit is a step by `rows` or by
/// `columns`; the one that does not apply is 0.
struct OwnerDigit {
  int64_t extent = 1;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct OwnerMap {
  std::vector<OwnerDigit> lane;     // digits of a lane's number, the fastest first
  std::vector<OwnerDigit> element;  // digits of an element's number in its lane, the fastest first
};

struct MatrixPosition {
  int64_t row = 0;
  int64_t column = 0;
  bool operator==(const MatrixPosition&) const = default;
};

struct Owner {
  int64_t lane = -1;  // -1: the element has no owner
  int64_t element = 0;
  bool operator==(const Owner&) const = default;
};

/// Returns the number of elements of each lane.
int64_t ElementsOfLane(const OwnerMap& map);
/// Returns the row and column of the element that `owner` names by lane and number.
MatrixPosition Locate(const OwnerMap& map, const Owner& owner);
/// Returns the owners of a matrix's elements, row by row. Elements that the map does not cover have
/// no owner.
std::vector<Owner> OwnersOf(const OwnerMap& map, int64_t rows, int64_t columns);

/// Return the lane of an element and the number of the element in the lane. The map repeats for
/// matrices side by side, so rows and columns beyond the first matrix are possible. The digits of
/// the map must cover each digit of rows and columns once. A lane can be, for example,
///     4*(row mod 8) + floor((column mod 8)/2)
IndexExpr LaneOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column);
IndexExpr ElementOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column);

}  // namespace tunec
