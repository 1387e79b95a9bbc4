// The implementation of the emitter's interface Machine (jit/emit/machine.h) for NVIDIA GPUs.
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

/// The name of the module's variable for the dynamic shared memory of a launch.
inline constexpr const char* kSharedName = "shared";

/// The kind of the metadata of an access to memory. The metadata consists of two strings, which are
/// the names of the statement and the tensor.
inline constexpr const char* kAccessMetadata = "tunec.access";

/// The naming of accesses. With kMetadata, instructions that access memory have kAccessMetadata.
enum class AccessNames : uint8_t { kNone, kMetadata };

/// An implementation of Machine for NVIDIA GPUs. Phases are kernels `(the nest's arguments, ptr
/// workspace, i64 first)`. Block b of a launch runs task first + b, so that each wave of a phase
/// can be a separate launch. Storage that all threads of a block share is the launch's dynamic
/// shared memory. Private storage of a thread is local memory, unless it becomes registers.
/// CudaStages must have rewritten the nest, and the nest must outlive this object.
class CudaMachine : public Machine {
 public:
  explicit CudaMachine(const LoopNest& nest, AccessNames names = AccessNames::kNone);

  /// Returns the largest number of lanes of one thread's vectors: as many as fill 16 bytes, but at
  /// least 8. In memory, 8 elements that are computed as f32 may be 16 bytes of f16 or bf16. Wider
  /// vectors would only use more registers.
  int Lanes(int bytes) const override { return std::max(16 / bytes, 8); }
  /// Returns the alignment that a load or store of 16 bytes requires.
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
  /// Does nothing, because the end of a kernel orders all of its stores.
  void StoreFence(Builder&) override {}
  void ForgetOperands() override { tiles_.Forget(); }
  Status EmitThreads(EmitState& state, const NestNode& node) override;
  Status EmitThreadLoop(EmitState& state, const Loop& loop) override;
  Status CheckScope(Scope scope) override;
  void NameAccess(Builder& builder, std::string_view statement, std::string_view tensor) override;

 private:
  Status EmitThreadLoopOnce(EmitState& state, const Loop& loop);
  /// Emits two versions of a loop, and a test of the addresses of the `doubtful` tensors. The first
  /// version runs if all addresses have the alignment of vectors, and the second one otherwise.
  Status EmitVersions(EmitState& state, const Loop& loop, const std::set<TensorId>& doubtful);

  const int64_t arguments_;    // number of the nest's arguments
  const int64_t local_bytes_;  // private storage of each thread in memory
  const AccessNames names_;
  // The number of groups of copies that may still be in flight after each Wait.
  const std::map<const Wait*, int> pending_;
  WarpTiles tiles_;
  // State of the current phase.
  std::vector<IrValue> parameters_;
  IrValue local_ = nullptr;              // private storage of the thread
  std::array<IrValue, 3> threads_ = {};  // the thread's numbers along x, y, z, as i64
  Launch launch_;
  bool in_version_ = false;  // true: EmitVersions is emitting a loop over threads
};

}  // namespace tunec::jit
