// Offsets in swizzled storage (Swizzle, ir/loop_nest.h). The code maps the offset that an element
// has by its tensor's layout to the element's offset in storage. Lanes with consecutive offsets
// retain consecutive offsets if they are known to be in one chunk.
//
// The mapping changes bits of the offset by exclusive or, which has no carries. In a sum t + c, let
// c be constant and smaller than a power of two that divides t: both parts are then mapped
// separately. Unrolled copies of an access therefore often share computations.
#include <bit>
#include <numeric>

#include "jit/emit/state.h"

namespace tunec::jit {
namespace {

// A swizzle in elements of a tensor; all of its numbers are powers of two.
class ElementSwizzle {
 public:
  ElementSwizzle(const Swizzle& swizzle, int64_t element_bytes)
      : chunk_(Swizzle::kChunkBytes / element_bytes),
        chunks_(swizzle.chunks),
        row_(swizzle.row_bytes / element_bytes) {}

  int64_t chunk() const { return chunk_; }

  // Returns the mapped offset for an offset that is an i64 or a vector of i64.
  IrValue Of(Builder& b, IrValue offset) const {
    const IrValue row = b.LShr(offset, b.I64(std::countr_zero(Unsigned(row_))));
    const IrValue moves = b.And(row, b.I64(chunks_ - 1));
    return b.Xor(offset, b.Shl(moves, b.I64(std::countr_zero(Unsigned(chunk_)))));
  }

  int64_t Of(int64_t offset) const { return offset ^ ((offset / row_ & (chunks_ - 1)) * chunk_); }

  // Returns the bits of an offset that are the chunk's number within its group.
  int64_t ChunkBits(int64_t offset) const { return offset & ((chunks_ - 1) * chunk_); }

  // Returns an interval that contains all mapped offsets. No element leaves its group of chunks.
  Interval Of(Interval offsets) const {
    const int64_t group = chunk_ * chunks_;
    return {FloorDivide(offsets.lo, group) * group,
            FloorDivide(offsets.hi, group) * group + group - 1};
  }

 private:
  static uint64_t Unsigned(int64_t number) { return static_cast<uint64_t>(number); }

  const int64_t chunk_;  // in elements
  const int64_t chunks_;
  const int64_t row_;  // in elements
};

class SwizzledOffsets {
 public:
  SwizzledOffsets(EmitState& state, TensorId root)
      : state_(state),
        index_(state.index),
        root_(root),
        swizzle_(state.storage[root].swizzle,
                 static_cast<int64_t>(SizeOf(state.tensor(root).type))) {}

  LinearIndex Of(const LinearIndex& offset) {
    const SwizzleKey key{root_,           offset.terms,      offset.constant, offset.lane_factor,
                         offset.per_lane, state_.lanes.width};
    const auto found = state_.swizzled.find(key);
    if (found != state_.swizzled.end()) return found->second;
    return state_.swizzled[key] = offset.IsUniform() ? Uniform(offset) : Lanes(offset);
  }

 private:
  LinearIndex Lanes(const LinearIndex& offset) {
    LinearIndex first = offset;
    first.lane_factor = 0;
    const int width = state_.lanes.width;
    const bool in_one_chunk = offset.lane_factor == 1 && offset.per_lane == nullptr &&
                              width <= swizzle_.chunk() && index_.Multiple(first) % width == 0;
    LinearIndex moved;
    if (in_one_chunk) {
      moved = Of(first);
      moved.lane_factor = 1;
    } else {
      moved.per_lane = swizzle_.Of(state_.builder, index_.Vector(offset, Element::kI64));
    }
    return moved;
  }

  LinearIndex Uniform(const LinearIndex& offset) {
    LinearIndex moved;
    if (offset.IsConstant() && offset.constant >= 0) {
      moved.constant = swizzle_.Of(offset.constant);
      return moved;
    }
    LinearIndex rest = offset;
    rest.constant = 0;
    const int64_t multiple = index_.Multiple(rest);
    const int64_t apart = multiple & -multiple;  // the greatest power of two that divides it
    const int64_t low = apart == 0 ? 0 : FloorModulo(offset.constant, apart);
    if (low == 0) return New(offset, swizzle_.Of(state_.builder, index_.Scalar(offset)));
    const int64_t moved_low = swizzle_.Of(low);
    const int64_t chunk = swizzle_.ChunkBits(moved_low);
    rest.constant = offset.constant - low;
    if (low == chunk) {
      const IrValue of_rest = index_.Scalar(Of(rest));
      return New(offset, state_.builder.Xor(of_rest, state_.builder.I64(chunk)));
    }
    rest.constant += chunk;
    moved = Of(rest);
    moved.constant += moved_low - chunk;
    return moved;
  }

  // Creates the index of a mapped offset, whose value is `value`.
  LinearIndex New(const LinearIndex& offset, IrValue value) {
    const int64_t multiple = std::gcd(index_.Multiple(offset), swizzle_.chunk());
    return index_.NewValue(value, swizzle_.Of(index_.Bounds(offset)), multiple);
  }

  EmitState& state_;
  IndexEmitter& index_;
  const TensorId root_;
  const ElementSwizzle swizzle_;
};

}  // namespace

LinearIndex EmitOffset(EmitState& state, TensorId tensor, const IndexExpr& expression) {
  return EmitOffset(state, tensor, state.index.Evaluate(expression));
}

LinearIndex EmitOffset(EmitState& state, TensorId tensor, const LinearIndex& offset) {
  const TensorId root = state.Root(tensor);
  return state.storage[root].swizzle.MovesChunks() ? SwizzledOffsets(state, root).Of(offset)
                                                   : offset;
}

}  // namespace tunec::jit
