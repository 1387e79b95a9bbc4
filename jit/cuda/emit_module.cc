#include "jit/cuda/emit_module.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "jit/cuda/cuda_machine.h"
#include "jit/cuda/privatize_threads.h"
#include "jit/emit/nest.h"

namespace tunec::jit {

Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine) {
  TUNEC_ASSIGN(const LoopNest own, PrivatizeThreads(nest));
  CudaModule emitted{.builder = std::make_unique<Builder>(nest.name)};
  llvm::Module& module = emitted.builder->module();
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  CudaMachine gpu(own);
  TUNEC_ASSIGN(emitted.phases, EmitNest(own, gpu, *emitted.builder));
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream))
    return Fail(ErrorCode::kInternal, "the emitter wrote invalid LLVM IR: {}", message);
  return emitted;
}

}  // namespace tunec::jit
