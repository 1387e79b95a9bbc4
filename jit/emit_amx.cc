// AMX: sums of products of bfloat16, or of bytes, in tile registers.
//
// A Tile adds to an accumulator in memory. Where a loop touches an accumulator by its tiles only,
// at a place that does not move in it, the accumulator stays in a register: it is loaded before
// the loop, at its first use, and stored after it. Operands stay in the registers that are left as
// long as nothing can have changed them.
//
// Registers: 0 to 3 accumulators, of which 3 may be one that moves, 4 to 7 operands. All are
// configured as 16 rows of 64 bytes.
#include <algorithm>
#include <array>
#include <set>

#include "ir/tile_intrinsic.h"
#include "ir/visit_loop_nest.h"
#include "jit/emit_state.h"

namespace tunec::jit {
namespace {

constexpr int kAccumulators = 4;
constexpr int kMoving = kAccumulators - 1;
constexpr int kFirstOperand = kAccumulators, kOperands = 4;
constexpr std::string_view kAmx = "amx.";

bool IsAmx(const NestNode& node) {
  const auto* tile = std::get_if<Tile>(&node.value);
  return tile != nullptr && tile->intrinsic.starts_with(kAmx);
}

/// What a loop does with tensors: which are accumulators, and what else is touched or moves.
struct Uses {
  std::map<TensorId, std::vector<const Write*>> accumulators;
  std::set<TensorId> others;
  std::set<VarId> moving;  // variables of loops that stay loops
};

void Collect(const EmitState& state, const Body& body, Uses& uses) {
  for (const NestNode& node : body) {
    if (IsAmx(node)) {
      const auto parts = PartsOf(std::get<Tile>(node.value), state.nest);
      const Store& store = *parts->store;
      uses.accumulators[store.writes[0].tensor].push_back(&store.writes[0]);
      for (const Read& read : store.reads) uses.others.insert(read.tensor);
      continue;
    }
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop != nullptr && !state.analysis.fully_unrolled.at(loop)) uses.moving.insert(loop->var);
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
    if (local && !uses.others.contains(tensor) && std::ranges::none_of(writes, moves)) {
      staying.insert(tensor);
    }
  }
  return staying;
}

class AmxTile {
 public:
  AmxTile(EmitState& state, const TileParts& parts)
      : state_(state), b_(state.builder), parts_(parts) {}

  Status Emit() {
    for (const Loop* loop : parts_.loops) state_.index.Bind(loop->var, LinearIndex{});
    const TilePlace place =
        PlaceOf(&parts_.store->writes[0], parts_.store->writes[0].tensor, TileAxis::kRow);
    const bool stays = state_.tiles.staying.contains(place.tensor);
    int accumulator = kMoving;
    if (stays) {
      TUNEC_ASSIGN(accumulator, Staying(place));
    } else {
      if (std::ssize(state_.tiles.accumulators) > kMoving) return std::unexpected(TooMany());
      state_.tiles.moving = true;
      Load(kMoving, place);
    }
    const int left = Operand(parts_.store->reads[parts_.left], TileAxis::kRow);
    const int right = Operand(parts_.store->reads[parts_.right], TileAxis::kReduced);
    if (parts_.intrinsic->left.type == DataType::kU8) {
      b_.TileDotUnsignedSigned(accumulator, left, right);
    } else {
      b_.TileDotBFloat16(accumulator, left, right);
    }
    if (!stays) StoreTile(state_, kMoving, place);
    return {};
  }

  static void StoreTile(EmitState& state, int number, const TilePlace& place) {
    const TensorId root = state.Root(place.tensor);
    std::erase_if(state.loads, [&](const auto& entry) { return std::get<0>(entry.first) == root; });
    state.builder.TileStore(number, Address(state, place), place.row_bytes);
  }

