// Which lane of a warp has which element of a matrix that lies in the registers of all its lanes.
//
// A lane's number and the number of an element among those that the lane has are mixed-radix
// numbers, whose digits each move the element by so many rows and columns. Instructions of tensor
// cores fix such maps for their operands and for the accumulator.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// One digit of a number, from 0 to its extent: a step of it is a step by so many rows or columns,
/// of which one is 0.
struct OwnerDigit {
  int64_t extent = 1;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct OwnerMap {
  std::vector<OwnerDigit> lane;     // of a lane's number, the fastest first
  std::vector<OwnerDigit> element;  // of a lane's element: by registers, from the low bits on
};

struct MatrixPlace {
  int64_t row = 0;
  int64_t column = 0;
  bool operator==(const MatrixPlace&) const = default;
};

struct Owner {
  int64_t lane = -1;  // nobody
  int64_t element = 0;
  bool operator==(const Owner&) const = default;
};

/// How many elements each lane has.
int64_t ElementsOfLane(const OwnerMap& map);
/// Where an element lies.
MatrixPlace PlaceOf(const OwnerMap& map, const Owner& owner);
/// Who has the elements of a matrix, row by row; nobody has what the map leaves out.
std::vector<Owner> OwnersOf(const OwnerMap& map, int64_t rows, int64_t columns);

/// The lane that has an element of such matrices side by side, and which of its elements it is.
/// Requires: the digits of the map are those of rows and columns, each once.
///     4*(row mod 8) + floor((column mod 8)/2)
IndexExpr LaneOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column);
IndexExpr ElementOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column);

}  // namespace tunec
