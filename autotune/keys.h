// The keys under which tuning results and compiled objects are stored: every fact that changes
// the result, nothing that does not last.
#pragma once

#include <string>
#include <string_view>

#include "autotune/accuracy.h"
#include "autotune/task.h"
#include "db/records.h"
#include "ir/target.h"
#include "schedule/schedule.h"

namespace tunec {

/// How times are taken; a part of the tuning key. To be changed whenever measure_time.cc would
/// give other numbers for the same kernel.
inline constexpr std::string_view kMeasurementPolicy = "warm, median of adaptive repeats v1";

/// The canonical text of a task's default lowering (its first), whatever the group was called.
std::string WorkloadText(const TuningTask& task);

/// The key of the task's trials.
TuningKey MakeTuningKey(const TuningTask& task, const Target& target, const Accuracy& accuracy);

/// The key text of the compiled object of one schedule of a task: the tuning key's facts, the text
/// of the lowering that the schedule names, the schedule, the versions of LLVM and of our code
/// generator. Requires: `schedule.lowering` names one of the task's lowerings.
std::string ArtifactKey(const TuningTask& task, const Schedule& schedule, const Target& target,
                        const Accuracy& accuracy);

}  // namespace tunec
