#include "jit/cuda/emulate/emulate.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstring>
#include <utility>
#include <vector>

#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/generate_code.h"
#include "jit/cpu/llvm_target.h"
#include "jit/cpu/load.h"
#include "jit/cuda/emulate/block.h"
#include "jit/cuda/emulate/host_module.h"

namespace tunec {

Result<KernelImage> CompileEmulated(const LoopNest& nest) {
  TUNEC_ASSIGN(auto machine, jit::MakeTargetMachine(DetectCpu(1).host));
  TUNEC_ASSIGN(jit::CudaModule module, jit::EmitCudaModule(nest, *machine));
  TUNEC_RETURN_IF_ERROR(jit::MakeHostModule(module));
  KernelImage image{.format = std::string(kEmulatedFormat),
                    .phases = std::move(module.phases),
                    .workspace_bytes = PlanStorage(nest).workspace_bytes};
  TUNEC_ASSIGN(image.bytes,
               jit::GenerateCode(module.builder->module(), *machine, jit::FileKind::kObject));
  return image;
}

EmulatedKernel::EmulatedKernel(KernelImage image, Kernel kernel)
    : image_(std::move(image)), kernel_(std::move(kernel)) {}

Result<EmulatedKernel> EmulatedKernel::Load(const KernelImage& image) {
  if (image.format != kEmulatedFormat)
    return Fail(ErrorCode::kParse, "code of format '{}' cannot be emulated", image.format);
  KernelImage of_host = image;
  of_host.format = kElfFormat;
  TUNEC_ASSIGN(Kernel kernel, LoadKernel(of_host));
  of_host.bytes.clear();
  return EmulatedKernel(std::move(of_host), std::move(kernel));
}

Status EmulatedKernel::Run(void* const* arguments, void* workspace) const {
  for (size_t phase = 0; phase < image_.phases.size(); ++phase) {
    const PhaseLaunch& launch = image_.phases[phase];
    const PhaseFunction function = kernel_.phases[phase].function;
    EmulatedBlock block(launch);
    const int64_t blocks = launch.Blocks() / launch.waves;
    for (int64_t first = 0; first < launch.Blocks(); first += blocks) {
      for (int64_t number = 0; number < blocks; ++number) {
        TUNEC_RETURN_IF_ERROR(block.Run(static_cast<int32_t>(number), [&](EmulatedThread* thread) {
          function(arguments, workspace, thread, first);
        }));
      }
    }
  }
  return {};
}

}  // namespace tunec
