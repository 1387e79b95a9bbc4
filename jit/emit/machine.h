// The interface of the emitter to a machine: function entry, storage, and features that only some
// machines have. All other code of a nest is the same for all machines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "support/error.h"

namespace tunec::jit {

struct EmitState;

/// Values of a phase's function that are not arguments of the nest.
struct PhaseEntry {
  IrValue workspace = nullptr;  // workspace of the kernel
  IrValue task = nullptr;       // number of the task, an i64
};

/// An interface to one target machine. Each emitted nest has a separate object, which may store
/// state about the code emitted so far.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Returns the number of values of `bytes` bytes that a vector loop computes at once.
  virtual int Lanes(int bytes) const = 0;

  /// Returns the alignment, in bytes, at which the access of a vector is a single access; 1 if
  /// every alignment suffices.
  virtual int64_t VectorAlignment() const { return 1; }

  /// Starts the function of a phase.
  virtual PhaseEntry BeginPhase(Builder& builder, const Phase& phase,
                                const std::string& symbol) = 0;
  /// Returns the base address of the nest's argument `number`. The code is in the function's first
  /// block.
  virtual IrValue Argument(Builder& builder, int64_t number) = 0;
  /// Returns the address of an offset (StoragePlan) in a scope's storage. The address is a multiple
  /// of 64 bytes. The code is in the function's first block. Fails if the machine has no such
  /// storage.
  virtual Result<IrValue> Storage(Builder& builder, Scope scope, int64_t offset) = 0;
  /// Emit code before the phase's first part and after its last part.
  virtual void BeginParts(EmitState& state, const Phase& phase) = 0;
  virtual void EndParts(EmitState& state) = 0;

  /// Emits a loop that is not unrolled; `emit` writes its code.
  virtual Status EmitSerialLoop(EmitState& state, const Loop& loop,
                                const std::function<Status()>& emit) = 0;
  virtual Status EmitTile(EmitState& state, const Tile& tile) = 0;
  /// Emits a fence between stores that bypassed the caches and later stores.
  virtual void StoreFence(Builder& builder) = 0;
  /// Invalidates loaded operands: memory may have changed, or another part of the code begins.
  virtual void ForgetOperands() = 0;

  /// Emit nodes and loops of machines that run threads in parallel: roles, barriers, shuffles,
  /// asynchronous copies, loops over blocks and threads.
  virtual Status EmitThreads(EmitState& state, const NestNode& node) = 0;
  virtual Status EmitThreadLoop(EmitState& state, const Loop& loop) = 0;
  /// Fails if an Alloc must not have this scope.
  virtual Status CheckScope(Scope scope) = 0;

  /// Announces that the next instructions access this tensor for this statement. A machine that
  /// reports the place of a fault stores the names.
  virtual void NameAccess(Builder&, std::string_view /*statement*/, std::string_view /*tensor*/) {}
};

}  // namespace tunec::jit
