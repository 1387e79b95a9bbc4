// What the driver tells of a compiled model, gathered from what its stages left.
#pragma once

#include <vector>

#include "compiler/assemble/assemble.h"
#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tasks.h"
#include "compiler/tune_model.h"

namespace tunec {

/// The report but for its times and `nodes_before`.
Result<CompileReport> MakeReport(const FrontReport& front, const Tasks& tasks,
                                 const TunedModel& tuned, const std::vector<BuiltKernel>& kernels,
                                 const ExecutablePlan& plan, const CompileOptions& options);

}  // namespace tunec
