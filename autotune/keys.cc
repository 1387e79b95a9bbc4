#include "autotune/keys.h"

#include "jit/code_generator.h"
#include "jit/open_device.h"
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

}  // namespace

bool IsPrediction(std::string_view policy) { return policy.starts_with("predicted "); }
bool PredictsTimes(const Target& target) { return EmulatedTarget(target).has_value(); }

std::string WorkloadText(const TuningTask& task) {
  TUNEC_CHECK(!task.lowerings.empty(), "task '{}' has no lowering", task.description);
  // The name says where in its model the group stood; equal groups share their trials.
  Compute compute = task.lowerings.front().compute;
  compute.name = "group";
  return Print(compute);
}

TuningKey MakeTuningKey(const TuningTask& task, const Target& target, const Accuracy& accuracy) {
  const std::optional<Target> emulated = EmulatedTarget(target);
  return emulated ? KeyUnder(kPredictionPolicy, task, *emulated, accuracy)
                  : KeyUnder(kMeasurementPolicy, task, target, accuracy);
}

std::vector<TuningKey> KeysByTrust(const TuningTask& task, const Target& target,
                                   const Accuracy& accuracy) {
  const Target own = EmulatedTarget(target).value_or(target);
  std::vector<TuningKey> keys = {KeyUnder(kMeasurementPolicy, task, own, accuracy)};
  if (own.device) keys.push_back(KeyUnder(kPredictionPolicy, task, own, accuracy));
  return keys;
}

namespace {

// All that make the code: of a device's kernels, the host packs the weights.
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
  // Code is the same whoever ranks it.
  const TuningKey key = KeyUnder(kMeasurementPolicy, task, target, accuracy);
  // Lengths before the texts that may hold anything, so that no two keys print alike.
  const std::string body = Print(compute);
  const std::string steps = Print(schedule);
  return fmt::format(
      "artifact 1\n{}\ntarget {}\npolicy {}\nschedule language {}\n"
      "workload {}\n{}\nlowering {}\n{}\nschedule {}\n{}",
      Generators(target), key.target, key.policy, key.schedule_version, key.workload.text.size(),
      key.workload.text, body.size(), body, steps.size(), steps);
}

}  // namespace tunec
