#include "jit/cuda/emit_module.h"

#include "jit/builder/module.h"
#include "jit/cuda/cuda_machine.h"
#include "jit/emit/nest.h"

namespace tunec::jit {

Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine,
                                  AccessNames names) {
  CudaModule emitted{.builder = std::make_unique<Builder>(nest.name)};
  SetMachine(emitted.builder->module(), machine);
  CudaMachine gpu(nest, names);
  TUNEC_ASSIGN(emitted.phases, EmitNest(nest, gpu, *emitted.builder));
  TUNEC_RETURN_IF_ERROR(VerifyModule(emitted.builder->module(), "the emitter"));
  return emitted;
}

}  // namespace tunec::jit
