// The emitter of AMX tiles, which are sums of products in tile registers. amx.cc explains the use
// of the registers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/tile_registers.h"
#include "jit/emit/index.h"
#include "jit/emit/state.h"
#include "support/error.h"

namespace tunec::jit {

/// The location of a tile in memory: the first element, and the distance between rows.
struct TileLocation {
  TensorId tensor;
  LinearIndex offset;
  int64_t row_bytes = 0;
  bool operator==(const TileLocation& other) const {
    return tensor == other.tensor && offset.terms == other.offset.terms &&
           offset.constant == other.offset.constant && row_bytes == other.row_bytes;
  }
};

/// The state of the tile registers while a nest is emitted.
class AmxTiles {
 public:
  explicit AmxTiles(const Target& target) : registers_(MakeTileRegisters(target)) {}

  /// Emits the configuration of the registers if the phase uses them; EndPhase then emits the
  /// release.
  void BeginPhase(EmitState& state, const Phase& phase);
  void EndPhase(EmitState& state);

  /// Emits a loop by calling `body`. Accumulators of the loop's tiles stay in registers where
  /// possible.
  Status EmitLoop(EmitState& state, const Loop& loop, const std::function<Status()>& body);
  Status Emit(EmitState& state, const TileParts& parts, TileDot dot);
  /// Discards the operands in registers. The next use of an operand loads it again.
  void ForgetOperands() { operands_.clear(); }

 private:
  Result<int> FindAccumulator(EmitState& state, const TileLocation& location);
  int Operand(EmitState& state, const TileLocation& location);
  void Load(EmitState& state, int number, const TileLocation& location);
  void Store(EmitState& state, int number, const TileLocation& location);

  std::unique_ptr<TileRegisters> registers_;
  bool used_ = false;  // true: the current phase has AMX tiles
  // State of the registers, and of the loop over which accumulators stay in registers:
  std::set<TensorId> staying_;
  int depth_ = 0;                           // depth of the scope around the loop
  std::vector<TileLocation> accumulators_;  // by register
  bool moving_ = false;                     // true: an accumulator that does not stay was used
  std::vector<std::pair<TileLocation, int>>
      operands_;  // operands and their registers, oldest first
};

}  // namespace tunec::jit
