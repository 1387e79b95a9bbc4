#include "ir/owner_map.h"

#include "ir/loop_nest.h"

namespace tunec {
namespace {

void Move(MatrixPosition& position, const std::vector<OwnerDigit>& digits, int64_t number) {
  for (const OwnerDigit& digit : digits) {
    position.row += number % digit.extent * digit.rows;
    position.column += number % digit.extent * digit.columns;
    number /= digit.extent;
  }
}

// Returns the number of an element by `digits`: the lane, or the number within the lane.
IndexExpr NumberAt(const std::vector<OwnerDigit>& digits, const IndexExpr& row,
                   const IndexExpr& column) {
  IndexExpr number;
  int64_t weight = 1;
  for (const OwnerDigit& digit : digits) {
    const IndexExpr steps = digit.rows > 0 ? IndexExpr::FloorDiv(row, digit.rows)
                                           : IndexExpr::FloorDiv(column, digit.columns);
    number += IndexExpr::Mod(steps, digit.extent) * weight;
    weight *= digit.extent;
  }
  return number;
}

}  // namespace

int64_t ElementsOfLane(const OwnerMap& map) {
  int64_t elements = 1;
  for (const OwnerDigit& digit : map.element) elements *= digit.extent;
  return elements;
}

MatrixPosition Locate(const OwnerMap& map, const Owner& owner) {
  MatrixPosition position;
  Move(position, map.lane, owner.lane);
  Move(position, map.element, owner.element);
  return position;
}

std::vector<Owner> OwnersOf(const OwnerMap& map, int64_t rows, int64_t columns) {
  std::vector<Owner> owners(static_cast<size_t>(rows * columns));
  for (int64_t lane = 0; lane < kWarpThreads; ++lane) {
    for (int64_t element = 0; element < ElementsOfLane(map); ++element) {
      const auto [row, column] = Locate(map, {lane, element});
      if (row >= rows || column >= columns) continue;
      owners[static_cast<size_t>(row * columns + column)] = {lane, element};
    }
  }
  return owners;
}

IndexExpr LaneOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column) {
  return NumberAt(map.lane, row, column);
}

IndexExpr ElementOf(const OwnerMap& map, const IndexExpr& row, const IndexExpr& column) {
  return NumberAt(map.element, row, column);
}

}  // namespace tunec
