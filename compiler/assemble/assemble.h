// The executable of a graph whose groups have kernels: where every value lies, and which
// step reads and writes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tasks.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// A group with its code; groups of equal workloads share it.
struct GroupKernel {
  FusionGroup group;
  std::string name;
  std::vector<std::string> argument_names;  // canonical, of the group's inputs, then its outputs
  std::shared_ptr<const CompiledKernel> code;
};

/// Each group with the kernel of its task, in the order of the groups.
std::vector<GroupKernel> KernelsOfGroups(const FrontReport& front, const Tasks& tasks,
                                         const std::vector<BuiltKernel>& kernels);

/// Loads the code and lays out the memory. `groups` are in an order that respects data flow. `pool`
/// is the one that the executable will run on. Kernels of a device are steps of the plan's device;
/// what packs weights is the host's. Where this machine cannot run the target's kernels, nothing is
/// loaded, and the plan has a refusal. Errors: indices that turned out to be constants out of
/// range, and those of loading code.
Result<ExecutablePlan> Assemble(const FrontReport& front, const std::vector<GroupKernel>& groups,
                                const CompileOptions& options, ThreadPool& pool);

}  // namespace tunec
