#include "jit/llvm_target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

#include "jit/cpu_features.h"

namespace tunec::jit {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::string FeatureString(const Target& target) {
  std::string text;
  for (const std::string_view feature : kFeaturesThatMatter) {
    if (!text.empty()) text += ',';
    text += target.Has(std::string(feature)) ? '+' : '-';
    text += feature;
  }
  return text;
}

namespace {

// LLVM warns of an unknown processor, and ends the process at one without 64-bit code.
Status CheckProcessor(const llvm::Target& back_end, const llvm::Triple& triple,
                      const std::string& cpu) {
  const std::unique_ptr<llvm::MCSubtargetInfo> generic(
      back_end.createMCSubtargetInfo(triple, "x86-64", ""));
  if (!generic->isCPUStringValid(cpu)) {
    return Fail(ErrorCode::kInvalidArgument, "unknown cpu '{}', wanted an LLVM processor name",
                cpu);
  }
  const std::unique_ptr<llvm::MCSubtargetInfo> own(back_end.createMCSubtargetInfo(triple, cpu, ""));
  if (own->checkFeatures("+64bit")) return {};
  return Fail(ErrorCode::kDevice, "cpu {} has no 64-bit code, which tunec needs", cpu);
}

}  // namespace

Result<std::shared_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target) {
  InitializeLlvm();
  for (const char* needed : {"avx2", "fma", "f16c"}) {
    if (!target.Has(needed))
      return Fail(ErrorCode::kDevice, "cpu {} has no {}, which tunec needs", target.cpu, needed);
  }
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (found == nullptr) return Fail(ErrorCode::kInternal, "no x86-64 back end: {}", message);
  TUNEC_RETURN_IF_ERROR(CheckProcessor(*found, triple, target.cpu));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // the emitter alone decides what is fused
  options.ExceptionModel = llvm::ExceptionHandling::None;
  std::shared_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, FeatureString(target), options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return Fail(ErrorCode::kInternal, "no target machine for {}", target.cpu);
  return machine;
}

}  // namespace tunec::jit
