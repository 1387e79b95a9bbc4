// An NVIDIA GPU, as the emitter sees it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/cuda/warp_tiles.h"
#include "jit/emit/machine.h"

namespace tunec::jit {

/// The module's name for the dynamic shared memory of a launch.
inline constexpr const char* kSharedName = "shared";

/// Phases are kernels `(the nest's arguments, ptr workspace, i64 first)`: block b of a launch runs
/// task first + b, which lets the waves of a phase be launches of their own. Storage of all threads
/// of a block is the launch's dynamic shared memory; a thread's own is local memory, as far as it
/// does not become registers. Requires: a nest that AssignThreads and PrivatizeThreads made.
class CudaMachine : public Machine {
 public:
  explicit CudaMachine(const LoopNest& nest);

  /// What one thread loads at once: 16 bytes.
  int Lanes(int bytes) const override { return 16 / bytes; }
  PhaseEntry BeginPhase(Builder& builder, const Phase& phase, const std::string& symbol) override;
  IrValue Argument(Builder& builder, int64_t number) override;
  Result<IrValue> Storage(Builder& builder, Scope scope, int64_t offset) override;
  void BeginParts(EmitState& state, const Phase& phase) override;
  void EndParts(EmitState&) override {}
  Status EmitSerialLoop(EmitState&, const Loop&, const std::function<Status()>& emit) override {
    return emit();
  }
  Status EmitTile(EmitState& state, const Tile& tile) override;
  /// Nothing: a kernel's end orders all of its stores.
  void StoreFence(Builder&) override {}
  void ForgetOperands() override { tiles_.Forget(); }
  Status EmitThreads(EmitState& state, const NestNode& node) override;
  Status EmitThreadLoop(EmitState& state, const Loop& loop) override;
  Status CheckScope(Scope scope) override;

 private:
  const int64_t arguments_;    // of the nest
  const int64_t local_bytes_;  // of each thread, besides registers
  WarpTiles tiles_;
  // Of the present phase.
  std::vector<IrValue> parameters_;
  IrValue local_ = nullptr;              // the thread's own storage
  std::array<IrValue, 3> threads_ = {};  // the thread's numbers along x, y, z, as i64
  Launch launch_;
};

}  // namespace tunec::jit
