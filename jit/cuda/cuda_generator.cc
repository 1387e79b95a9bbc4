#include "jit/cuda/cuda_generator.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/nest/plain_copies.h"
#include "jit/builder/module.h"
#include "jit/cuda/assign_threads.h"
#include "jit/cuda/emit_module.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/ptxas.h"
#include "jit/cuda/write_ptx.h"
#include "runtime/cuda/cubin.h"

namespace tunec {
namespace {

// Changes with the code that a nest gives.
constexpr int kCudaGeneratorVersion = 3;

Result<const CudaArch*> ArchOf(const Target& target) {
  const CudaArch* arch = target.device ? FindCudaArch(target.device->name) : nullptr;
  if (arch != nullptr) return arch;
  return Fail(ErrorCode::kDevice, "no code is generated for {}",
              target.device ? target.device->name : target.Kind());
}

// The kernels, and the back end that they are for.
struct Emitted {
  std::shared_ptr<llvm::TargetMachine> machine;
  jit::CudaModule module;
};

Result<Emitted> Emit(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(const CudaArch* const arch, ArchOf(target));
  Emitted emitted;
  TUNEC_ASSIGN(emitted.machine, jit::MakeNvptxMachine(*arch));
  TUNEC_ASSIGN(emitted.module, jit::EmitCudaModule(nest, *emitted.machine));
  return emitted;
}

// What a driver would refuse at run time is refused here.
Status CheckLimits(const PhaseLaunch& launch, const Accelerator& device) {
  constexpr int64_t kMostThreadsAlongZ = 64;
  if (launch.block[2] > kMostThreadsAlongZ) {
    return Fail(ErrorCode::kResourceLimit, "{} has {} threads a block along z, at most {}",
                launch.symbol, launch.block[2], kMostThreadsAlongZ);
  }
  if (launch.shared_bytes > device.shared_bytes) {
    return Fail(ErrorCode::kResourceLimit, "{} shares {} bytes in a block, {} has {}",
                launch.symbol, launch.shared_bytes, device.name, device.shared_bytes);
  }
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  if (launch.Blocks() / launch.waves > kMostBlocks) {
    return Fail(ErrorCode::kResourceLimit, "{} has {} blocks, at most {}", launch.symbol,
                launch.Blocks() / launch.waves, kMostBlocks);
  }
  return {};
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
  TUNEC_ASSIGN(KernelImage image,
               CompileEmulated(nest, checked ? EmulationMode::kChecked : EmulationMode::kPlain));
  for (const PhaseLaunch& launch : image.phases) TUNEC_RETURN_IF_ERROR(CheckLimits(launch, device));
  return image;
}

class CudaGenerator : public CodeGenerator {
 public:
  std::string_view Name() const override { return kCudaKind; }

  std::string Version() const override {
    const Result<Ptxas> ptxas = FindPtxas();
    return fmt::format("tunec-cuda {}, LLVM {}, ptxas {}", kCudaGeneratorVersion,
                       LLVM_VERSION_STRING, ptxas ? ptxas->version : "not found");
  }

  LoopNest MapThreads(const LoopNest& nest) const override {
    return AssignThreads(PlainCopies(nest));
  }

  Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const override {
    if (IsEmulated(*target.device)) return Emulated(nest, *target.device);
    TUNEC_ASSIGN(const Ptxas ptxas, FindPtxas());
    TUNEC_ASSIGN(Emitted emitted, Emit(nest, target));
    for (const PhaseLaunch& launch : emitted.module.phases)
      TUNEC_RETURN_IF_ERROR(CheckLimits(launch, *target.device));
    TUNEC_ASSIGN(const std::string ptx,
                 jit::WritePtx(emitted.module.builder->module(), *emitted.machine));
    TUNEC_ASSIGN(Cubin cubin, Assemble(ptxas, ptx, target.device->name));
    TakeUses(cubin, emitted.module.phases);
    return KernelImage{.format = std::string(kCubinFormat),
                       .bytes = std::move(cubin.bytes),
                       .phases = std::move(emitted.module.phases),
                       .workspace_bytes = PlanStorage(nest).workspace_bytes};
  }

  Result<std::string> Show(const LoopNest& nest, const Target& target,
                           CodeText text) const override {
    TUNEC_ASSIGN(Emitted emitted, Emit(nest, target));
    llvm::Module& module = emitted.module.builder->module();
    if (text == CodeText::kAssembly) return jit::WritePtx(module, *emitted.machine);
    return jit::PrintModule(module);
  }
};

}  // namespace

std::shared_ptr<const CodeGenerator> MakeCudaGenerator() {
  return std::make_shared<CudaGenerator>();
}

}  // namespace tunec
