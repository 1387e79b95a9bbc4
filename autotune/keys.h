// Construction of the keys of tuning results and compiled objects. A key has every fact that
// changes the result and no fact that is unstable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/task.h"
#include "db/records.h"
#include "ir/target.h"
#include "schedule/schedule.h"

namespace tunec {

/// The method of timing on a host, a part of the tuning key. Change the text whenever measure.cc or
/// measure_time.cc would give different numbers for the same kernel. In the key of a host, the
/// policy also names the arguments that the caller of the model allocates (TuningTask::callers).
inline constexpr std::string_view kMeasurementPolicy =
    "in turns with the incumbent, weights cold, activations beyond L2, median v3";
/// The methods of earlier versions, the latest first. Their times are not compared with those of
/// other methods. Schedules that were fast under these policies are used until a trial under the
/// current policy succeeds. A search measures the fastest of them again.
inline constexpr std::string_view kEarlierMeasurementPolicies[] = {
    "weights cold, median of adaptive repeats v2", "warm, median of adaptive repeats v1"};
/// The method of timing on a device; runtime/cold_runs.cc implements a part of it.
inline constexpr std::string_view kDeviceMeasurementPolicy =
    "cold, graphs of runs in turns with the incumbent, median v3";
/// The methods of earlier versions on a device, the latest first.
inline constexpr std::string_view kEarlierDevicePolicies[] = {
    "cold, graphs of runs in turns with the incumbent, median of adaptive repeats v2"};
/// The policy of trials with predicted times. Change the text whenever kernel/predict would predict
/// different times for the same kernel.
inline constexpr std::string_view kPredictionPolicy = "predicted 2";

/// Returns the method of timing of a policy, without the names of the callers' arguments and
/// without kSeedsClause. All policies with the same method rank schedules in about the same order.
std::string_view TimingMethod(std::string_view policy);
/// Returns true if times under the policy are predicted, by any version of the formula.
bool IsPrediction(std::string_view policy);
/// Returns true if times of the target's kernels are predicted: the host emulates the target's
/// device.
bool PredictsTimes(const Target& target);

/// Returns the canonical text of a task's default (first) lowering. The text does not depend on the
/// name of the Compute.
std::string WorkloadText(const TuningTask& task);

/// Returns the workload text as earlier versions wrote it, without the marks of finite tensors.
/// Returns none if WorkloadText has no such mark.
std::optional<std::string> EarlierWorkloadText(const TuningTask& task);

/// Returns the key of the task's trials: the key of predictions if the host emulates the target's
/// device, else the key of measurements.
TuningKey MakeTuningKey(const TuningTask& task, const Target& target, const Accuracy& accuracy);
/// Returns the keys of trials that rank the task's schedules, the most trusted first. The task's
/// own measurements come first. On a host, next come trials of the same group with all arguments
/// allocated by the runtime, if the task has callers' arguments. The policies of earlier versions
/// follow. On a device, predictions come last. Each key is followed by the same key with the
/// EarlierWorkloadText, if there is one. An emulated device has the keys of the real device.
std::vector<TuningKey> KeysByTrust(const TuningTask& task, const Target& target,
                                   const Accuracy& accuracy);

/// Returns the key text of the compiled object of one schedule of a task. The key has the target
/// (code for the emulation has a different target than code for the device), the accuracy, the
/// schedule language and the workload. It also has the text of the schedule's lowering, the
/// schedule, and the versions of LLVM and of our code generator. Requires: `schedule.lowering`
/// names one of the task's lowerings.
std::string ArtifactKey(const TuningTask& task, const Schedule& schedule, const Target& target,
                        const Accuracy& accuracy);

}  // namespace tunec
