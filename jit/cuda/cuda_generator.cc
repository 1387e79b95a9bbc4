#include "jit/cuda/cuda_generator.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/builder/module.h"
#include "jit/cuda/assemble_without_spills.h"
#include "jit/cuda/assembly_memo.h"
#include "jit/cuda/cuda_stages.h"
#include "jit/cuda/emit_module.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/limits.h"
#include "jit/cuda/nvdisasm.h"
#include "jit/cuda/ptxas.h"
#include "jit/cuda/write_ptx.h"
#include "runtime/cuda/cubin.h"

namespace tunec {
namespace {

// The version of the generated code. Increase it with each change of the code for a nest.
constexpr int kCudaGeneratorVersion = 9;

Result<const CudaArch*> ArchOf(const Target& target) {
  const CudaArch* arch = target.device ? FindCudaArch(target.device->name) : nullptr;
  if (arch != nullptr) return arch;
  return Fail(ErrorCode::kDevice, "no code is generated for {}",
              target.device ? target.device->name : target.Kind());
}

// The module with a nest's kernels, and the LLVM back end that compiles the module.
struct EmittedModule {
  std::shared_ptr<llvm::TargetMachine> machine;
  jit::CudaModule module;
};

Result<EmittedModule> Emit(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(const CudaArch* const arch, ArchOf(target));
  EmittedModule emitted;
  TUNEC_ASSIGN(emitted.machine, jit::MakeNvptxMachine(*arch));
  TUNEC_ASSIGN(emitted.module, jit::EmitCudaModule(nest, *emitted.machine));
  return emitted;
}

void TakeUses(const Cubin& cubin, std::vector<PhaseLaunch>& phases) {
  for (PhaseLaunch& launch : phases) {
    const auto use = std::ranges::find(cubin.uses, launch.symbol, &PtxasUse::symbol);
    if (use == cubin.uses.end()) continue;
    launch.registers = use->registers;
    launch.spilled_bytes = use->spilled_bytes;
    launch.local_bytes = use->stack_bytes;
  }
}

Result<KernelImage> Emulated(const LoopNest& nest, const Accelerator& device) {
  const bool checked = device.features.contains(std::string(kChecked));
  return CompileEmulated(nest, checked ? EmulationMode::kChecked : EmulationMode::kPlain);
}

Result<KernelImage> AssembleKernels(const LoopNest& nest, const Target& target,
                                    AssemblyMemo& assembled) {
  TUNEC_ASSIGN(const Ptxas ptxas, FindPtxas());
  TUNEC_ASSIGN(EmittedModule emitted, Emit(nest, target));
  TUNEC_ASSIGN(const std::string ptx,
               jit::WritePtx(emitted.module.builder->module(), *emitted.machine));
  TUNEC_ASSIGN(Cubin cubin, assembled.Assemble(ptxas, ptx, target.device->name));
  TUNEC_RETURN_IF_ERROR(CheckPtxasWarnings(cubin));
  TakeUses(cubin, emitted.module.phases);
  return KernelImage{.format = std::string(kCubinFormat),
                     .bytes = std::move(cubin.bytes),
                     .phases = std::move(emitted.module.phases),
                     .workspace_bytes = PlanStorage(nest).workspace_bytes,
                     .warnings = std::move(cubin.warnings)};
}

// Returns the SASS of the kernels. For an emulated GPU, this is the code of the real GPU.
Result<std::string> ShowMachineCode(const LoopNest& nest, const Target& target,
                                    AssemblyMemo& assembled) {
  TUNEC_ASSIGN(const Nvdisasm nvdisasm, FindNvdisasm());
  TUNEC_ASSIGN(const KernelImage image, AssembleKernels(nest, target, assembled));
  return Disassemble(nvdisasm, image.bytes);
}

class CudaGenerator : public CodeGenerator {
 public:
  std::string_view Name() const override { return kCudaKind; }

  std::string Version() const override {
    const Result<Ptxas> ptxas = FindPtxas();
    return fmt::format("tunec-cuda {}, LLVM {}, ptxas {}", kCudaGeneratorVersion,
                       LLVM_VERSION_STRING, ptxas ? ptxas->version : "not found");
  }

  std::span<const NestStage> Stages() const override { return CudaStages(); }

  Status CheckFits(const LoopNest& nest, const Target& target) const override {
    TUNEC_RETURN_IF_ERROR(CheckLaunchLimits(nest, *target.device));
    return CheckRegisters(nest, *target.device);
  }

  Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const override {
    // Limits that a driver would check at run time are checked here.
    TUNEC_RETURN_IF_ERROR(CheckLaunchLimits(nest, *target.device));
    if (IsEmulated(*target.device)) return Emulated(nest, *target.device);
    return AssembleKernels(nest, target, assembled_);
  }

  Result<std::string> Show(const LoopNest& nest, const Target& target,
                           CodeText text) const override {
    if (text == CodeText::kMachineCode) return ShowMachineCode(nest, target, assembled_);
    TUNEC_ASSIGN(EmittedModule emitted, Emit(nest, target));
    llvm::Module& module = emitted.module.builder->module();
    if (text == CodeText::kAssembly) return jit::WritePtx(module, *emitted.machine);
    return jit::PrintModule(module);
  }

 private:
  // The cache only saves time: results do not depend on earlier calls.
  mutable AssemblyMemo assembled_{
      [](const Ptxas& ptxas, std::string_view ptx, std::string_view arch) {
        return AssembleWithoutSpills(ptxas, ptx, arch);
      }};
};

}  // namespace

std::shared_ptr<const CodeGenerator> MakeCudaGenerator() {
  return std::make_shared<CudaGenerator>();
}

}  // namespace tunec