 private:
  static IrValue Address(EmitState& state, const TilePlace& place) {
    const auto size = static_cast<int64_t>(SizeOf(state.tensor(place.tensor).type));
    return state.index.Address(state.storage[place.tensor].base, place.offset, size);
  }

  TilePlace PlaceOf(const void* access, TensorId tensor, TileAxis rows) {
    const IndexExpr& offset = state_.analysis.offsets.at(access);
    const int64_t stride = offset.Coefficient(parts_.loops[static_cast<int>(rows)]->var);
    return {tensor, state_.index.Evaluate(offset),
            stride * static_cast<int64_t>(SizeOf(state_.tensor(tensor).type))};
  }

  static Error TooMany() {
    return MakeError(ErrorCode::kResourceLimit, "a loop has more than {} accumulators in tiles",
                     kAccumulators);
  }

  void Load(int number, const TilePlace& place) {
    b_.TileLoad(number, Address(state_, place), place.row_bytes);
  }

  /// The register of an accumulator, loaded before the loop at its first use.
  Result<int> Staying(const TilePlace& place) {
    std::vector<TilePlace>& known = state_.tiles.accumulators;
    const auto found = std::ranges::find(known, place);
    const auto number = static_cast<int>(found - known.begin());
    if (found != known.end()) return number;
    if (number == (state_.tiles.moving ? kMoving : kAccumulators)) {
      return std::unexpected(TooMany());
    }
    known.push_back(place);
    const Builder::InsertAtEndOf before(b_, state_.index.EndOf(state_.tiles.depth));
    Load(number, place);
    return number;
  }

  /// The register of an operand; of those that are taken the longest unused one is given up.
  int Operand(const Read& read, TileAxis rows) {
    const TilePlace place = PlaceOf(&read, read.tensor, rows);
    auto& loaded = state_.tiles.operands;
    auto found = std::ranges::find(loaded, place, [](const auto& entry) { return entry.first; });
    int number = kFirstOperand + static_cast<int>(loaded.size());
    const bool known = found != loaded.end();
    if (!known && loaded.size() == kOperands) found = loaded.begin();
    if (found != loaded.end()) {
      number = found->second;
      loaded.erase(found);
    }
    if (!known) Load(number, place);
    loaded.emplace_back(place, number);
    return number;
  }

  EmitState& state_;
  Builder& b_;
  const TileParts& parts_;
};

}  // namespace

Status EmitAmx(EmitState& state, const TileParts& parts) { return AmxTile(state, parts).Emit(); }

Status EmitWithTiles(EmitState& state, const Loop& loop, const std::function<Status()>& body) {
  if (!state.uses_tiles || !state.tiles.staying.empty()) return body();
  std::set<TensorId> staying = AccumulatorsThatStay(state, loop);
  if (staying.empty()) return body();
  state.tiles.staying = std::move(staying);
  state.tiles.moving = false;
  state.tiles.depth = state.index.depth();
  TUNEC_RETURN_IF_ERROR(body());
  const std::vector<TilePlace> accumulators = std::move(state.tiles.accumulators);
  state.tiles = {};
  for (size_t i = 0; i < accumulators.size(); ++i) {
    AmxTile::StoreTile(state, static_cast<int>(i), accumulators[i]);
  }
  return {};
}

bool UsesTiles(const Phase& phase) {
  bool uses = false;
  VisitNodes(phase.body, [&](const NestNode& node) { uses |= IsAmx(node); });
  return uses;
}

void ConfigureTiles(Builder& builder) {
  constexpr int kBytes = 64, kTiles = 8, kBytesOfRow = 16, kRows = 48;
  std::array<int64_t, kBytes> configuration{};
  configuration[0] = 1;  // the palette
  for (int tile = 0; tile < kTiles; ++tile) {
    configuration[kBytesOfRow + 2 * tile] = 64;
    configuration[kRows + tile] = 16;
  }
  builder.TileConfigure(builder.SafeConstant(builder.IntVector(Element::kI8, configuration)));
}

}  // namespace tunec::jit
