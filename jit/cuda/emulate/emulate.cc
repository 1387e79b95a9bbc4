#include "jit/cuda/emulate/emulate.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <string>
#include <utility>

#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/generate_code.h"
#include "jit/cpu/llvm_target.h"
#include "jit/cpu/load.h"
#include "jit/cuda/emulate/block.h"
#include "jit/cuda/emulate/checked_block.h"
#include "jit/cuda/emulate/host_module.h"
#include "jit/cuda/emulate/instrument.h"
#include "jit/cuda/emulate/regions.h"
#include "jit/cuda/emulate/warp_calls.h"
#include "jit/cuda/emulate/warp_operation.h"
#include "runtime/host_device.h"

namespace tunec {
namespace {

// The owner of memory of the emulated device. The memory is registered for checked kernels while
// this object exists.
class KnownMemory {
 public:
  KnownMemory(std::shared_ptr<void> owner, const void* address, size_t bytes)
      : owner_(std::move(owner)),
        region_(address, static_cast<int64_t>(bytes), "memory of the device") {}

 private:
  const std::shared_ptr<void> owner_;
  const CheckedRegion region_;  // unregistered before the memory can be reused
};

}  // namespace

Result<KernelImage> CompileEmulated(const LoopNest& nest, EmulationMode mode) {
  TUNEC_ASSIGN(auto machine, jit::GetTargetMachine(DetectCpu(1).host, jit::Optimisation::kFull));
  const bool checked = mode == EmulationMode::kChecked;
  TUNEC_ASSIGN(jit::CudaModule module, jit::EmitCudaModule(nest, *machine,
                                                           checked ? jit::AccessNames::kMetadata
                                                                   : jit::AccessNames::kNone));
  TUNEC_RETURN_IF_ERROR(jit::MakeHostModule(module, mode));
  KernelImage image{.format = std::string(kEmulatedFormat),
                    .phases = std::move(module.phases),
                    .workspace_bytes = PlanStorage(nest).workspace_bytes};
  TUNEC_ASSIGN(image.bytes,
               jit::GenerateCode(module.builder->module(), *machine, jit::FileKind::kObject));
  return image;
}

Result<Kernel> LoadEmulated(const KernelImage& image, PerfMap perf_map) {
  if (image.format != kEmulatedFormat)
    return Fail(ErrorCode::kParse, "code of format '{}' cannot be emulated", image.format);
  const std::array imports = {
      ImportedFunction{jit::kRunBlockName, reinterpret_cast<const void*>(&RunEmulatedBlock)},
      ImportedFunction{jit::kAccessName, reinterpret_cast<const void*>(&CheckEmulatedAccess)},
      ImportedFunction{jit::kLoadMatricesName,
                       reinterpret_cast<const void*>(&LoadEmulatedMatrices)},
      ImportedFunction{jit::kTileName, reinterpret_cast<const void*>(&RunEmulatedTile)},
      ImportedFunction{jit::kShuffleName, reinterpret_cast<const void*>(&ShuffleEmulated)},
      ImportedFunction{jit::kCopyName, reinterpret_cast<const void*>(&BeginEmulatedCopy)},
      ImportedFunction{jit::kCommitName, reinterpret_cast<const void*>(&CommitEmulatedCopies)},
      ImportedFunction{jit::kWaitName, reinterpret_cast<const void*>(&WaitForEmulatedCopies)}};
  return LoadObject(image, imports, perf_map);
}

std::unique_ptr<Device> MakeEmulatedDevice(ThreadPool& pool, PerfMap perf_map) {
  return MakeHostDevice(
      pool, [perf_map](const KernelImage& image) { return LoadEmulated(image, perf_map); },
      [](std::shared_ptr<void> owner, const void* address, size_t bytes) -> std::shared_ptr<void> {
        return std::make_shared<KnownMemory>(std::move(owner), address, bytes);
      });
}

}  // namespace tunec
