#include "jit/cuda/write_ptx.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tunec::jit {
namespace {

llvm::Triple DeviceTriple() { return llvm::Triple("nvptx64-nvidia-cuda"); }

Result<const llvm::Target*> FindNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(DeviceTriple(), message);
  if (found == nullptr) return Fail(ErrorCode::kInternal, "no NVPTX back end: {}", message);
  return found;
}

// Runs the passes of -O2, except the loop unroller and the vectorisers.
void Optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  // The schedule, not LLVM, decides which loops are unrolled or vectorised.
  tuning.LoopUnrolling = false;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

}  // namespace

Result<std::shared_ptr<llvm::TargetMachine>> MakeNvptxMachine(const CudaArch& arch) {
  TUNEC_ASSIGN(const llvm::Target* const nvptx, FindNvptx());
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // only the emitter decides about fusing
  std::shared_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      DeviceTriple(), std::string(arch.name), fmt::format("+ptx{}", arch.ptx_version), options,
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return Fail(ErrorCode::kInternal, "no target machine for {}", arch.name);
  return machine;
}

Result<std::string> WritePtx(llvm::Module& module, llvm::TargetMachine& machine) {
  Optimise(module, machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true))
    return Fail(ErrorCode::kInternal, "LLVM cannot write PTX");
  passes.run(module);
  return std::string(text.data(), text.size());
}

}  // namespace tunec::jit
