#include "jit/cpu/x86_instructions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <numeric>
#include <vector>

namespace tunec::jit {
namespace {

/// Emits a call of an intrinsic. Operands may have any vector type of the expected size.
IrValue CallWithBits(Builder& b, llvm::Intrinsic::ID id, std::vector<IrValue> operands) {
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&b.module(), id);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] =
        b.instructions().CreateBitCast(operands[i], callee->getFunctionType()->getParamType(i));
  }
  return b.instructions().CreateCall(callee, operands);
}

int LanesOfRegister(Element element) { return element == Element::kF32 ? 16 : 8; }

// Returns `count` lanes from `first` on.
IrValue Lanes(Builder& b, IrValue vector, int first, int count) {
  std::vector<int> lanes(static_cast<size_t>(count));
  std::iota(lanes.begin(), lanes.end(), first);
  return b.Shuffle(vector, vector, lanes);
}

// Concatenates vectors of equal length. The number of vectors must be a power of two.
IrValue Joined(Builder& b, std::vector<IrValue> parts) {
  while (parts.size() > 1) {
    std::vector<int> lanes(static_cast<size_t>(2 * b.LanesOf(parts[0])));
    std::iota(lanes.begin(), lanes.end(), 0);
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = b.Shuffle(parts[2 * i], parts[2 * i + 1], lanes);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

IrValue Register(Builder& b, int tile) { return b.instructions().getInt8(tile); }

}  // namespace

IrValue X86DotBFloat16(Builder& b, IrValue c, IrValue left, IrValue right) {
  return CallWithBits(b, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {c, left, right});
}
IrValue X86DotUnsignedSigned(Builder& b, IrValue c, IrValue left, IrValue right) {
  return CallWithBits(b, llvm::Intrinsic::x86_avx512_vpdpbusd_512, {c, left, right});
}

IrValue X86RoundToBFloat16(Builder& b, IrValue value) {
  llvm::IRBuilderBase& ir = b.instructions();
  const auto lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  const auto vector = [&](llvm::Type* of) { return llvm::FixedVectorType::get(of, lanes); };
  // LLVM splits longer vectors into vectors that VCVTNEPS2BF16 supports.
  return ir.CreateBitCast(ir.CreateFPTrunc(value, vector(ir.getBFloatTy())),
                          vector(ir.getInt16Ty()));
}

bool X86ScalesByPower(IrType type) {
  return std::has_single_bit(unsigned(type.lanes)) && type.lanes >= LanesOfRegister(type.element);
}

IrValue X86ScaleByPower(Builder& b, IrValue value, IrValue power) {
  constexpr int kRoundAsUsual = 4;
  const IrType type = b.TypeOf(value);
  const bool single = type.element == Element::kF32;
  const int lanes = LanesOfRegister(type.element);
  const auto intrinsic = single ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                                : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512;
  std::vector<IrValue> parts;
  for (int i = 0; i < type.lanes; i += lanes) {
    const IrValue part = Lanes(b, value, i, lanes);
    const IrValue all = b.Int(single ? Element::kI16 : Element::kI8, -1);
    parts.push_back(b.instructions().CreateIntrinsic(
        intrinsic,
        {part, Lanes(b, power, i, lanes), part, all, b.Int(Element::kI32, kRoundAsUsual)}));
  }
  return Joined(b, std::move(parts));
}

void X86TileConfigure(Builder& b, IrValue configuration) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {configuration});
}
void X86TileRelease(Builder& b) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {});
}
void X86TileLoad(Builder& b, int tile, IrValue pointer, int64_t row_bytes) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64,
                                   {Register(b, tile), pointer, b.I64(row_bytes)});
}
void X86TileStore(Builder& b, int tile, IrValue pointer, int64_t row_bytes) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_tilestored64,
                                   {Register(b, tile), pointer, b.I64(row_bytes)});
}
void X86TileDotBFloat16(Builder& b, int c, int left, int right) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps,
                                   {Register(b, c), Register(b, left), Register(b, right)});
}
void X86TileDotUnsignedSigned(Builder& b, int c, int left, int right) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_tdpbusd,
                                   {Register(b, c), Register(b, left), Register(b, right)});
}

void X86StoreFence(Builder& b) {
  b.instructions().CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
}

}  // namespace tunec::jit
