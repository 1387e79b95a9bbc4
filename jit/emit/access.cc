// Reads and writes of tensors in memory. Within a vector loop the storage offset's dependence on
// the lane selects the instructions of a read:
// - no dependence: a scalar load that all lanes share;
// - lane + c: a vector load;
// - consecutive elements of two rows, in alternate lanes, without a mask: one vector load per row;
// - c - lane or c + 2*lane, without a mask: vector loads and a shuffle;
// - any other dependence: a gather.
// Where lanes are several elements apart, the copies of an unrolled loop may load one transposed
// block instead.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "jit/emit/state.h"
#include "jit/emit/transpose.h"

namespace tunec::jit {
namespace {

struct Location {
  TensorId tensor;
  LinearIndex offset;                     // in elements of the storage
  const IndexExpr* expression = nullptr;  // the expression that the offset evaluates
};

class Reader {
 public:
  Reader(EmitState& state, Location location, Condition guard, double outside)
      : state_(state),
        b_(state.builder),
        location_(std::move(location)),
        guard_(guard),
        outside_(outside),
        tensor_(state.tensor(location_.tensor)),
        storage_(state.storage[location_.tensor]) {}

  IrValue Read() {
    // The key of a value that all lanes share does not contain the mask of running lanes, unless
    // possibly no lane runs. In this case, the address that is loaded depends on the mask.
    const bool shared = location_.offset.IsUniform() && guard_.kind != Condition::Kind::kLanes &&
                        !state_.lanes.conditional;
    const LoadKey key = Key(shared, 0);
    if (const auto it = state_.loads.find(key); it != state_.loads.end()) return it->second;
    if (const int copies = TransposedCopies(); copies > 0) {
      LoadTransposed(copies);
      return state_.loads.at(key);
    }
    const IrValue value = FromMemory(b_, Load(), tensor_.type);
    state_.loads[key] = value;
    return value;
  }

 private:
  /// Returns the cache key of the element that is `distance` elements after this one.
  LoadKey Key(bool shared, int64_t distance) const {
    return {.root = state_.Root(location_.tensor),
            .terms = location_.offset.terms,
            .constant = location_.offset.constant + distance,
            .lane_factor = location_.offset.lane_factor,
            .per_lane = location_.offset.per_lane,
            .guard = guard_.value,
            .mask = shared ? nullptr : state_.lanes.mask,
            .outside = outside_,
            .lanes = shared ? 1 : state_.lanes.width};
  }

  /// Returns the number of copies of an unrolled loop whose elements are loaded as one transposed
  /// block, or 0. The storage must be invariant, so that nothing writes between these reads.
  int TransposedCopies() const {
    const LinearIndex& offset = location_.offset;
    const bool apart = offset.per_lane == nullptr && std::abs(offset.lane_factor) > 1;
    if (location_.expression == nullptr || !apart || !storage_.invariant) return 0;
    if (guard_.kind != Condition::Kind::kAlways || state_.lanes.mask != nullptr) return 0;
    return CountNeighbourCopies(state_, *location_.expression, offset);
  }

  void LoadTransposed(int copies) {
    std::vector<IrValue> rows;
    for (int lane = 0; lane < state_.lanes.width; ++lane) {
      LinearIndex row = location_.offset;
      row.constant += lane * row.lane_factor;
      row.lane_factor = 0;
      const IrValue address = state_.index.Address(storage_.base, row, size());
      rows.push_back(b_.Load({element(), copies}, address, LoadAlignment(row), true));
    }
    rows = Transpose(b_, std::move(rows));
    for (int copy = 0; copy < copies; ++copy)
      state_.loads[Key(false, copy)] =
          FromMemory(b_, rows[static_cast<size_t>(copy)], tensor_.type);
  }

  Element element() const { return MemoryElement(tensor_.type); }
  int64_t size() const { return static_cast<int64_t>(SizeOf(tensor_.type)); }
  IrValue Outside() { return MemoryConstant(b_, tensor_.type, outside_); }

  /// Returns an address that may always be read: that of a constant with the value outside the
  /// guard (0 without a guard).
  IrValue SafeAddress() {
    IrValue& address = state_.safe_addresses[{tensor_.type, outside_}];
    if (address == nullptr) address = b_.SafeConstant(Outside());
    return address;
  }

