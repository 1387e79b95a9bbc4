#include "jit/cpu/cpu_machine.h"

#include <fmt/ranges.h>

#include <string>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/tile.h"
#include "jit/cpu/x86_instructions.h"
#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

Error MakeUnsupportedOnCpu(std::string_view what) {
  return MakeError(ErrorCode::kUnsupported, "{} cannot be emitted for a cpu", what);
}

}  // namespace

PhaseEntry CpuMachine::BeginPhase(Builder& builder, const Phase&, const std::string& symbol) {
  constexpr IrType kPointer{Element::kPointer, 1};
  const IrType parameters[] = {kPointer, kPointer, kPointer, {Element::kI64, 1}};
  const std::vector<IrValue> values = builder.BeginFunction(symbol, parameters);
  builder.AddFunctionAttribute("prefer-vector-width", std::to_string(target_.host.vector_bits));
  arguments_ = values[0];
  scratch_ = values[2];
  return {.workspace = values[1], .task = values[3]};
}

IrValue CpuMachine::Argument(Builder& builder, int64_t number) {
  const IrValue entry = builder.Offset(arguments_, builder.I64(8 * number));
  return builder.Load({Element::kPointer, 1}, entry, 8);
}

// Returns an address in the scratch. SerializeThreads has moved the shared storage of blocks there,
// so an Alloc of shared scope is an error.
Result<IrValue> CpuMachine::Storage(Builder& builder, Scope scope, int64_t offset) {
  if (scope == Scope::kShared)
    return std::unexpected(MakeUnsupportedOnCpu("an alloc of shared scope"));
  return builder.Offset(scratch_, builder.I64(offset));
}

void CpuMachine::BeginParts(EmitState& state, const Phase& phase) { amx_.BeginPhase(state, phase); }
void CpuMachine::EndParts(EmitState& state) { amx_.EndPhase(state); }

Status CpuMachine::EmitSerialLoop(EmitState& state, const Loop& loop,
                                  const std::function<Status()>& emit) {
  return amx_.EmitLoop(state, loop, emit);
}

Status CpuMachine::EmitTile(EmitState& state, const Tile& tile) {
  TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, state.nest));
  const std::vector<std::string> missing = MissingFeatures(*parts.intrinsic, target_);
  if (!missing.empty()) {
    return Fail(ErrorCode::kUnsupported, "tile {} needs {}, which the target lacks", tile.intrinsic,
                fmt::join(missing, " and "));
  }
  const TileInstruction* instruction = FindTileInstruction(*parts.intrinsic);
  TUNEC_CHECK(instruction != nullptr, "tile {} has no instruction on a cpu", tile.intrinsic);
  return instruction->tiles ? amx_.Emit(state, parts, *instruction->tiles)
                            : EmitVectorTile(state, parts, instruction->vectors);
}

void CpuMachine::StoreFence(Builder& builder) { X86StoreFence(builder); }

Status CpuMachine::EmitThreads(EmitState&, const NestNode& node) {
  if (std::holds_alternative<Roles>(node.value))
    return std::unexpected(MakeUnsupportedOnCpu("warp roles"));
  TUNEC_UNREACHABLE("a node that SerializeThreads removes");
}

Status CpuMachine::EmitThreadLoop(EmitState& state, const Loop& loop) {
  return std::unexpected(MakeUnsupportedOnCpu(
      fmt::format("loop {} over GPU threads", state.nest.variables[loop.var])));
}

Status CpuMachine::CheckScope(Scope scope) {
  if (scope != Scope::kTile && scope != Scope::kFragment) return {};
  return std::unexpected(MakeUnsupportedOnCpu("an alloc of tile or fragment scope"));
}

}  // namespace tunec::jit
