#include "jit/cuda/emit_module.h"

#include "ir/nest/plain_copies.h"
#include "jit/builder/module.h"
#include "jit/cuda/assign_threads.h"
#include "jit/cuda/cuda_machine.h"
#include "jit/cuda/cut_private_dimensions.h"
#include "jit/cuda/emit_copies.h"
#include "jit/cuda/privatize_threads.h"
#include "jit/emit/nest.h"

namespace tunec::jit {

LoopNest MapCudaThreads(const LoopNest& nest) {
  return AssignThreads(ElementCopies(PlainCopies(nest, TokensOfCpAsync(nest))));
}

Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine,
                                  AccessNames names) {
  TUNEC_ASSIGN(const LoopNest own, PrivatizeThreads(CutPrivateDimensions(nest)));
  CudaModule emitted{.builder = std::make_unique<Builder>(nest.name)};
  SetMachine(emitted.builder->module(), machine);
  CudaMachine gpu(own, names);
  TUNEC_ASSIGN(emitted.phases, EmitNest(own, gpu, *emitted.builder));
  TUNEC_RETURN_IF_ERROR(VerifyModule(emitted.builder->module(), "the emitter"));
  return emitted;
}

}  // namespace tunec::jit
