// Assembly of kernels into the plan of an executable. The plan has the steps of a run, and the
// storage of their arguments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tuning/tasks.h"
#include "runtime/bundle/code_table.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// A group with its code. Groups with equal workloads share the code.
struct GroupKernel {
  FusionGroup group;
  std::string name;
  /// Names of the group's inputs, then of the outputs, as in the canonical text of the workload.
  std::vector<std::string> argument_names;
  std::map<std::string, Interval> ranges;  // ranges of integer arguments, by these names
  std::shared_ptr<const CompiledKernel> code;
};

/// Returns each group with the kernel of its task, in the order of the groups.
std::vector<GroupKernel> KernelsOfGroups(const FrontReport& front, const ModelTasks& tasks,
                                         const std::vector<BuiltKernel>& kernels);

/// The code of a step, with the requirements of the code on the step's arguments.
struct StepCode {
  const KernelImage* image = nullptr;  // part of a GroupKernel's code; null for a copy
  std::vector<bundle::ArgumentContract> arguments;
};

/// A plan with the code of each step, from which a bundle can be written.
struct AssembledPlan {
  ExecutablePlan plan;
  std::vector<StepCode> preprocessing_code;
  std::vector<StepCode> step_code;
};

/// The use of the assembled code. kRun: the code runs in this process. kStore: the code is written
/// to a file. With kStore, a device's code is not loaded, and the plan then has a rejection. The
/// host's code is loaded if this host can run it.
enum class CodeUse : uint8_t { kRun, kStore };

/// Loads the code and plans the memory. `groups` are in an order that respects data flow. `pool` is
/// the pool on which the executable will run. Kernels of a device run on the plan's device; packing
/// of weights runs on the host. With kRun, if this machine cannot run the target's kernels, nothing
/// is loaded, and the plan has a rejection. Errors: kInvalidArgument for constant indices that are
/// out of range, errors other than kDevice of opening devices, and errors of loading code.
Result<AssembledPlan> Assemble(const FrontReport& front, const std::vector<GroupKernel>& groups,
                               const CompileOptions& options, ThreadPool& pool,
                               CodeUse use = CodeUse::kRun);

}  // namespace tunec
