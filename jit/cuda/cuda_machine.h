// An NVIDIA GPU, as the emitter sees it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/cuda/warp_tiles.h"
#include "jit/emit/machine.h"

namespace tunec::jit {

/// The module's name for the dynamic shared memory of a launch.
inline constexpr const char* kSharedName = "shared";

/// The kind of metadata that names an access: its statement and its tensor, two strings.
inline constexpr const char* kAccessMetadata = "tunec.access";

/// Whether instructions that touch memory tell for what.
enum class AccessNames : uint8_t { kNone, kMetadata };

/// Phases are kernels `(the nest's arguments, ptr workspace, i64 first)`: block b of a launch runs
/// task first + b, which lets the waves of a phase be launches of their own. Storage of all threads
/// of a block is the launch's dynamic shared memory; a thread's own is local memory, as far as it
/// does not become registers. Requires: a nest that MapCudaThreads and PrivatizeThreads made, which
/// stays where it is.
class CudaMachine : public Machine {
 public:
  explicit CudaMachine(const LoopNest& nest, AccessNames names = AccessNames::kNone);

  /// As many as a schedule wants of one thread: 16 bytes of what lies in memory, which may be half
  /// of what it is computed as. Wider values are only more registers.
  int Lanes(int bytes) const override { return std::max(16 / bytes, 8); }
  /// What a load or store of 16 bytes wants.
  int64_t VectorAlignment() const override;
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
  void NameAccess(Builder& builder, std::string_view statement, std::string_view tensor) override;

 private:
  Status EmitThreadLoopOnce(EmitState& state, const Loop& loop);
  /// Once for arguments that lie as vectors want it, once for others.
  Status EmitVersions(EmitState& state, const Loop& loop, const std::set<TensorId>& doubtful);

  const int64_t arguments_;    // of the nest
  const int64_t local_bytes_;  // of each thread, besides registers
  const AccessNames names_;
  const std::map<const Wait*, int> pending_;  // groups of copies that may still be on their way
  WarpTiles tiles_;
  // Of the present phase.
  std::vector<IrValue> parameters_;
  IrValue local_ = nullptr;              // the thread's own storage
  std::array<IrValue, 3> threads_ = {};  // the thread's numbers along x, y, z, as i64
  Launch launch_;
  bool in_version_ = false;  // of a loop over threads
};

}  // namespace tunec::jit
