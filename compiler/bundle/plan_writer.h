// Conversion of an assembled plan and of the host's kernels to the form stored in a bundle.
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

/// A plan without the file offsets of its constants. The writer of the bundle assigns the offsets.
struct PlanWithData {
  bundle::StoredPlan plan;
  /// Data of each of the plan's constants; null: the data is only known at load time.
  std::vector<std::shared_ptr<const void>> constants;
};

/// Packs the weights by running the preprocessing, if all its kernels are loaded. Then removes the
/// constants that no step of the plan uses.
Status PackWeights(AssembledPlan& assembled, ThreadPool& pool);

/// Converts the tensors, index checks, constants and numbers of a plan. The result has no steps.
PlanWithData StoreData(const ExecutablePlan& plan);

/// A function that returns the number of a step's kernel in a table of the variant.
using NumberOf = std::function<Result<int64_t>(const Step& step, const StepCode& code)>;
Result<std::vector<bundle::StoredStep>> WriteSteps(const std::vector<Step>& steps,
                                                   const std::vector<StepCode>& codes,
                                                   const NumberOf& number_of);

/// A writer that links the code of the host's kernels into one image, and lists the kernels. Equal
/// objects are linked once.
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
