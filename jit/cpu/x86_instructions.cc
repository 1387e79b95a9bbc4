#include "jit/cpu/x86_instructions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace tunec::jit {
namespace {

/// Calls an intrinsic whose operands are of any vector type of the same size.
IrValue CallWithBits(Builder& b, llvm::Intrinsic::ID id, std::vector<IrValue> operands) {
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&b.module(), id);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] =
        b.instructions().CreateBitCast(operands[i], callee->getFunctionType()->getParamType(i));
  }
  return b.instructions().CreateCall(callee, operands);
}

IrValue Register(Builder& b, int tile) { return b.instructions().getInt8(tile); }

}  // namespace

IrValue X86DotBFloat16(Builder& b, IrValue c, IrValue left, IrValue right) {
  return CallWithBits(b, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {c, left, right});
}
IrValue X86DotUnsignedSigned(Builder& b, IrValue c, IrValue left, IrValue right) {
  return CallWithBits(b, llvm::Intrinsic::x86_avx512_vpdpbusd_512, {c, left, right});
}

// LLVM cuts longer vectors into such that the instruction has.
IrValue X86RoundToBFloat16(Builder& b, IrValue value) {
  llvm::IRBuilderBase& ir = b.instructions();
  const auto lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  const auto vector = [&](llvm::Type* of) { return llvm::FixedVectorType::get(of, lanes); };
  return ir.CreateBitCast(ir.CreateFPTrunc(value, vector(ir.getBFloatTy())),
                          vector(ir.getInt16Ty()));
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
