// Tiles that a warp executes: operands become fragments in its lanes' registers, mma.sync
// multiplies them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/tile_intrinsic.h"
#include "jit/emit/state.h"

namespace tunec::jit {

/// One for each nest that is emitted. A fragment of an operand is loaded at its first use, and used
/// again as long as nothing can have changed what it was loaded from: the tiles of one row share
/// their left operand, however the loops around are ordered.
class WarpTiles {
 public:
  explicit WarpTiles(const LoopNest& nest);

  /// Before the parts of a phase, in the function's first scope. `thread`: its number along x, an
  /// i64.
  void BeginPhase(EmitState& state, const Phase& phase, IrValue thread);
  /// Requires: BeginPhase, of a phase with tiles; a nest that PrivatizeThreads made. kUnsupported
  /// for an accumulator whose place is not constant.
  Status Emit(EmitState& state, const TileParts& parts);
  /// Memory may have changed, or another part of the code begins.
  void Forget() { fragments_.clear(); }

 private:
  // Of an operand of one tile: its first element, and how far apart neighbours lie, by the layout.
  // Where storage is swizzled, what is loaded lies elsewhere: each address is moved by itself.
  struct Place {
    TensorId tensor;
    LinearIndex offset;
    int64_t row_stride = 0;
    int64_t column_stride = 0;
    int64_t StrideOf(const OwnerDigit& digit) const {
      return digit.rows * row_stride + digit.columns * column_stride;
    }
  };
  using Key = std::tuple<const TileOperand*, TensorId, std::vector<std::pair<int, int64_t>>,
                         int64_t, int64_t, int64_t>;
  enum class Matrices { kByRows, kTransposed };

  Place PlaceOf(EmitState& state, const TileParts& parts, const Read& read, TileAxis rows,
                TileAxis columns) const;
  std::vector<IrValue> Fragment(EmitState& state, const TileParts& parts,
                                const TileOperand& operand, const Place& place);
  std::vector<IrValue> Load(EmitState& state, const TileOperand& operand, const Place& place) const;
  std::optional<Matrices> AsMatrices(EmitState& state, const TileOperand& operand,
                                     const Place& place) const;
  std::vector<IrValue> LoadMatrices(EmitState& state, const TileOperand& operand,
                                    const Place& place, Matrices order) const;
  std::vector<IrValue> LoadElements(EmitState& state, const TileOperand& operand,
                                    const Place& place) const;

  std::set<TensorId> shared_;  // what lies in shared memory
  // Digits of the lane's number, of the present phase.
  LinearIndex of_four_;              // lane mod 4
  LinearIndex group_;                // floor(lane/4)
  LinearIndex of_eight_;             // lane mod 8
  std::vector<LinearIndex> matrix_;  // the bits of floor(lane/8)
  std::map<Key, std::vector<IrValue>> fragments_;
};

}  // namespace tunec::jit
