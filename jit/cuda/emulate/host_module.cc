#include "jit/cuda/emulate/host_module.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <cstddef>
#include <string>
#include <vector>

#include "jit/builder/module.h"
#include "jit/cuda/cuda_machine.h"
#include "jit/cuda/emulate/cp_async.h"
#include "jit/cuda/emulate/emulated_thread.h"
#include "jit/cuda/emulate/instrument.h"
#include "jit/cuda/emulate/warp_calls.h"

namespace tunec::jit {
namespace {

using Site = llvm::IRBuilder<>;

llvm::Value* Field(Site& site, llvm::Value* thread, size_t offset, llvm::Type* type) {
  llvm::Value* address =
      site.CreateConstInBoundsGEP1_64(site.getInt8Ty(), thread, static_cast<uint64_t>(offset));
  return site.CreateLoad(type, address);
}

// Returns the name of the function for one thread.
std::string ThreadName(const PhaseLaunch& launch) { return launch.symbol + ".thread"; }

// The conversion of one kernel to two host functions.
class HostFunction {
 public:
  HostFunction(llvm::Function& kernel, const PhaseLaunch& launch, EmulationMode mode)
      : kernel_(kernel), launch_(launch), mode_(mode), context_(kernel.getContext()) {}

  Status Make() {
    MakeFunction();
    std::vector<llvm::IntrinsicInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*function_))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
    for (llvm::IntrinsicInst* call : calls) TUNEC_RETURN_IF_ERROR(Replace(*call));
    MakePhase();
    return {};
  }

 private:
  llvm::Type* Pointer() { return llvm::PointerType::get(context_, 0); }
  llvm::Type* Word() { return llvm::Type::getInt64Ty(context_); }
  llvm::Type* Nothing() { return llvm::Type::getVoidTy(context_); }

  // Creates a function with three pointers and a number, the signature of both host functions.
  llvm::Function* NewFunction(const std::string& name, llvm::Function::LinkageTypes linkage) {
    auto* type = llvm::FunctionType::get(Nothing(), {Pointer(), Pointer(), Pointer(), Word()},
                                         /*isVarArg=*/false);
    auto* function = llvm::Function::Create(type, linkage, name, module_);
    function->setDoesNotThrow();
    function->addFnAttr("no-builtins");
    return function;
  }

  // Moves the kernel's body into a function with the signature of NewFunction. The function first
  // loads the kernel's tensor pointers from an array. The workspace and the first task are
  // arguments.
  void MakeFunction() {
    kernel_.setName(launch_.symbol + ".kernel");
    function_ = NewFunction(ThreadName(launch_), llvm::Function::InternalLinkage);
    function_->splice(function_->begin(), &kernel_);
    thread_ = function_->getArg(2);
    Site site(&*function_->getEntryBlock().getFirstInsertionPt());
    const unsigned last = kernel_.arg_size() - 1;
    for (unsigned number = 0; number + 1 < last; ++number) {
      llvm::Value* address =
          site.CreateConstInBoundsGEP1_64(Pointer(), function_->getArg(0), number);
      kernel_.getArg(number)->replaceAllUsesWith(site.CreateLoad(Pointer(), address));
    }
    kernel_.getArg(last - 1)->replaceAllUsesWith(function_->getArg(1));
    kernel_.getArg(last)->replaceAllUsesWith(function_->getArg(3));
    kernel_.eraseFromParent();
  }

