// An assembled plan, to be written down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/assemble/assemble.h"
#include "jit/cpu/link_image.h"
#include "runtime/bundle/code_table.h"
#include "runtime/bundle/stored_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// A plan but for where its constants lie, which the writer says.
struct UnplacedPlan {
  bundle::StoredPlan plan;
  std::vector<std::shared_ptr<const void>> constants;  // of each of the plan's; null: none yet
};

/// Runs the prologue where all of it is loaded, and drops the constants that are no longer named.
Status PackWeights(AssembledPlan& assembled, ThreadPool& pool);

/// All of a plan but its steps.
UnplacedPlan StoreData(const ExecutablePlan& plan);

/// What a step's kernel is in the bundle.
using NumberOf = std::function<Result<int64_t>(const Step& step, const StepCode& code)>;
Result<std::vector<bundle::StoredStep>> WriteSteps(const std::vector<Step>& steps,
                                                   const std::vector<StepCode>& codes,
                                                   const NumberOf& number_of);

/// The kernels of the host; their code goes into one image, each object once.
class HostCodeWriter {
 public:
  Result<int64_t> NumberOf(const Step& step, const StepCode& code);
  std::vector<bundle::KernelContract> TakeKernels() { return std::move(kernels_); }
  const std::string& image() const { return image_.bytes(); }

 private:
  Result<bundle::KernelContract> ContractOf(const KernelImage& image);

  CodeImage image_;
  std::map<std::string, FunctionOffsets> linked_;  // by the object's bytes
  std::vector<bundle::KernelContract> kernels_;
};

}  // namespace tunec
