#include "kernel/run_once.h"

#include <utility>

#include "ir/array_storage.h"
#include "jit/detect_cpu.h"
#include "jit/load.h"
#include "kernel/compile_kernel.h"
#include "runtime/buffer.h"
#include "runtime/kernel_run.h"
#include "support/check.h"

namespace tunec {

Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(target));
  TUNEC_ASSIGN(const ObjectCode object, EmitObject(nest, target));
  std::vector<Buffer> storage;
  std::vector<void*> addresses;
  size_t next_argument = 0;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(static_cast<size_t>(StorageBytes(tensor))));
    if (tensor.role != TensorRole::kOutput) {
      TUNEC_CHECK(next_argument < arguments.size(), "nest {} lacks arguments", nest.name);
      ToStorage(tensor, arguments[next_argument++], buffer.data());
    }
    addresses.push_back(buffer.data());
    storage.push_back(std::move(buffer));
  }
  TUNEC_ASSIGN(Kernel kernel, LoadKernel(object));
  TUNEC_ASSIGN(KernelRun run, KernelRun::Make(std::move(kernel), addresses, pool.threads()));
  run.Run(pool);
  std::vector<Array> outputs;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Tensor& tensor = nest.tensors[Arguments(nest)[i]];
    if (tensor.role == TensorRole::kOutput) {
      outputs.push_back(FromStorage(tensor, storage[i].data()));
    }
  }
  return outputs;
}

}  // namespace tunec
