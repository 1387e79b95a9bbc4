#include "jit/cpu/llvm_target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

#include "jit/cpu/cpu_features.h"

namespace tunec::jit {

llvm::Triple HostTriple() { return llvm::Triple("x86_64-unknown-linux-gnu"); }

Result<const llvm::Target*> FindX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(HostTriple(), message);
  if (found == nullptr) return Fail(ErrorCode::kInternal, "no x86-64 back end: {}", message);
  return found;
}

bool IsKnownCpu(const llvm::Target& x86, const std::string& cpu) {
  return MakeSubtarget(x86, "x86-64", "")->isCPUStringValid(cpu);
}

std::shared_ptr<llvm::MCSubtargetInfo> MakeSubtarget(const llvm::Target& x86,
                                                     const std::string& cpu,
                                                     const std::string& features) {
  return std::shared_ptr<llvm::MCSubtargetInfo>(
      x86.createMCSubtargetInfo(HostTriple(), cpu, features));
}

std::string FeatureString(const Host& host) {
  std::string text;
  for (const std::string_view feature : kFeaturesThatMatter) {
    if (!text.empty()) text += ',';
    text += host.Has(std::string(feature)) ? '+' : '-';
    text += feature;
  }
  return text;
}

Status CheckNeededFeatures(const Host& host, ErrorCode code) {
  for (const std::string_view needed : kFeaturesNeeded) {
    if (!host.Has(std::string(needed)))
      return Fail(code, "cpu {} has no {}, which tunec needs", host.cpu, needed);
  }
  return {};
}

namespace {

// Checks a processor before LLVM makes a machine for it. LLVM would warn about an unknown
// processor, and end the process for one without 64-bit code.
Status CheckProcessor(const llvm::Target& x86, const std::string& cpu) {
  if (!IsKnownCpu(x86, cpu)) {
    return Fail(ErrorCode::kInvalidArgument, "unknown cpu '{}', expected an LLVM processor name",
                cpu);
  }
  if (MakeSubtarget(x86, cpu, "")->checkFeatures("+64bit")) return {};
  return Fail(ErrorCode::kDevice, "cpu {} has no 64-bit code, which tunec needs", cpu);
}

Result<std::shared_ptr<llvm::TargetMachine>> MakeTargetMachine(const Host& host,
                                                               llvm::CodeGenOptLevel level) {
  TUNEC_ASSIGN(const llvm::Target* const x86, FindX86());
  TUNEC_RETURN_IF_ERROR(CheckProcessor(*x86, host.cpu));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // only the emitter decides about fusing
  options.ExceptionModel = llvm::ExceptionHandling::None;
  std::shared_ptr<llvm::TargetMachine> machine(
      x86->createTargetMachine(HostTriple(), host.cpu, FeatureString(host), options,
                               llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (machine == nullptr) return Fail(ErrorCode::kInternal, "no target machine for {}", host.cpu);
  return machine;
}

}  // namespace

Result<std::shared_ptr<llvm::TargetMachine>> GetTargetMachine(const Host& host,
                                                              Optimisation optimisation) {
  TUNEC_RETURN_IF_ERROR(CheckNeededFeatures(host, ErrorCode::kDevice));
  // Making a machine and its tables takes longer than the code of a small kernel (measured). The
  // tables depend on the level.
  struct Machine {
    std::string cpu, features;
    std::shared_ptr<llvm::TargetMachine> machine;
  };
  thread_local Machine full, quick;
  Machine& last = optimisation == Optimisation::kFull ? full : quick;
  std::string features = FeatureString(host);
  if (last.machine == nullptr || last.cpu != host.cpu || last.features != features) {
    TUNEC_ASSIGN(auto machine, MakeTargetMachine(host, optimisation == Optimisation::kFull
                                                           ? llvm::CodeGenOptLevel::Default
                                                           : llvm::CodeGenOptLevel::None));
    last = {host.cpu, std::move(features), std::move(machine)};
  }
  return last.machine;
}

}  // namespace tunec::jit
