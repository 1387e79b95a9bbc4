// The executable of a graph whose groups have kernels: where every value lies, and which
// step reads and writes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tasks.h"
#include "runtime/bundle/code_table.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// A group with its code; groups of equal workloads share it.
struct GroupKernel {
  FusionGroup group;
  std::string name;
  std::vector<std::string> argument_names;  // canonical, of the group's inputs, then its outputs
  std::map<std::string, Interval> ranges;   // of arguments whose values lie in them, by these names
  std::shared_ptr<const CompiledKernel> code;
};

/// Each group with the kernel of its task, in the order of the groups.
std::vector<GroupKernel> KernelsOfGroups(const FrontReport& front, const Tasks& tasks,
                                         const std::vector<BuiltKernel>& kernels);

/// The code of a step, and what it asks of the step's arguments.
struct StepCode {
  const KernelImage* image = nullptr;  // of a GroupKernel's code; null for a copy
  std::vector<bundle::ArgumentContract> arguments;
};

/// The plan, and for each of its steps the code that was loaded for it, for who writes it down.
struct AssembledPlan {
  ExecutablePlan plan;
  std::vector<StepCode> prologue_code;
  std::vector<StepCode> step_code;
};

/// kStore: the code is written down. That of a device is not loaded, so none has to be there, and
/// the plan has a refusal; what packs weights is loaded where the host runs it.
enum class CodeUse : uint8_t { kRun, kStore };

/// Loads the code and lays out the memory. `groups` are in an order that respects data flow. `pool`
/// is the one that the executable will run on. Kernels of a device are steps of the plan's device;
/// what packs weights is the host's. Where this machine cannot run the target's kernels, nothing is
/// loaded, and the plan has a refusal. Errors: indices that turned out to be constants out of
/// range, and those of loading code.
Result<AssembledPlan> Assemble(const FrontReport& front, const std::vector<GroupKernel>& groups,
                               const CompileOptions& options, ThreadPool& pool,
                               CodeUse use = CodeUse::kRun);

}  // namespace tunec
