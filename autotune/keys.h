// The keys under which tuning results and compiled objects are stored: every fact that changes
// the result, nothing that does not last.
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

/// How times are taken; a part of the tuning key. To be changed whenever measure_time.cc would
/// give other numbers for the same kernel.
/// Where the model's own inputs and outputs are among the task's, the key's policy also names them.
inline constexpr std::string_view kMeasurementPolicy =
    "weights cold, median of adaptive repeats v2";
/// How earlier versions took them, the latest first. Such times are compared with no others, but
/// what was fast by them is measured again, and used until then.
inline constexpr std::string_view kEarlierMeasurementPolicies[] = {
    "warm, median of adaptive repeats v1"};
/// How those of a device are: runtime/cold_runs.cc has a part in it.
inline constexpr std::string_view kDeviceMeasurementPolicy =
    "cold, graphs of runs in turns with the incumbent, median of adaptive repeats v2";
/// Of trials whose times nobody measured. To be changed whenever kernel/predict would predict other
/// times for the same kernel.
inline constexpr std::string_view kPredictionPolicy = "predicted 2";

/// How times are taken under a policy, wherever a task's arguments lie: they rank schedules alike.
std::string_view WayOfTiming(std::string_view policy);
/// Whether the times under a policy were predicted, by whatever formula.
bool IsPrediction(std::string_view policy);
/// Whether times of the target's kernels are: where the host stands in for its device.
bool PredictsTimes(const Target& target);

/// The canonical text of a task's default lowering (its first), whatever the group was called.
std::string WorkloadText(const TuningTask& task);

/// The same as earlier versions wrote it, without what is known of weights; none where that is
/// nothing.
std::optional<std::string> EarlierText(const TuningTask& task);

/// The key of the task's trials: where the host stands in for the target's device, that of
/// predictions, else that of measurements.
TuningKey MakeTuningKey(const TuningTask& task, const Target& target, const Accuracy& accuracy);
/// The keys of trials that say which of the task's schedules to use, the most trusted first: its
/// own measurements. Then, of a host, those of the same group where the runtime places all its
/// arguments, and those of earlier policies; of a device, predictions. Behind each of these kinds
/// stands the same of the earlier text. Emulated or not, a device has the same.
std::vector<TuningKey> KeysByTrust(const TuningTask& task, const Target& target,
                                   const Accuracy& accuracy);

/// The key text of the compiled object of one schedule of a task: the target (emulated code is
/// another), the accuracy, the schedule language, the workload, the text of the lowering that the
/// schedule names, the schedule, the versions of LLVM and of our code generator. Requires:
/// `schedule.lowering` names one of the task's lowerings.
std::string ArtifactKey(const TuningTask& task, const Schedule& schedule, const Target& target,
                        const Accuracy& accuracy);

}  // namespace tunec
