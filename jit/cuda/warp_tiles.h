// The emission of tiles that a warp executes. The operands become fragments in the registers of
// the lanes, and mma.sync multiplies the fragments.
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

/// An emitter of warp tiles for one nest. An operand's fragment is loaded at its first use, and
/// reused until the next phase or a call of `Forget`. So unrolled tiles of one row can share their
/// left operand, whatever the order of the unrolled loops is.
class WarpTiles {
 public:
  explicit WarpTiles(const LoopNest& nest);

  /// Starts a phase. Must be called before the parts, in the function's first scope. `thread` is
  /// the thread's number along x, an i64.
  void BeginPhase(EmitState& state, const Phase& phase, IrValue thread);
  /// Emits a tile of a nest from PrivatizeThreads, after BeginPhase. Fails with kUnsupported for an
  /// accumulator whose index is not constant after unrolling, or that has too many registers.
  Status Emit(EmitState& state, const TileParts& parts);
  /// Discards fragments, since memory may have changed or another part of the code begins.
  void Forget() { fragments_.clear(); }

 private:
  // The position of a tile's operand in storage: the first element, and the strides between
  // consecutive rows and columns. The values do not include swizzling, so each address in swizzled
  // storage is mapped separately.
  struct Location {
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

  Location Locate(EmitState& state, const TileParts& parts, const Read& read, TileAxis rows,
                  TileAxis columns) const;
  std::vector<IrValue> Fragment(EmitState& state, const TileParts& parts,
                                const TileOperand& operand, const Location& location);
  std::vector<IrValue> Load(EmitState& state, const TileOperand& operand,
                            const Location& location) const;
  std::optional<Matrices> AsMatrices(EmitState& state, const TileOperand& operand,
                                     const Location& location) const;
  std::vector<IrValue> LoadMatrices(EmitState& state, const TileOperand& operand,
                                    const Location& location, Matrices order) const;
  std::vector<IrValue> LoadElements(EmitState& state, const TileOperand& operand,
                                    const Location& location) const;

  std::set<TensorId> shared_;  // tensors in shared memory
  // State of the current phase: digits of the lane's number, and the fragments of operands.
  LinearIndex of_four_;              // lane mod 4
  LinearIndex group_;                // floor(lane/4)
  LinearIndex of_eight_;             // lane mod 8
  std::vector<LinearIndex> matrix_;  // bits of floor(lane/8)
  std::map<Key, std::vector<IrValue>> fragments_;
};

}  // namespace tunec::jit