  IrValue Load() {
    if (location_.offset.IsUniform()) return LoadShared();
    const IrValue mask = Mask();
    if (location_.offset.lane_factor == 1 && location_.offset.per_lane == nullptr)
      return LoadContiguous(mask);
    if (mask == nullptr && location_.offset.per_lane == nullptr) {
      if (location_.offset.lane_factor == -1) return LoadReversed();
      if (location_.offset.lane_factor == 2) return LoadEverySecond();
    }
    if (mask == nullptr) {
      if (const std::optional<int64_t> apart = TwoRowsApart()) return LoadTwoRows(*apart);
    }
    return LoadGathered(mask);
  }

  /// Returns the mask of lanes that run and whose guard holds; null for all lanes.
  IrValue Mask() {
    IrValue mask = state_.lanes.mask;
    if (guard_.kind == Condition::Kind::kAlways) return mask;
    const IrValue guard = b_.Splat(guard_.value, state_.lanes.width);
    return mask == nullptr ? guard : b_.And(mask, guard);
  }

  /// Loads one element for all lanes (or outside of vector loops).
  IrValue LoadShared() {
    IrValue address = state_.index.Address(storage_.base, location_.offset, size());
    IrValue readable = nullptr;
    if (guard_.kind == Condition::Kind::kUniform) readable = guard_.value;
    if (guard_.kind == Condition::Kind::kLanes || state_.lanes.conditional) {
      const IrValue any = b_.Any(Mask());
      readable = readable == nullptr ? any : b_.And(readable, any);
    }
    if (readable != nullptr) address = b_.Select(readable, address, SafeAddress());
    const int64_t alignment = readable == nullptr ? LoadAlignment(location_.offset) : size();
    const IrValue value =
        b_.Load({element(), 1}, address, alignment, storage_.invariant && readable == nullptr);
    return guard_.kind == Condition::Kind::kLanes ? b_.Select(guard_.value, value, Outside())
                                                  : value;
  }

  /// Returns the alignment to state for a load: the best known alignment if the machine has a
  /// vector alignment, else the element size. In the first case, LLVM merges adjacent loads only if
  /// the merged load is known to be aligned.
  int64_t LoadAlignment(const LinearIndex& offset) {
    if (state_.machine.VectorAlignment() == 1) return size();
    return AlignmentOf(state_, location_.tensor, offset);
  }

  int64_t Alignment() { return AlignmentOf(state_, location_.tensor, location_.offset); }

  IrValue LoadContiguous(IrValue mask) {
    const IrType type{element(), state_.lanes.width};
    const IrValue address = state_.index.Address(storage_.base, location_.offset, size());
    if (mask == nullptr) return b_.Load(type, address, Alignment(), storage_.invariant);
    return b_.MaskedLoad(type, address, Alignment(), mask, b_.Splat(Outside(), type.lanes));
  }

  IrValue LoadReversed() {
    const int width = state_.lanes.width;
    LinearIndex last = location_.offset;
    last.constant -= width - 1;
    const IrValue address = state_.index.Address(storage_.base, last, size());
    const IrValue value = b_.Load({element(), width}, address, size());
    std::vector<int> lanes(width);
    for (int i = 0; i < width; ++i) lanes[i] = width - 1 - i;
    return b_.Shuffle(value, value, lanes);
  }

  /// Loads every second element, by two overlapping vectors. The second vector ends exactly at the
  /// last element that a lane reads.
  IrValue LoadEverySecond() {
    const int width = state_.lanes.width;
    LinearIndex second = location_.offset;
    second.constant += width - 1;
    const IrType type{element(), width};
    const IrValue a =
        b_.Load(type, state_.index.Address(storage_.base, location_.offset, size()), size());
    const IrValue b = b_.Load(type, state_.index.Address(storage_.base, second, size()), size());
    std::vector<int> lanes(width);
    for (int i = 0; i < width; ++i) lanes[i] = 2 * i < width ? 2 * i : width + 2 * i - (width - 1);
    return b_.Shuffle(a, b, lanes);
  }

  /// Returns the distance between two rows if even lanes are known to read consecutive elements of
  /// one row and odd lanes those of another. Returns nothing otherwise, and for a vector of two
  /// lanes, which read a single element of each row.
  std::optional<int64_t> TwoRowsApart() {
    if (location_.offset.per_lane == nullptr) return std::nullopt;
    const std::vector<int64_t> lanes = b_.ConstantLanes(state_.index.LanePart(location_.offset));
    if (lanes.size() < 4) return std::nullopt;
    for (size_t i = 2; i < lanes.size(); ++i) {
      if (lanes[i] != lanes[i - 2] + 1) return std::nullopt;
    }
    return lanes[1] - lanes[0];
  }

