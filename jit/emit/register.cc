// Reads and writes of register tensors as SSA values. The last dimension is divided into slots of
// slot_lanes elements; slot number = (row-major index of the leading dimensions) * slots per row +
// slot of the row. A vector of several slots, or of a part of one slot, is assembled by shuffles.
#include <algorithm>

#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

struct SlotLocation {
  int64_t row = 0;     // number of slots before this row's first slot
  int64_t first = 0;   // element of the last dimension that lane 0 accesses
  int64_t extent = 1;  // extent of the last dimension
  bool shared = true;  // one element for all lanes
};

SlotLocation Locate(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index) {
  const std::vector<int64_t>& shape = state.tensor(tensor).shape;
  const int lanes = state.analysis.registers[tensor].slot_lanes;
  SlotLocation location;
  int64_t row = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    const LinearIndex at = state.index.Evaluate(index[d]);
    TUNEC_CHECK(at.terms.empty() && at.per_lane == nullptr,
                "index {} of register tensor {} is not constant", d, state.tensor(tensor).name);
    if (d + 1 < index.size()) {
      row = row * shape[d] + at.constant;
      continue;
    }
    location.first = at.constant;
    location.extent = shape[d];
    location.shared = at.lane_factor == 0;
  }
  location.row = row * CeilDivide(location.extent, lanes);
  return location;
}

class Slots {
 public:
  Slots(EmitState& state, TensorId tensor)
      : state_(state),
        b_(state.builder),
        tensor_(tensor),
        lanes_(state.analysis.registers[tensor].slot_lanes),
        type_{ComputeElement(state.tensor(tensor).type), lanes_} {}

  IrValue Read(const SlotLocation& location) {
    const int64_t slot = location.row + location.first / lanes_;
    const int at = static_cast<int>(location.first % lanes_);
    if (location.shared) return b_.Extract(Get(slot), at);
    const int width = state_.lanes.width;
    if (at == 0 && width == lanes_) return Get(slot);
    IrValue result = nullptr;
    for (int64_t s = slot;
         (s - location.row) * lanes_ < std::min(location.first + width, location.extent); ++s) {
      std::vector<int> part(width, -1);
      std::vector<int> blend(width);
      for (int i = 0; i < width; ++i) {
        const bool here = location.row + (location.first + i) / lanes_ == s;
        if (here) part[i] = static_cast<int>((location.first + i) % lanes_);
        blend[i] = here ? width + i : i;
      }
      const IrValue value = Widened(Shuffled(Get(s), part), width);
      result = result == nullptr ? value : b_.Shuffle(result, value, blend);
    }
    return result;
  }

  void Write(const SlotLocation& location, IrValue value) {
    const int64_t slot = location.row + location.first / lanes_;
    const int at = static_cast<int>(location.first % lanes_);
    const LaneContext& context = state_.lanes;
    if (location.shared) return WriteShared(slot, at, value);
    const int width = context.width;
    value = b_.Splat(value, width);
    const int64_t touched = state_.storage[tensor_].touched;
    const bool rest_unused = context.active > 0 && location.first + context.active >= touched;
    const bool all = context.mask == nullptr || rest_unused;
    if (at == 0 && width == lanes_) {
      Set(slot, all ? value : b_.Select(context.mask, value, Get(slot)));
      return;
    }
    for (int64_t s = slot;
         (s - location.row) * lanes_ < std::min(location.first + width, location.extent); ++s)
      WritePart(location, s, value);
  }

  void Forget() {
    const std::vector<int64_t>& shape = state_.tensor(tensor_).shape;
    int64_t slots = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      slots *= d + 1 == shape.size() ? CeilDivide(shape[d], lanes_) : shape[d];
    for (int64_t number = 0; number < slots; ++number) b_.StoreSlot(Slot(number), b_.Poison(type_));
  }

 private:
  /// Returns a vector of the given lanes of a value. A scalar has the same value in all lanes.
  IrValue Shuffled(IrValue value, const std::vector<int>& lanes) {
    if (b_.LanesOf(value) > 1) return b_.Shuffle(value, b_.Poison(b_.TypeOf(value)), lanes);
    return b_.Splat(value, static_cast<int>(lanes.size()));
  }
  IrValue Widened(IrValue value, int width) { return b_.Splat(value, width); }

  /// Writes a target that all lanes share. The target gets the value of the last running lane. It
  /// does not change if no lane runs.
  void WriteShared(int64_t slot, int at, IrValue value) {
    const LaneContext& context = state_.lanes;
    const bool varies = b_.LanesOf(value) > 1;
    if (context.mask == nullptr || context.active > 0) {
      if (varies)
        value = b_.Extract(value, (context.active > 0 ? context.active : context.width) - 1);
    } else {
      const IrValue before = b_.Extract(Get(slot), at);
      value = varies ? LastRunning(value, before) : b_.Select(b_.Any(context.mask), value, before);
    }
    Set(slot, lanes_ == 1 ? value : b_.Insert(Get(slot), value, at));
  }

  /// Returns the value of the last lane whose mask is set, or `none` if no lane runs.
  IrValue LastRunning(IrValue value, IrValue none) {
    for (int lane = 0; lane < state_.lanes.width; ++lane)
      none = b_.Select(b_.Extract(state_.lanes.mask, lane), b_.Extract(value, lane), none);
    return none;
  }

  /// Writes the running lanes of `value` whose elements are in slot s.
  void WritePart(const SlotLocation& location, int64_t s, IrValue value) {
    const LaneContext& context = state_.lanes;
    std::vector<int> from(lanes_, -1);
    std::vector<int64_t> here(lanes_, 0);
    for (int i = 0; i < context.width; ++i) {
      const bool runs = context.active == 0 || i < context.active;
      if (!runs || location.row + (location.first + i) / lanes_ != s) continue;
      const int lane = static_cast<int>((location.first + i) % lanes_);
      from[lane] = i;
      here[lane] = 1;
    }
    IrValue mask = b_.IntVector(Element::kI1, here);
    if (context.mask != nullptr && context.active == 0) {
      std::vector<int> lanes = from;
      std::ranges::replace(lanes, -1, 0);
      mask = b_.And(mask, Shuffled(context.mask, lanes));
    }
    Set(s, b_.Select(mask, Shuffled(value, from), Get(s)));
  }

  IrValue Slot(int64_t number) {
    IrValue& slot = state_.storage[tensor_].slots[number];
    if (slot == nullptr) slot = b_.Slot(type_);
    return slot;
  }
  IrValue Get(int64_t number) { return b_.LoadSlot(Slot(number), type_); }
  void Set(int64_t number, IrValue value) { b_.StoreSlot(Slot(number), b_.Splat(value, lanes_)); }

  EmitState& state_;
  Builder& b_;
  TensorId tensor_;
  int lanes_;
  IrType type_;
};

}  // namespace

IrValue ReadSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index) {
  return Slots(state, tensor).Read(Locate(state, tensor, index));
}

void WriteSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index,
                IrValue value) {
  Slots(state, tensor).Write(Locate(state, tensor, index), value);
}

void StartSlots(EmitState& state, TensorId tensor) { Slots(state, tensor).Forget(); }

}  // namespace tunec::jit
