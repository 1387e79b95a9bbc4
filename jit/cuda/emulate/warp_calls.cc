#include "jit/cuda/emulate/warp_calls.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "ir/tile_intrinsic.h"
#include "jit/cuda/warp_instructions.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr unsigned kMostRegisters = 16;

// A replacement of one warp intrinsic. All replacements in a function share one array for the
// registers.
class WarpCall {
 public:
  WarpCall(llvm::IntrinsicInst& call, llvm::Value* thread, int32_t site)
      : call_(call), ir_(&call), thread_(thread), site_(site) {
    llvm::BasicBlock& entry = call.getFunction()->getEntryBlock();
    llvm::Type* type = llvm::ArrayType::get(ir_.getInt32Ty(), kMostRegisters);
    registers_ = llvm::dyn_cast<llvm::AllocaInst>(&entry.front());
    if (registers_ != nullptr && registers_->getAllocatedType() == type) return;
    registers_ = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  }

  void Load(const MatrixLoadInstruction& load) {
    auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(call_.getArgOperand(0));
    TUNEC_CHECK(cast != nullptr && cast->getSrcAddressSpace() == 0,
                "an address in shared memory is not a cast of a generic address");
    llvm::Value* address = cast->getPointerOperand();
    auto* row = llvm::FixedVectorType::get(ir_.getInt32Ty(), 4);
    llvm::LoadInst* loaded = ir_.CreateAlignedLoad(row, address, llvm::Align(1));
    loaded->copyMetadata(call_);  // names of the access
    ir_.CreateAlignedStore(loaded, registers_, llvm::Align(4));
    Call(kLoadMatricesName, {thread_, ir_.getInt32(site_), ir_.getInt32(load.matrices),
                             ir_.getInt32(load.transposed ? 1 : 0), address, registers_});
    if (cast->use_empty()) cast->eraseFromParent();
  }

  void Multiply(int32_t tile) {
    TUNEC_CHECK(call_.arg_size() <= kMostRegisters, "a tile of {} registers", call_.arg_size());
    for (unsigned r = 0; r < call_.arg_size(); ++r)
      ir_.CreateAlignedStore(call_.getArgOperand(r), Register(r), llvm::Align(4));
    Call(kTileName, {thread_, ir_.getInt32(site_), ir_.getInt32(tile), registers_});
  }

  // Replaces a shuffle. The operands are the member mask, the value, the distance, and the last
  // lane of a group, which is always 31.
  void Shuffle() {
    ir_.CreateAlignedStore(call_.getArgOperand(1), registers_, llvm::Align(4));
    Call(kShuffleName, {thread_, ir_.getInt32(site_), call_.getArgOperand(0),
                        call_.getArgOperand(2), registers_});
  }

 private:
  llvm::Value* Register(unsigned number) {
    return ir_.CreateConstInBoundsGEP1_32(ir_.getInt32Ty(), registers_, number);
  }

  void Call(const char* name, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*, 8> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), types, /*isVarArg=*/false);
    llvm::FunctionCallee callee = call_.getModule()->getOrInsertFunction(name, type);
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    ir_.CreateCall(callee, arguments);
    TakeResults();
  }

  void TakeResults() {
    call_.replaceAllUsesWith(Results());
    call_.eraseFromParent();
  }

  llvm::Value* Results() {
    auto* type = llvm::dyn_cast<llvm::StructType>(call_.getType());
    if (type == nullptr) return Result(0, call_.getType());
    llvm::Value* results = llvm::PoisonValue::get(type);
    for (unsigned r = 0; r < type->getNumElements(); ++r)
      results = ir_.CreateInsertValue(results, Result(r, type->getElementType(r)), {r});
    return results;
  }

  llvm::Value* Result(unsigned number, llvm::Type* type) {
    return ir_.CreateAlignedLoad(type, Register(number), llvm::Align(4));
  }

  llvm::IntrinsicInst& call_;
  llvm::IRBuilder<> ir_;
  llvm::Value* const thread_;
  const int32_t site_;
  llvm::AllocaInst* registers_ = nullptr;
};

// Replaces cvt.rna.tf32 by instructions that round to ten bits of fraction, to nearest, ties away
// from 0. Infinity and NaN stay as they are.
void ReplaceRounding(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> ir(&call);
  llvm::Value* number = call.getArgOperand(0);
  llvm::Value* bits = ir.CreateBitCast(number, ir.getInt32Ty());
  llvm::Value* rounded =
      ir.CreateAnd(ir.CreateAdd(bits, ir.getInt32(0x1000)), ir.getInt32(0xffffe000U));
  llvm::Value* exponent = ir.CreateAnd(bits, ir.getInt32(0x7f800000));
  llvm::Value* finite = ir.CreateICmpNE(exponent, ir.getInt32(0x7f800000));
  call.replaceAllUsesWith(ir.CreateSelect(finite, rounded, bits));
  call.eraseFromParent();
}

}  // namespace

bool ReplaceWarpCall(llvm::IntrinsicInst& call, llvm::Value* thread, int32_t site) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::nvvm_f2tf32_rna) {
    ReplaceRounding(call);
    return true;
  }
  if (id == llvm::Intrinsic::nvvm_shfl_sync_bfly_i32) {
    WarpCall(call, thread, site).Shuffle();
    return true;
  }
  const auto load =
      std::ranges::find(MatrixLoadInstructions(), unsigned{id}, &MatrixLoadInstruction::id);
  if (load != MatrixLoadInstructions().end()) {
    WarpCall(call, thread, site).Load(*load);
    return true;
  }
  const auto multiply = std::ranges::find(WarpInstructions(), unsigned{id}, &WarpInstruction::id);
  if (multiply == WarpInstructions().end()) return false;
  const auto table = TileIntrinsics();
  const auto entry = std::ranges::find(table, multiply->tile, &TileIntrinsic::name);
  TUNEC_CHECK(entry != table.end(), "no entry {}", multiply->tile);
  WarpCall(call, thread, site).Multiply(static_cast<int32_t>(entry - table.begin()));
  return true;
}

}  // namespace tunec::jit
