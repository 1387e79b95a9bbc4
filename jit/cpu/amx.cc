// The emitter of AMX tiles, which are sums of products of bfloat16 or of bytes in tile registers.
//
// A Tile adds to an accumulator in memory. In some loops, only AMX tiles access an accumulator, and
// the accumulator's address does not change. The accumulator can then stay in a register, which is
// loaded before the loop and stored after the loop. Operands stay in the remaining registers, at
// most until their memory may have changed.
//
// Registers 0 to 3 are accumulators; register 3 may be an accumulator that does not stay. Registers
// 4 to 7 are operands. All registers are configured as 16 rows of 64 bytes.
#include "jit/cpu/amx.h"

#include <algorithm>
#include <map>

#include "ir/nest/loop_range.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "jit/cpu/tile.h"

namespace tunec::jit {
namespace {

constexpr int kAccumulators = 4;
constexpr int kMoving = kAccumulators - 1;
constexpr int kFirstOperand = kAccumulators, kOperands = 4;

bool IsAmx(const NestNode& node) {
  const auto* tile = std::get_if<Tile>(&node.value);
  const TileIntrinsic* intrinsic = tile == nullptr ? nullptr : FindTileIntrinsic(tile->intrinsic);
  const TileInstruction* instruction =
      intrinsic == nullptr ? nullptr : FindTileInstruction(*intrinsic);
  return instruction != nullptr && instruction->tiles.has_value();
}

/// The tensors and loop variables in the body of a loop, without the loops of AMX tiles. `others`
/// has the tensors that are accessed other than as the accumulator of an AMX tile.
struct Uses {
  std::map<TensorId, std::vector<const Write*>> accumulators;
  std::set<TensorId> others;
  std::set<VarId> moving;           // variables of loops that are not unrolled
  std::map<VarId, int64_t> copies;  // copies of each unrolled loop
};

/// Estimates the number of different tiles in memory that the writes of one accumulator tensor
/// address.
int64_t CountTiles(const EmitState& state, const Uses& uses,
                   const std::vector<const Write*>& writes) {
  int64_t tiles = 0;
  std::vector<IndexExpr> seen;
  for (const Write* write : writes) {
    const IndexExpr& offset = state.analysis.offsets.at(write);
    if (std::ranges::find(seen, offset) != seen.end()) continue;
    seen.push_back(offset);
    int64_t of_this = 1;
    for (const auto& [variable, copies] : uses.copies) {
      if (offset.Uses(variable)) of_this *= copies;
    }
    tiles += of_this;
  }
  return tiles;
}

void Collect(const EmitState& state, const Body& body, Uses& uses) {
  for (const NestNode& node : body) {
    if (IsAmx(node)) {
      const auto parts = PartsOf(std::get<Tile>(node.value), state.nest);
      const tunec::Store& store = *parts->store;
      uses.accumulators[store.writes[0].tensor].push_back(&store.writes[0]);
      for (const Read& read : store.reads) uses.others.insert(read.tensor);
      continue;
    }
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop != nullptr && state.analysis.fully_unrolled.at(loop)) {
      const Interval range = RangeOf(*loop, [](VarId) { return Interval{0, 0}; });
      uses.copies[loop->var] = std::max<int64_t>(range.hi - range.lo + 1, 1);
    } else if (loop != nullptr) {
      uses.moving.insert(loop->var);
    }
    ForEachAccess(node, [&](TensorId tensor, bool) { uses.others.insert(tensor); });
    ForEachBody(node, [&](const Body& inner) { Collect(state, inner, uses); });
  }
}

std::set<TensorId> AccumulatorsThatStay(const EmitState& state, const Loop& loop) {
  Uses uses;
  Collect(state, loop.body, uses);
  uses.moving.insert(loop.var);
  std::set<TensorId> staying;
  for (const auto& [tensor, writes] : uses.accumulators) {
    const auto moves = [&](const Write* write) {
      return std::ranges::any_of(write->index, [&](const IndexExpr& index) {
        return std::ranges::any_of(uses.moving, [&](VarId v) { return index.Uses(v); });
      });
    };
    const bool local = state.tensor(tensor).role == TensorRole::kLocal;
    // A tensor with too many tiles in this loop may still stay in registers over an inner loop.
    if (local && !uses.others.contains(tensor) && std::ranges::none_of(writes, moves) &&
        CountTiles(state, uses, writes) <= kAccumulators) {
      staying.insert(tensor);
    }
  }
  return staying;
}

IrValue Address(EmitState& state, const TileLocation& location) {
  const auto size = static_cast<int64_t>(SizeOf(state.tensor(location.tensor).type));
  return state.index.Address(state.storage[location.tensor].base, location.offset, size);
}

/// Returns the location in memory of the tile that a Read or Write accesses. The rows of the tile
/// in memory are along the axis `rows` of the intrinsic.
template <class Access>
TileLocation Locate(EmitState& state, const TileParts& parts, const Access& access, TileAxis rows) {
  const IndexExpr& offset = state.analysis.offsets.at(&access);
  const int64_t stride = offset.Coefficient(parts.loops[static_cast<int>(rows)]->var);
  return {access.tensor, state.index.Evaluate(offset),
          stride * static_cast<int64_t>(SizeOf(state.tensor(access.tensor).type))};
}

Error TooMany() {
  return MakeError(ErrorCode::kResourceLimit, "a loop has more than {} accumulators in tiles",
                   kAccumulators);
}

}  // namespace