  IrValue LoadTwoRows(int64_t apart) {
    const int half = state_.lanes.width / 2;
    LinearIndex row = location_.offset;
    row.constant += b_.ConstantLanes(state_.index.LanePart(location_.offset)).front();
    row.lane_factor = 0;
    row.per_lane = nullptr;
    const auto load = [&] {
      const IrValue address = state_.index.Address(storage_.base, row, size());
      return b_.Load({element(), half}, address, size(), storage_.invariant);
    };
    const IrValue even = load();
    row.constant += apart;
    const IrValue odd = load();
    std::vector<int> lanes(static_cast<size_t>(2 * half));
    for (int i = 0; i < half; ++i) {
      lanes[2 * static_cast<size_t>(i)] = i;
      lanes[2 * static_cast<size_t>(i) + 1] = half + i;
    }
    return b_.Shuffle(even, odd, lanes);
  }

  IrValue LoadGathered(IrValue mask) {
    const int width = state_.lanes.width;
    const IrValue pointers = LanePointers(state_, storage_.base, location_.offset, size());
    if (mask == nullptr) mask = b_.MaskOfFirst(width, width);
    return b_.Gather({element(), width}, pointers, size(), mask, b_.Splat(Outside(), width));
  }

 public:
  static IrValue LanePointers(EmitState& state, IrValue base, const LinearIndex& offset,
                              int64_t size) {
    LinearIndex uniform = offset;
    uniform.lane_factor = 0;
    uniform.per_lane = nullptr;
    const IrValue address = state.index.Address(base, uniform, size);
    const IrValue bytes = state.builder.Mul(state.index.LanePart(offset), state.builder.I64(size));
    return state.builder.Offset(address, bytes);
  }

 private:
  EmitState& state_;
  Builder& b_;
  Location location_;
  Condition guard_;
  double outside_;
  const Tensor& tensor_;
  const TensorStorage& storage_;
};

constexpr int64_t kLeastStreamed = 16;  // bytes of the smallest vector that bypasses caches

class Writer {
 public:
  Writer(EmitState& state, Location location, IrValue value, bool non_temporal)
      : state_(state),
        b_(state.builder),
        location_(std::move(location)),
        non_temporal_(non_temporal),
        tensor_(state.tensor(location_.tensor)),
        storage_(state.storage[location_.tensor]),
        value_(ToMemory(b_, value, tensor_.type)) {}

  Status Write() {
    if (location_.offset.IsUniform()) return StoreShared();
    value_ = b_.Splat(value_, state_.lanes.width);
    if (location_.offset.lane_factor == 1 && location_.offset.per_lane == nullptr) {
      StoreContiguous();
    } else {
      StoreScattered();
    }
    return {};
  }

 private:
  int64_t size() const { return static_cast<int64_t>(SizeOf(tensor_.type)); }
  IrValue Address(const LinearIndex& offset) {
    return state_.index.Address(storage_.base, offset, size());
  }

  /// Stores one element that all lanes write. The element gets the value of the last running lane,
  /// and does not change if no lane runs. Fails if the values may differ and this lane is unknown.
  Status StoreShared() {
    const LaneContext& lanes = state_.lanes;
    const bool varies = b_.LanesOf(value_) > 1;
    if (lanes.mask != nullptr && lanes.active == 0) {
      if (varies)
        return Fail(ErrorCode::kUnsupported,
                    "lanes of a vector loop write one element of {} under a condition",
                    tensor_.name);
      return EmitWhen(state_, b_.Any(lanes.mask), [&]() -> Status {
        b_.Store(value_, Address(location_.offset), size());
        return {};
      });
    }
    const int last = (lanes.active > 0 ? lanes.active : lanes.width) - 1;
    b_.Store(varies ? b_.Extract(value_, last) : value_, Address(location_.offset), size());
    return {};
  }

