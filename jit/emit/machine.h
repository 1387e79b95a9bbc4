// What the emitter asks of the machine that it writes for: how a function is entered, where storage
// lies, and whatever only some machines have. Everything else about a nest is the same for all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "support/error.h"

namespace tunec::jit {

struct EmitState;

/// Where a phase's function finds what is not an argument of the nest.
struct PhaseEntry {
  IrValue workspace = nullptr;  // the kernel's
  IrValue task = nullptr;       // its number, an i64
};

/// One for each nest that is emitted; it may keep what it knows of the code so far.
class Machine {
 public:
  virtual ~Machine() = default;

  /// How many values of so many bytes a vector loop computes at once.
  virtual int Lanes(int bytes) const = 0;

  /// Bytes that the address of a vector has to be a multiple of, to be one access; 1 where it is
  /// one wherever it lies.
  virtual int64_t VectorAlignment() const { return 1; }

  /// Starts the function of a phase.
  virtual PhaseEntry BeginPhase(Builder& builder, const Phase& phase,
                                const std::string& symbol) = 0;
  /// The base address of the nest's argument of this number, in the function's first block.
  virtual IrValue Argument(Builder& builder, int64_t number) = 0;
  /// The address of what lies at this offset (StoragePlan) of a scope's storage, a multiple of 64
  /// bytes; in the function's first block. An error where the machine has no such storage.
  virtual Result<IrValue> Storage(Builder& builder, Scope scope, int64_t offset) = 0;
  /// What comes before the phase's first part, and after its last one.
  virtual void BeginParts(EmitState& state, const Phase& phase) = 0;
  virtual void EndParts(EmitState& state) = 0;

  /// A loop that stays a loop: `emit` writes it.
  virtual Status EmitSerialLoop(EmitState& state, const Loop& loop,
                                const std::function<Status()>& emit) = 0;
  virtual Status EmitTile(EmitState& state, const Tile& tile) = 0;
  /// Orders stores that bypassed the caches before those that follow.
  virtual void StoreFence(Builder& builder) = 0;
  /// Memory may have changed, or another part of the code begins: what was loaded does not hold.
  virtual void ForgetOperands() = 0;

  /// Nodes and loops of machines that run threads side by side: roles, barriers, shuffles, copies
  /// in flight, loops over blocks and threads.
  virtual Status EmitThreads(EmitState& state, const NestNode& node) = 0;
  virtual Status EmitThreadLoop(EmitState& state, const Loop& loop) = 0;
  /// Whether an Alloc may have this scope.
  virtual Status CheckScope(Scope scope) = 0;

  /// The instructions that follow are for an access of this statement to this tensor: for machines
  /// that tell where a fault is.
  virtual void NameAccess(Builder&, std::string_view /*statement*/, std::string_view /*tensor*/) {}
};

}  // namespace tunec::jit
