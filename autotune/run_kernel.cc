#include "autotune/run_kernel.h"

#include <cstring>
#include <utility>

#include "autotune/arguments.h"
#include "jit/compile.h"
#include "jit/detect_cpu.h"
#include "jit/load.h"
#include "support/check.h"

namespace tunec {
namespace {

struct Call {
  PhaseFunction function = nullptr;
  int64_t first = 0;  // task of this wave
  void* const* arguments = nullptr;
  void* workspace = nullptr;
  std::byte* scratch = nullptr;  // of thread 0
  size_t scratch_stride = 0;
};

void RunTasks(void* context, int64_t begin, int64_t end, int thread) {
  const Call& call = *static_cast<const Call*>(context);
  std::byte* scratch = call.scratch + call.scratch_stride * thread;
  for (int64_t task = begin; task < end; ++task) {
    call.function(call.arguments, call.workspace, scratch, call.first + task);
  }
}

}  // namespace

Result<KernelRun> KernelRun::Make(Kernel kernel, int threads) {
  KernelRun run;
  // Threads must not share a cache line, nor a page: the next-line prefetcher would make them.
  constexpr size_t kPage = 4096;
  run.scratch_stride_ = (static_cast<size_t>(kernel.scratch_bytes) + kPage - 1) / kPage * kPage;
  TUNEC_ASSIGN(run.workspace_, Buffer::Allocate(kernel.workspace_bytes));
  TUNEC_ASSIGN(run.scratch_, Buffer::Allocate(run.scratch_stride_ * threads));
  run.kernel_ = std::move(kernel);
  return run;
}

void KernelRun::Poison() {
  if (workspace_.size() > 0) std::memset(workspace_.data(), 0xff, workspace_.size());
  if (scratch_.size() > 0) std::memset(scratch_.data(), 0xff, scratch_.size());
}

void KernelRun::Run(std::span<void* const> arguments, ThreadPool& pool) {
  std::vector<Call> calls;
  std::vector<ParallelPhase> phases;
  size_t waves = 0;
  for (const KernelPhase& phase : kernel_.phases) waves += phase.waves;
  calls.reserve(waves);  // phases hold addresses of its elements
  for (const KernelPhase& phase : kernel_.phases) {
    const int64_t tasks = phase.tasks / phase.waves;
    for (int64_t first = 0; first < phase.tasks; first += tasks) {
      calls.push_back({phase.function, first, arguments.data(), workspace_.data(), scratch_.data(),
                       scratch_stride_});
      phases.push_back({RunTasks, &calls.back(), tasks});
    }
  }
  pool.RunPhases(phases);
}

Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(target));
  TUNEC_ASSIGN(const ObjectCode object, CompileObject(nest, target));
  TUNEC_ASSIGN(Kernel kernel, LoadKernel(object));
  TUNEC_ASSIGN(KernelRun run, KernelRun::Make(std::move(kernel), pool.threads()));
  std::vector<Buffer> storage;
  std::vector<void*> addresses;
  size_t next_argument = 0;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(static_cast<size_t>(StorageElements(tensor)) *
                                                 SizeOf(tensor.type)));
    if (tensor.role != TensorRole::kOutput) {
      TUNEC_CHECK(next_argument < arguments.size(), "nest {} lacks arguments", nest.name);
      ToStorage(tensor, arguments[next_argument++], buffer.data());
    }
    addresses.push_back(buffer.data());
    storage.push_back(std::move(buffer));
  }
  run.Run(addresses, pool);
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
