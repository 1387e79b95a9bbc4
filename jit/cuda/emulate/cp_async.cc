#include "jit/cuda/emulate/cp_async.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "jit/cuda/emulate/instrument.h"

namespace tunec::jit {
namespace {

using Site = llvm::IRBuilder<>;

// Returns the address as a generic address, since the host has a single address space.
llvm::Value* Generic(Site& site, llvm::Value* address) {
  if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address))
    return cast->getPointerOperand();
  return site.CreateAddrSpaceCast(address, site.getPtrTy());
}

CpAsync CopyOf(llvm::IntrinsicInst& call, int64_t bytes) {
  CpAsync copy{.kind = CpAsync::Kind::kCopy, .call = &call, .bytes = bytes};
  if (call.arg_size() > 2) copy.read_bytes = call.getArgOperand(2);
  return copy;
}

}  // namespace

std::optional<CpAsync> CpAsyncOf(llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4:
    case llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s:
      return CopyOf(call, 4);
    case llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8:
    case llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s:
      return CopyOf(call, 8);
    case llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16:
    case llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s:
      return CopyOf(call, 16);
    case llvm::Intrinsic::nvvm_cp_async_commit_group:
      return CpAsync{.kind = CpAsync::Kind::kCommit, .call = &call};
    case llvm::Intrinsic::nvvm_cp_async_wait_group:
      return CpAsync{.kind = CpAsync::Kind::kWait, .call = &call};
    default:
      return std::nullopt;
  }
}

void CarryOutAtOnce(const CpAsync& copy) {
  Site site(copy.call);
  if (copy.kind == CpAsync::Kind::kCopy) {
    llvm::Value* to = Generic(site, copy.call->getArgOperand(0));
    llvm::Value* from = Generic(site, copy.call->getArgOperand(1));
    const llvm::Align align(static_cast<uint64_t>(copy.bytes));
    auto* type =
        llvm::FixedVectorType::get(site.getInt32Ty(), static_cast<unsigned>(copy.bytes / 4));
    llvm::Value* value = nullptr;
    if (copy.read_bytes == nullptr) {
      value = site.CreateAlignedLoad(type, from, align);
    } else {
      llvm::Value* reads = site.CreateICmpNE(copy.read_bytes, site.getInt32(0));
      llvm::Value* mask = site.CreateVectorSplat(type->getNumElements(), reads);
      value = site.CreateMaskedLoad(type, from, align, mask, llvm::Constant::getNullValue(type));
    }
    site.CreateAlignedStore(value, to, align);
  }
  copy.call->eraseFromParent();
}

void CarryOutLate(const CpAsync& copy, llvm::Value* thread) {
  Site site(copy.call);
  llvm::Module& module = *copy.call->getModule();
  llvm::Type* pointer = site.getPtrTy();
  llvm::Constant* null = llvm::ConstantPointerNull::get(site.getPtrTy());
  const auto call = [&](const char* name, llvm::ArrayRef<llvm::Type*> types,
                        llvm::ArrayRef<llvm::Value*> values) {
    auto* type = llvm::FunctionType::get(site.getVoidTy(), types, /*isVarArg=*/false);
    llvm::FunctionCallee called = module.getOrInsertFunction(name, type);
    llvm::cast<llvm::Function>(called.getCallee())->setDoesNotThrow();
    return site.CreateCall(called, values);
  };
  switch (copy.kind) {
    case CpAsync::Kind::kCopy: {
      llvm::Value* reads = copy.read_bytes;
      if (reads == nullptr) reads = site.getInt32(static_cast<uint32_t>(copy.bytes));
      llvm::CallInst* late =
          call(kCopyName,
               {pointer, pointer, pointer, pointer, pointer, site.getInt64Ty(), site.getInt32Ty(),
                site.getInt32Ty(), pointer},
               {thread, null, Generic(site, copy.call->getArgOperand(0)), null,
                Generic(site, copy.call->getArgOperand(1)),
                site.getInt64(static_cast<uint64_t>(copy.bytes)), reads, site.getInt32(0), null});
      late->copyMetadata(*copy.call);
      break;
    }
    case CpAsync::Kind::kCommit:
      call(kCommitName, {pointer}, {thread});
      break;
    case CpAsync::Kind::kWait:
      call(kWaitName, {pointer, site.getInt32Ty()}, {thread, copy.call->getArgOperand(0)});
      break;
  }
  copy.call->eraseFromParent();
}

}  // namespace tunec::jit
