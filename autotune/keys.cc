#include "autotune/keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "device/open_device.h"
#include "jit/code_generator.h"
#include "support/check.h"

namespace tunec {
namespace {

std::string TargetText(const Target& target, const Accuracy& accuracy) {
  return fmt::format("{} accuracy={}", Print(target), Print(accuracy));
}

TuningKey KeyUnder(std::string_view policy, const TuningTask& task, const Target& target,
                   const Accuracy& accuracy) {
  const Work work = CountWork(task.lowerings.front().compute);
  return {.workload = {.text = WorkloadText(task),
                       .kind = task.kind,
                       .description = task.description,
                       .flops = work.flops,
                       .bytes = work.bytes},
          .target = TargetText(target, accuracy),
          .policy = std::string(policy),
          .schedule_version = kScheduleVersion};
}

constexpr std::string_view kCallersClause = "; callers place ";

// Returns a host's policy with the names of the task's callers' arguments.
std::string WithCallers(std::string_view policy, const TuningTask& task) {
  if (task.callers.empty()) return std::string(policy);
  return fmt::format("{}{}{}", policy, kCallersClause, fmt::join(task.callers, " "));
}

std::string PolicyOfMeasurements(const TuningTask& task, const Target& target) {
  if (target.device) return std::string(kDeviceMeasurementPolicy);
  return WithCallers(kMeasurementPolicy, task);
}

// Returns the task as earlier versions described it: without the marks of finite tensors, and with
// only the first lowering. Returns none if this lowering has no such mark, since the texts of both
// tasks are then equal.
std::optional<TuningTask> EarlierTask(const TuningTask& task) {
  TuningTask earlier{.kind = task.kind,
                     .description = task.description,
                     .lowerings = {task.lowerings.front()},
                     .callers = task.callers};
  bool differs = false;
  for (Tensor& tensor : earlier.lowerings.front().compute.tensors) {
    differs |= std::exchange(tensor.finite, false);
  }
  return differs ? std::optional(std::move(earlier)) : std::nullopt;
}

}  // namespace

std::string_view TimingMethod(std::string_view policy) {
  return policy.substr(0, std::min(policy.find(kCallersClause), policy.find(kSeedsClause)));
}
bool IsPrediction(std::string_view policy) { return policy.starts_with("predicted "); }
bool PredictsTimes(const Target& target) { return EmulatedTarget(target).has_value(); }

std::string WorkloadText(const TuningTask& task) {
  TUNEC_CHECK(!task.lowerings.empty(), "task '{}' has no lowering", task.description);
  // A Compute's name is left out, so that equal computations share their trials.
  Compute compute = task.lowerings.front().compute;
  compute.name = "group";
  return Print(compute);
}

std::optional<std::string> EarlierWorkloadText(const TuningTask& task) {
  const std::optional<TuningTask> earlier = EarlierTask(task);
  return earlier ? std::optional(WorkloadText(*earlier)) : std::nullopt;
}

TuningKey MakeTuningKey(const TuningTask& task, const Target& target, const Accuracy& accuracy) {
  const std::optional<Target> emulated = EmulatedTarget(target);
  return emulated ? KeyUnder(kPredictionPolicy, task, *emulated, accuracy)
                  : KeyUnder(PolicyOfMeasurements(task, target), task, target, accuracy);
}

std::vector<TuningKey> KeysByTrust(const TuningTask& task, const Target& target,
                                   const Accuracy& accuracy) {
  const Target own = EmulatedTarget(target).value_or(target);
  const std::optional<TuningTask> earlier = EarlierTask(task);
  std::vector<TuningKey> descriptions = {KeyUnder("", task, own, accuracy)};
  if (earlier) descriptions.push_back(KeyUnder("", *earlier, own, accuracy));
  std::vector<TuningKey> keys;
  const auto add = [&](std::string_view policy) {
    for (const TuningKey& description : descriptions) {
      keys.push_back(description);
      keys.back().policy = policy;
    }
  };
  add(PolicyOfMeasurements(task, own));
  if (own.device) {
    for (const std::string_view policy : kEarlierDevicePolicies) add(policy);
    add(kPredictionPolicy);
    return keys;
  }
  if (!task.callers.empty()) add(kMeasurementPolicy);
  for (const std::string_view policy : kEarlierMeasurementPolicies) {
    if (!task.callers.empty()) add(WithCallers(policy, task));
    add(policy);
  }
  return keys;
}

namespace {

// Returns the versions of all code generators that the target needs. For a device this includes the
// host's generator, because its code packs the weights.
std::string Generators(const Target& target) {
  std::string own = CodeGeneratorVersion(target);
  if (!target.device) return own;
  return fmt::format("{}; packing {}", own, CodeGeneratorVersion({.host = target.host}));
}

}  // namespace

std::string ArtifactKey(const TuningTask& task, const Schedule& schedule, const Target& target,
                        const Accuracy& accuracy) {
  const Compute* lowering = FindLowering(task.lowerings, schedule.lowering);
  TUNEC_CHECK(lowering != nullptr, "task '{}' has no lowering '{}'", task.description,
              schedule.lowering);
  Compute compute = *lowering;
  compute.name = "group";
  // The code does not depend on the method of timing, so all keys have this fixed policy.
  constexpr std::string_view kPolicy = "warm, median of adaptive repeats v1";
  const std::string workload = WorkloadText(task);
  // A length goes before each text of several lines, so that different keys have different texts.
  const std::string body = Print(compute);
  const std::string steps = Print(schedule);
  return fmt::format(
      "artifact 1\n{}\ntarget {}\npolicy {}\nschedule language {}\n"
      "workload {}\n{}\nlowering {}\n{}\nschedule {}\n{}",
      Generators(target), TargetText(target, accuracy), kPolicy, kScheduleVersion, workload.size(),
      workload, body.size(), body, steps.size(), steps);
}

}  // namespace tunec
