#include "runtime/kernel_run.h"

#include <cstring>
#include <utility>

namespace tunec {

Result<KernelRun> KernelRun::Make(Kernel kernel, std::vector<void*> arguments, int threads,
                                  void* workspace) {
  KernelRun run;
  const size_t stride = ScratchStride(kernel.scratch_bytes);
  if (workspace == nullptr) {
    TUNEC_ASSIGN(run.own_workspace_, Buffer::Allocate(kernel.workspace_bytes));
    workspace = run.own_workspace_.data();
  }
  run.workspace_ = workspace;
  TUNEC_ASSIGN(run.scratch_, Buffer::Allocate(stride * threads));
  run.kernel_ = std::move(kernel);
  run.arguments_ = std::move(arguments);
  run.calls_ = std::make_unique<KernelCalls>();
  run.calls_->Reserve(CountParallelPhases(run.kernel_));
  run.phases_ = run.calls_->Add(run.kernel_, {.arguments = run.arguments_.data(),
                                              .workspace = workspace,
                                              .scratch = run.scratch_.data(),
                                              .scratch_stride = stride});
  return run;
}

void KernelRun::Poison() {
  if (kernel_.workspace_bytes > 0) std::memset(workspace_, 0xff, kernel_.workspace_bytes);
  if (scratch_.size() > 0) std::memset(scratch_.data(), 0xff, scratch_.size());
}

}  // namespace tunec
