// Tile intrinsics of the CPU. Those of vectors are one instruction for all columns: one left
// element (or group of neighbours, as the 32 bits that they are) for a vector of right ones. They
// are emitted like a chunk of a vector loop, so that accumulators in registers are their slots.
#include <fmt/ranges.h>

#include "ir/tile_intrinsic.h"
#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

class VectorTile {
 public:
  VectorTile(EmitState& state, const TileParts& parts)
      : state_(state), b_(state.builder), parts_(parts), columns_(Loop(TileAxis::kColumn)) {}

  Status Emit() {
    LaneContext lanes;
    lanes.width = static_cast<int>(parts_.intrinsic->extents[static_cast<int>(TileAxis::kColumn)]);
    lanes.var = columns_->var;
    LinearIndex column;
    column.lane_factor = 1;
    state_.index.Bind(columns_->var, column);
    if (const auto* group = Loop(TileAxis::kGroup)) state_.index.Bind(group->var, LinearIndex{});
    state_.index.SetLanes(lanes.width);
    state_.lanes = lanes;
    const Status status = EmitSum();
    state_.lanes = LaneContext{};
    state_.index.SetLanes(1);
    return status;
  }

 private:
  const tunec::Loop* Loop(TileAxis axis) const { return parts_.loops[static_cast<int>(axis)]; }
  const Read& left() const { return parts_.store->reads[parts_.left]; }
  const Read& right() const { return parts_.store->reads[parts_.right]; }

  Status EmitSum() {
    const Write& write = parts_.store->writes[0];
    TUNEC_ASSIGN(const IrValue a, EmitOperand(left()));
    TUNEC_ASSIGN(const IrValue b, EmitOperand(right()));
    TUNEC_ASSIGN(const IrValue old_value, EmitOldValue(state_, write));
    return EmitWrite(state_, write, Combined(b_.Splat(old_value, state_.lanes.width), a, b), false);
  }

  Result<IrValue> EmitOperand(const Read& read) {
    if (Loop(TileAxis::kGroup) == nullptr) return EmitRead(state_, read);
    return LoadGroups(read);
  }

  IrValue Combined(IrValue c, IrValue a, IrValue b) {
    const int width = state_.lanes.width;
    if (Loop(TileAxis::kGroup) == nullptr) return b_.Fma(a, b, c);
    const bool bytes = state_.tensor(left().tensor).type == DataType::kU8;
    return bytes ? b_.DotUnsignedSigned(c, b_.Splat(a, width), b_.Splat(b, width))
                 : b_.DotBFloat16(c, b_.Splat(a, width), b_.Splat(b, width));
  }

  /// The group of each column, as i32; one for all where the columns share it.
  IrValue LoadGroups(const Read& read) {
    LinearIndex offset = state_.index.Evaluate(state_.analysis.offsets.at(&read));
    const int lanes = offset.IsUniform() ? 1 : state_.lanes.width;
    // Under a width that no other load has: these bits are nobody else's values.
    const LoadKey key{state_.Root(read.tensor),
                      offset.terms,
                      offset.constant,
                      offset.lane_factor,
                      offset.per_lane,
                      nullptr,
                      nullptr,
                      0,
                      -lanes};
    if (const auto found = state_.loads.find(key); found != state_.loads.end()) {
      return found->second;
    }
    offset.lane_factor = 0;
    const auto size = static_cast<int64_t>(SizeOf(state_.tensor(read.tensor).type));
    const TensorStorage& storage = state_.storage[read.tensor];
    const IrValue address = state_.index.Address(storage.base, offset, size);
    const IrValue value = b_.Load({Element::kI32, lanes}, address,
                                  AlignmentOf(state_, read.tensor, offset), storage.invariant);
    state_.loads[key] = value;
    return value;
  }

  EmitState& state_;
  Builder& b_;
  const TileParts& parts_;
  const tunec::Loop* columns_;
};

}  // namespace

Status EmitTile(EmitState& state, const Tile& tile) {
  TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, state.nest));
  const std::vector<std::string> missing =
      MissingFeatures(*parts.intrinsic, state.builder.target());
  if (!missing.empty()) {
    return Fail(ErrorCode::kUnsupported, "tile {} needs {}, which the target is or has not",
                tile.intrinsic, fmt::join(missing, " and "));
  }
  if (parts.loops[static_cast<int>(TileAxis::kRow)] != nullptr) return EmitAmx(state, parts);
  return VectorTile(state, parts).Emit();
}

}  // namespace tunec::jit
