#include "jit/cpu/tile.h"

#include <algorithm>
#include <string_view>

#include "jit/cpu/x86_instructions.h"

namespace tunec::jit {
namespace {

IrValue Fma(Builder& builder, IrValue c, IrValue a, IrValue b) { return builder.Fma(a, b, c); }

IrValue DotBFloat16(Builder& builder, IrValue c, IrValue a, IrValue b) {
  const int width = builder.LanesOf(c);
  return X86DotBFloat16(builder, c, builder.Splat(a, width), builder.Splat(b, width));
}

IrValue DotBytes(Builder& builder, IrValue c, IrValue a, IrValue b) {
  const int width = builder.LanesOf(c);
  return X86DotUnsignedSigned(builder, c, builder.Splat(a, width), builder.Splat(b, width));
}

struct Entry {
  std::string_view name;  // name in the table of tile intrinsics
  TileInstruction instruction;
};

constexpr Entry kInstructions[] = {
    {"fma.avx2", {.vectors = Fma}},
    {"fma.avx512", {.vectors = Fma}},
    {"dpbf16.avx512", {.vectors = DotBFloat16}},
    {"vnni.avx512", {.vectors = DotBytes}},
    {"amx.bf16", {.tiles = TileDot::kBFloat16}},
    {"amx.int8", {.tiles = TileDot::kUnsignedSigned}},
};

class VectorTile {
 public:
  VectorTile(EmitState& state, const TileParts& parts, VectorInstruction instruction)
      : state_(state),
        b_(state.builder),
        parts_(parts),
        instruction_(instruction),
        columns_(Loop(TileAxis::kColumn)) {}

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
    const IrValue sum = instruction_(b_, b_.Splat(old_value, state_.lanes.width), a, b);
    return EmitWrite(state_, write, sum, false);
  }

  Result<IrValue> EmitOperand(const Read& read) {
    if (Loop(TileAxis::kGroup) == nullptr) return EmitRead(state_, read);
    return LoadGroups(read);
  }

  /// Returns the group of each column as i32, or a single group if all columns share the group.
  IrValue LoadGroups(const Read& read) {
    LinearIndex offset = state_.index.Evaluate(state_.analysis.offsets.at(&read));
    const int lanes = offset.IsUniform() ? 1 : state_.lanes.width;
    const LoadKey key{.root = state_.Root(read.tensor),
                      .terms = offset.terms,
                      .constant = offset.constant,
                      .lane_factor = offset.lane_factor,
                      .per_lane = offset.per_lane,
                      .lanes = lanes,
                      .groups = true};
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
  VectorInstruction instruction_;
  const tunec::Loop* columns_;
};

}  // namespace

const TileInstruction* FindTileInstruction(const TileIntrinsic& intrinsic) {
  const auto found = std::ranges::find(kInstructions, intrinsic.name, &Entry::name);
  return found == std::end(kInstructions) ? nullptr : &found->instruction;
}

Status EmitVectorTile(EmitState& state, const TileParts& parts, VectorInstruction instruction) {
  return VectorTile(state, parts, instruction).Emit();
}

}  // namespace tunec::jit
