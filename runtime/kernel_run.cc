#include "runtime/kernel_run.h"

#include <cstring>
#include <utility>

namespace tunec {

Result<KernelRun> KernelRun::Make(Kernel kernel, std::vector<void*> arguments, int threads) {
  KernelRun run;
  const size_t stride = ScratchStride(kernel.scratch_bytes);
  TUNEC_ASSIGN(run.workspace_, Buffer::Allocate(kernel.workspace_bytes));
  TUNEC_ASSIGN(run.scratch_, Buffer::Allocate(stride * threads));
  run.kernel_ = std::move(kernel);
  run.arguments_ = std::move(arguments);
  run.calls_ = std::make_unique<KernelCalls>();
  run.calls_->Reserve(CountParallelPhases(run.kernel_));
  run.phases_ = run.calls_->Add(run.kernel_, {.arguments = run.arguments_.data(),
                                              .workspace = run.workspace_.data(),
                                              .scratch = run.scratch_.data(),
                                              .scratch_stride = stride});
  return run;
}

void KernelRun::Poison() {
  if (workspace_.size() > 0) std::memset(workspace_.data(), 0xff, workspace_.size());
  if (scratch_.size() > 0) std::memset(scratch_.data(), 0xff, scratch_.size());
}

}  // namespace tunec