  void StoreContiguous() {
    const IrValue address = Address(location_.offset);
    int64_t align = AlignmentOf(state_, location_.tensor, location_.offset);
    if (state_.lanes.mask != nullptr)
      return b_.MaskedStore(value_, address, align, state_.lanes.mask);
    const int64_t bytes = size() * state_.lanes.width;
    const int64_t multiple =
        std::gcd(state_.index.Multiple(location_.offset) * size(), int64_t{64});
    if (non_temporal_ && state_.target_alignment > 0)
      align = std::gcd(state_.target_alignment, multiple);
    // LLVM may split a non-temporal store into aligned parts. The processor combines the parts of
    // one cache line before it writes them to memory.
    const bool bypass = non_temporal_ && bytes >= kLeastStreamed && align >= kLeastStreamed;
    b_.Store(value_, address, align, bypass);
    state_.non_temporal |= bypass;
  }

  void StoreScattered() {
    const int width = state_.lanes.width;
    const LaneContext& lanes = state_.lanes;
    const bool known = lanes.mask == nullptr || lanes.active > 0;
    if (known && location_.offset.per_lane == nullptr) {
      // A scalar store per lane was faster than the scatter instruction on every measured core.
      for (int i = 0; i < (lanes.active > 0 ? lanes.active : width); ++i) {
        LinearIndex offset = location_.offset;
        offset.constant += offset.lane_factor * i;
        offset.lane_factor = 0;
        b_.Store(b_.Extract(value_, i), Address(offset), size());
      }
      return;
    }
    const IrValue pointers = Reader::LanePointers(state_, storage_.base, location_.offset, size());
    b_.Scatter(value_, pointers, size(),
               lanes.mask == nullptr ? b_.MaskOfFirst(width, width) : lanes.mask);
  }

  EmitState& state_;
  Builder& b_;
  Location location_;
  bool non_temporal_;
  const Tensor& tensor_;
  const TensorStorage& storage_;
  IrValue value_;
};

/// Returns the value of lanes whose guard fails, in the element type of computations.
IrValue OutsideValue(EmitState& state, const Read& read) {
  const DataType type = state.tensor(read.tensor).type;
  return FromMemory(state.builder, MemoryConstant(state.builder, type, read.guard->outside), type);
}

}  // namespace

int64_t AlignmentOf(EmitState& state, TensorId tensor, const LinearIndex& offset) {
  const auto size = static_cast<int64_t>(SizeOf(state.tensor(tensor).type));
  const TensorStorage& storage = state.storage[tensor];
  const int64_t base =
      state.target_alignment > 0 ? std::max<int64_t>(storage.alignment, size) : storage.alignment;
  const int64_t multiple = std::gcd(state.index.Multiple(offset) * size, int64_t{64});
  return std::gcd(base, multiple);
}

Result<IrValue> EmitRead(EmitState& state, const Read& read) {
  const Condition guard = read.guard ? EmitCondition(state, read.guard->nonnegative) : Condition{};
  if (guard.kind == Condition::Kind::kNever) return OutsideValue(state, read);
  if (state.InSlots(read.tensor)) {
    const IrValue value = ReadSlots(state, read.tensor, read.index);
    if (guard.kind == Condition::Kind::kAlways) return value;
    return state.builder.Select(guard.value, value, OutsideValue(state, read));
  }
  const IndexExpr& offset = state.analysis.offsets.at(&read);
  Location location{read.tensor, EmitOffset(state, read.tensor, offset), &offset};
  state.machine.NameAccess(state.builder, state.statement, state.tensor(read.tensor).name);
  return Reader(state, std::move(location), guard, read.guard ? read.guard->outside : 0).Read();
}

Result<IrValue> EmitOldValue(EmitState& state, const Write& write) {
  if (state.InSlots(write.tensor)) return ReadSlots(state, write.tensor, write.index);
  Location location{write.tensor,
                    EmitOffset(state, write.tensor, state.analysis.offsets.at(&write))};
  state.machine.NameAccess(state.builder, state.statement, state.tensor(write.tensor).name);
  return Reader(state, std::move(location), Condition{}, 0).Read();
}

Status EmitWrite(EmitState& state, const Write& write, IrValue value, bool non_temporal) {
  if (state.InSlots(write.tensor)) {
    WriteSlots(state, write.tensor, write.index, value);
    return {};
  }
  const TensorId root = state.Root(write.tensor);
  state.ForgetLoadsOf(root);
  state.machine.ForgetOperands();
  Location location{write.tensor,
                    EmitOffset(state, write.tensor, state.analysis.offsets.at(&write))};
  state.machine.NameAccess(state.builder, state.statement, state.tensor(write.tensor).name);
  return Writer(state, std::move(location), value, non_temporal).Write();
}

}  // namespace tunec::jit