void AmxTiles::BeginPhase(EmitState& state, const Phase& phase) {
  used_ = false;
  VisitNodes(phase.body, [&](const NestNode& node) { used_ |= IsAmx(node); });
  if (used_) registers_->Begin(state.builder);
}

void AmxTiles::EndPhase(EmitState& state) {
  if (used_) registers_->End(state.builder);
}

void AmxTiles::Load(EmitState& state, int number, const TileLocation& location) {
  registers_->Load(state.builder, number, Address(state, location), location.row_bytes);
}

void AmxTiles::Store(EmitState& state, int number, const TileLocation& location) {
  state.ForgetLoadsOf(state.Root(location.tensor));
  registers_->Store(state.builder, number, Address(state, location), location.row_bytes);
}

Status AmxTiles::Emit(EmitState& state, const TileParts& parts, TileDot dot) {
  for (const Loop* loop : parts.loops) state.index.Bind(loop->var, LinearIndex{});
  const TileLocation location = Locate(state, parts, parts.store->writes[0], TileAxis::kRow);
  const bool stays = staying_.contains(location.tensor);
  int accumulator = kMoving;
  if (stays) {
    TUNEC_ASSIGN(accumulator, FindAccumulator(state, location));
  } else {
    if (std::ssize(accumulators_) > kMoving) return std::unexpected(TooMany());
    moving_ = true;
    Load(state, kMoving, location);
  }
  const std::vector<Read>& reads = parts.store->reads;
  const int left = Operand(state, Locate(state, parts, reads[parts.left], TileAxis::kRow));
  const int right = Operand(state, Locate(state, parts, reads[parts.right], TileAxis::kReduced));
  registers_->Dot(state.builder, dot, accumulator, left, right);
  if (!stays) Store(state, kMoving, location);
  return {};
}

/// Returns the register of an accumulator that stays in a register. At the accumulator's first use,
/// emits its load before the loop. Fails if no register is left for it.
Result<int> AmxTiles::FindAccumulator(EmitState& state, const TileLocation& location) {
  const auto found = std::ranges::find(accumulators_, location);
  const auto number = static_cast<int>(found - accumulators_.begin());
  if (found != accumulators_.end()) return number;
  if (number == (moving_ ? kMoving : kAccumulators)) return std::unexpected(TooMany());
  accumulators_.push_back(location);
  const Builder::InsertAtEndOf before(state.builder, state.index.EndOf(depth_));
  Load(state, number, location);
  return number;
}

/// Returns the register of an operand. Emits a load if no register has the operand. If all operand
/// registers are in use, the load overwrites the least recently used one.
int AmxTiles::Operand(EmitState& state, const TileLocation& location) {
  auto found =
      std::ranges::find(operands_, location, [](const auto& entry) { return entry.first; });
  int number = kFirstOperand + static_cast<int>(operands_.size());
  const bool known = found != operands_.end();
  if (!known && operands_.size() == kOperands) found = operands_.begin();
  if (found != operands_.end()) {
    number = found->second;
    operands_.erase(found);
  }
  if (!known) Load(state, number, location);
  operands_.emplace_back(location, number);
  return number;
}

Status AmxTiles::EmitLoop(EmitState& state, const Loop& loop, const std::function<Status()>& body) {
  if (!used_ || !staying_.empty()) return body();
  std::set<TensorId> staying = AccumulatorsThatStay(state, loop);
  if (staying.empty()) return body();
  staying_ = std::move(staying);
  moving_ = false;
  depth_ = state.index.depth();
  TUNEC_RETURN_IF_ERROR(body());
  const std::vector<TileLocation> accumulators = std::move(accumulators_);
  staying_.clear();
  accumulators_.clear();
  operands_.clear();
  moving_ = false;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    Store(state, static_cast<int>(i), accumulators[i]);
  }
  return {};
}

}  // namespace tunec::jit
