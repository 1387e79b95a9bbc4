// Execution of a tile of a loop nest.
#pragma once

#include <span>
#include <vector>

#include "ir/interpret/assignment.h"
#include "ir/interpret/block_thread.h"
#include "ir/tile_intrinsic.h"

namespace tunec {

class CompiledTile {
 public:
  /// Compiles a tile. Run reports every access to the race detector of `thread`. If a warp executes
  /// the tile, an access of the accumulator counts as an access by the lane that owns the element.
  /// Under kFloat64 the results are computed in float64 if the accumulator has a float type.
  CompiledTile(const Storage& storage, const TileParts& parts, Precision precision,
               BlockThread& thread);

  /// Executes the tile. `point` has the values of the nest's variables; Run changes those of the
  /// tile's loops. Fails for an index outside its tensor, a read of an unwritten element, and a
  /// race.
  Status Run(std::span<int64_t> point);

 private:
  Result<Scalar> Load(ElementAccess& access, std::span<const int64_t> point) const;
  Result<Scalar> LoadOperand(ElementAccess& access, std::span<const int64_t> point) const;
  Status Store(std::span<const int64_t> point, const Scalar& value);
  Status RunElement(std::span<int64_t> point, const Owner* owner);
  int64_t Extent(TileAxis axis) const { return parts_.intrinsic->Extent(axis); }
  void SetAccumulator(std::span<int64_t> point, const Owner& owner) const;
  void Set(std::span<int64_t> point, TileAxis axis, int64_t value) const;

  TileParts parts_;
  TileMeaning meaning_;
  std::vector<Owner> owners_;  // owners of the accumulator's elements; empty if one thread executes
                               // the tile
  BlockThread& thread_;
  std::string name_;
  ElementAccess left_;
  ElementAccess right_;
  bool of_lane_;  // each lane has its own accumulator
  ElementAccess accumulator_;
  std::vector<Scalar> left_values_;
  std::vector<Scalar> right_values_;
};

}  // namespace tunec
