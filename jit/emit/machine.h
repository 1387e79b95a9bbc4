// The interface of the emitter to a machine: function entry, storage, sizes of vectors, and
// features that only some machines have.
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

  /// Returns the greatest number of lanes of a vector loop whose widest values have `bytes` bytes.
  virtual int Lanes(int bytes) const = 0;

  /// Returns the alignment, in bytes, that the widest load or store requires; 1 if every alignment
  /// suffices.
  virtual int64_t VectorAlignment() const { return 1; }

  /// Starts the function of a phase.
  virtual PhaseEntry BeginPhase(Builder& builder, const Phase& phase,
                                const std::string& symbol) = 0;
  /// Returns the base address of the nest's argument `number`. Any code is at the start of the
  /// function.
  virtual IrValue Argument(Builder& builder, int64_t number) = 0;
  /// Returns the address of an offset (StoragePlan) in a scope's storage. The address is a multiple
  /// of 64 bytes. Any code is at the start of the function. Fails if the machine has no such
  /// storage or too little.
  virtual Result<IrValue> Storage(Builder& builder, Scope scope, int64_t offset) = 0;
  /// Emit the machine's code, if any, before the phase's first part and after the last part.
  virtual void BeginParts(EmitState& state, const Phase& phase) = 0;
  virtual void EndParts(EmitState& state) = 0;

  /// Emits a serial loop that is not fully unrolled; `emit` writes the loop's code.
  virtual Status EmitSerialLoop(EmitState& state, const Loop& loop,
                                const std::function<Status()>& emit) = 0;
  virtual Status EmitTile(EmitState& state, const Tile& tile) = 0;
  /// Emits a fence, if the machine needs one, between stores that bypassed the caches and later
  /// stores.
  virtual void StoreFence(Builder& builder) = 0;
  /// Discards the loaded operands of tiles, because memory or the scope may have changed.
  virtual void ForgetOperands() = 0;

  /// Emit nodes and loops of machines that run threads in parallel: roles, barriers, shuffles,
  /// asynchronous copies, loops over the threads of a block.
  virtual Status EmitThreads(EmitState& state, const NestNode& node) = 0;
  virtual Status EmitThreadLoop(EmitState& state, const Loop& loop) = 0;
  /// Fails if an Alloc must not have this scope, unless Storage detects this error.
  virtual Status CheckScope(Scope scope) = 0;

  /// Announces that the next instructions access this tensor for this statement. A machine may
  /// store the names for reports of faults.
  virtual void NameAccess(Builder&, std::string_view /*statement*/, std::string_view /*tensor*/) {}
};

}  // namespace tunec::jit