  Status Replace(llvm::IntrinsicInst& call) {
    Site site(&call);
    constexpr size_t kNumber = offsetof(EmulatedThread, number);
    const auto read = [&](size_t offset) {
      call.replaceAllUsesWith(Field(site, thread_, offset, site.getInt32Ty()));
      call.eraseFromParent();
      return Status();
    };
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
        return read(kNumber);
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y:
        return read(kNumber + sizeof(int32_t));
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z:
        return read(kNumber + 2 * sizeof(int32_t));
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        return read(offsetof(EmulatedThread, block));
      case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all: {
        auto* type =
            llvm::FunctionType::get(site.getVoidTy(), {Pointer(), site.getInt32Ty()}, false);
        llvm::Value* barrier = Field(site, thread_, offsetof(EmulatedThread, barrier), Pointer());
        site.CreateCall(type, barrier, {thread_, site.getInt32(++barriers_)});
        call.eraseFromParent();
        return {};
      }
      default:
        break;
    }
    if (ReplaceWarpCall(call, thread_, warp_calls_ + 1)) {
      ++warp_calls_;
      return {};
    }
    if (const auto copy = CpAsyncOf(call)) {
      mode_ == EmulationMode::kPlain ? CarryOutAtOnce(*copy) : CarryOutLate(*copy, thread_);
      return {};
    }
    const llvm::StringRef name = call.getCalledFunction()->getName();
    if (!name.starts_with("llvm.nvvm.")) return {};
    return Fail(ErrorCode::kInternal, "{} has no emulation", name.str());
  }

  // Returns the address of a constant EmulatedLaunch with the properties of the kernel's launch.
  llvm::Constant* LaunchConstant() {
    const auto constant = [&](llvm::Constant* value) -> llvm::Constant* {
      return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                      llvm::GlobalValue::PrivateLinkage, value);
    };
    std::vector<llvm::Constant*> fields;
    for (const int64_t extent : launch_.block)
      fields.push_back(llvm::ConstantInt::get(Word(), static_cast<uint64_t>(extent)));
    for (const int64_t number : {launch_.Blocks() / launch_.waves, launch_.shared_bytes,
                                 int64_t{mode_ == EmulationMode::kChecked}})
      fields.push_back(llvm::ConstantInt::get(Word(), static_cast<uint64_t>(number)));
    fields.push_back(constant(llvm::ConstantDataArray::getString(context_, launch_.symbol)));
    return constant(llvm::ConstantStruct::getAnon(fields));
  }

  // Creates the PhaseFunction, whose tasks are blocks. The block number already includes the wave,
  // so the EmulatedFunction always has 0 as its first task.
  void MakePhase() {
    llvm::Function* phase = NewFunction(launch_.symbol, llvm::Function::ExternalLinkage);
    auto* type = llvm::FunctionType::get(
        Nothing(), {Pointer(), Pointer(), Pointer(), Pointer(), Word()}, /*isVarArg=*/false);
    Site site(llvm::BasicBlock::Create(context_, "entry", phase));
    site.CreateCall(
        module_.getOrInsertFunction(kRunBlockName, type),
        {LaunchConstant(), function_, phase->getArg(0), phase->getArg(1), phase->getArg(3)});
    site.CreateRetVoid();
  }

  llvm::Function& kernel_;
  const PhaseLaunch& launch_;
  const EmulationMode mode_;
  llvm::LLVMContext& context_;
  llvm::Module& module_ = *kernel_.getParent();
  llvm::Function* function_ = nullptr;
  llvm::Value* thread_ = nullptr;
  int32_t barriers_ = 0;  // number of barriers so far
  int32_t warp_calls_ = 0;
};

// Replaces the global variable of shared memory by the pointer in the EmulatedThread.
void ReplaceShared(llvm::Module& module) {
  llvm::GlobalVariable* shared = module.getNamedGlobal(kSharedName);
  if (shared == nullptr) return;
  llvm::convertUsersOfConstantsToInstructions({shared});
  for (llvm::User* user : llvm::make_early_inc_range(shared->users())) {
    auto& instruction = *llvm::cast<llvm::Instruction>(user);
    Site site(&instruction);
    llvm::Value* address = Field(site, instruction.getFunction()->getArg(2),
                                 offsetof(EmulatedThread, shared), site.getPtrTy());
    if (llvm::isa<llvm::AddrSpaceCastInst>(instruction)) {
      instruction.replaceAllUsesWith(address);
      instruction.eraseFromParent();
    } else {
      instruction.replaceUsesOfWith(shared, site.CreateAddrSpaceCast(address, shared->getType()));
    }
  }
  shared->eraseFromParent();
}

}  // namespace

Status MakeHostModule(CudaModule& module, EmulationMode mode) {
  llvm::Module& llvm = module.builder->module();
  for (const PhaseLaunch& launch : module.phases)
    TUNEC_RETURN_IF_ERROR(HostFunction(*llvm.getFunction(launch.symbol), launch, mode).Make());
  ReplaceShared(llvm);
  if (mode == EmulationMode::kChecked) {
    for (const PhaseLaunch& launch : module.phases)
      InstrumentAccesses(*llvm.getFunction(ThreadName(launch)));
  }
  return VerifyModule(llvm, "the emulation");
}

}  // namespace tunec::jit
