// The host's implementation of the interface Machine of the emitter (jit/emit/machine.h).
#pragma once

#include <vector>

#include "ir/target.h"
#include "jit/cpu/amx.h"
#include "jit/emit/machine.h"

namespace tunec::jit {

/// An implementation of Machine for the host. Phases are functions `void (ptr arguments, ptr
/// workspace, ptr scratch, i64 task)`, as in runtime/kernel.h. Roles, loops over GPU threads, and
/// allocs of shared, tile or fragment scope are errors.
class CpuMachine : public Machine {
 public:
  explicit CpuMachine(const Target& target) : target_(target), amx_(target) {}

  int Lanes(int bytes) const override { return target_.host.Lanes(bytes); }
  PhaseEntry BeginPhase(Builder& builder, const Phase& phase, const std::string& symbol) override;
  IrValue Argument(Builder& builder, int64_t number) override;
  Result<IrValue> Storage(Builder& builder, Scope scope, int64_t offset) override;
  void BeginParts(EmitState& state, const Phase& phase) override;
  void EndParts(EmitState& state) override;
  Status EmitSerialLoop(EmitState& state, const Loop& loop,
                        const std::function<Status()>& emit) override;
  Status EmitTile(EmitState& state, const Tile& tile) override;
  void StoreFence(Builder& builder) override;
  void ForgetOperands() override { amx_.ForgetOperands(); }
  Status EmitThreads(EmitState& state, const NestNode& node) override;
  Status EmitThreadLoop(EmitState& state, const Loop& loop) override;
  Status CheckScope(Scope scope) override;

 private:
  const Target& target_;
  // Values in the function of the current phase.
  IrValue arguments_ = nullptr;  // array of base addresses
  IrValue scratch_ = nullptr;    // scratch of the thread that runs the task
  AmxTiles amx_;
};

}  // namespace tunec::jit
