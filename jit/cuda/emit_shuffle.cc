#include "jit/cuda/emit_shuffle.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr uint32_t kAllLanes = 0xffffffff;
constexpr uint32_t kLastLane = 31;  // groups are never smaller than a warp

IrValue Mask(Builder& builder, uint32_t lanes) { return builder.instructions().getInt32(lanes); }

// Returns the mask of the lanes in this thread's warp. The last warp of a block may have fewer than
// 32 threads.
IrValue Members(Builder& b, const BlockThreads& threads) {
  const int64_t all = threads.launch.Threads();
  const int64_t rest = all % kWarpThreads;
  if (rest == 0) return Mask(b, kAllLanes);
  const IrValue of_last = Mask(b, (uint32_t{1} << rest) - 1);
  if (all < kWarpThreads) return of_last;
  const auto& [x, y, z] = threads.numbers;
  const IrValue row = b.Add(y, b.Mul(z, b.I64(threads.launch.block[1])));
  const IrValue number = b.Add(x, b.Mul(row, b.I64(threads.launch.block[0])));
  return b.Select(b.Cmp(Compare::kUle, b.I64(all - rest), number), of_last, Mask(b, kAllLanes));
}

class ShuffleEmitter {
 public:
  ShuffleEmitter(Builder& builder, IrValue members, int64_t distance)
      : b_(builder), members_(members), distance_(static_cast<uint32_t>(distance)) {}

  // Emits the shuffle of a value of any element type except a pointer.
  IrValue Of(IrValue value) {
    const Element element = b_.TypeOf(value).element;
    switch (element) {
      case Element::kF32:
        return b_.Bitcast(Word(b_.Bitcast(value, Element::kI32)), Element::kF32);
      case Element::kI32:
        return Word(value);
      case Element::kF64:
        return b_.Bitcast(TwoWords(b_.Bitcast(value, Element::kI64)), Element::kF64);
      case Element::kI64:
        return TwoWords(value);
      case Element::kF16:
        return b_.Bitcast(Of(b_.Bitcast(value, Element::kI16)), Element::kF16);
      case Element::kI1:
      case Element::kI8:
      case Element::kI16:
        return b_.IntTruncate(Word(b_.ZeroExtend(value, Element::kI32)), element);
      case Element::kPointer:
        break;
    }
    TUNEC_UNREACHABLE("a pointer in a tensor");
  }

 private:
  IrValue Word(IrValue value) {
    llvm::IRBuilderBase& ir = b_.instructions();
    return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
                              llvm::ArrayRef<llvm::Value*>{members_, value, ir.getInt32(distance_),
                                                           ir.getInt32(kLastLane)});
  }

  IrValue TwoWords(IrValue value) {
    constexpr int64_t kWordBits = 32;
    const IrValue shift = b_.I64(kWordBits);
    const IrValue low = Word(b_.IntTruncate(value, Element::kI32));
    const IrValue high = Word(b_.IntTruncate(b_.LShr(value, shift), Element::kI32));
    return b_.Or(b_.ZeroExtend(low, Element::kI64),
                 b_.Shl(b_.ZeroExtend(high, Element::kI64), shift));
  }

  Builder& b_;
  IrValue members_;
  uint32_t distance_;
};

}  // namespace

Status EmitShuffle(EmitState& state, const Shuffle& shuffle, const BlockThreads& threads) {
  TUNEC_ASSIGN(const IrValue value, EmitRead(state, shuffle.from));
  const IrValue members = Members(state.builder, threads);
  ShuffleEmitter shuffling(state.builder, members, shuffle.distance);
  return EmitWrite(state, shuffle.to, shuffling.Of(value), /*non_temporal=*/false);
}

}  // namespace tunec::jit
