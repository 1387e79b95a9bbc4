// Instructions on groups and tiles.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "jit/builder_impl.h"

namespace tunec::jit {
namespace {

/// Calls an intrinsic whose operands are of any vector type of the same size.
IrValue CallWithBits(Builder& b, llvm::IRBuilderBase& ir, llvm::Intrinsic::ID id,
                     std::vector<IrValue> operands) {
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&b.module(), id);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = ir.CreateBitCast(operands[i], callee->getFunctionType()->getParamType(i));
  }
  return ir.CreateCall(callee, operands);
}

}  // namespace

IrValue Builder::DotBFloat16(IrValue c, IrValue a, IrValue b) {
  return CallWithBits(*this, impl_->ir, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {c, a, b});
}
IrValue Builder::DotUnsignedSigned(IrValue c, IrValue a, IrValue b) {
  return CallWithBits(*this, impl_->ir, llvm::Intrinsic::x86_avx512_vpdpbusd_512, {c, a, b});
}

void Builder::TileConfigure(IrValue configuration) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {configuration});
}
void Builder::TileRelease() { impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}); }
void Builder::TileLoad(int tile, IrValue pointer, int64_t row_bytes) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64,
                            {impl_->ir.getInt8(tile), pointer, I64(row_bytes)});
}
void Builder::TileStore(int tile, IrValue pointer, int64_t row_bytes) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64,
                            {impl_->ir.getInt8(tile), pointer, I64(row_bytes)});
}
void Builder::TileDotBFloat16(int c, int a, int b) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps,
                            {impl_->ir.getInt8(c), impl_->ir.getInt8(a), impl_->ir.getInt8(b)});
}
void Builder::TileDotUnsignedSigned(int c, int a, int b) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::x86_tdpbusd,
                            {impl_->ir.getInt8(c), impl_->ir.getInt8(a), impl_->ir.getInt8(b)});
}

}  // namespace tunec::jit
