#include "tools/commands/bench_bundle.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "support/stopwatch.h"
#include "tools/commands/commands.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/open_bundle.h"
#include "tools/runs/sized_runs.h"

namespace tunec {

namespace {

/// The facts about a loaded bundle that the report shows in addition to the times of runs.
struct BenchedBundle {
  double ready_seconds = 0;
  uint32_t variant = 0;
  int threads = 1;
  std::optional<size_t> launches;  // empty for dynamic shapes, whose number of launches varies
};

Result<Timing> TimeSized(const SizedBundle& model, const std::vector<Array>& inputs,
                         const TimingLimits& limits) {
  TUNEC_ASSIGN(const SizedRun run, SizedRun::Make(model, inputs));
  for (int i = 0; i < limits.warmup; ++i) TUNEC_RETURN_IF_ERROR(run.Run());
  Timing timing;
  const auto run_once = [&]() -> Status {
    const Stopwatch watch;
    TUNEC_RETURN_IF_ERROR(run.Run());
    timing.samples.push_back(watch.Milliseconds() / 1e3);
    return {};
  };
  TUNEC_RETURN_IF_ERROR(RunRounds(limits, run_once));
  return timing;
}

void Print(const BundleBench& bench, const BenchedBundle& benched, const Timing& timing) {
  if (bench.form == OutputForm::kJson) {
    nlohmann::ordered_json json = {
        {"model", bench.model.model}, {"variant", benched.variant}, {"threads", benched.threads}};
    if (benched.launches) json["launches"] = *benched.launches;
    json["ready_seconds"] = benched.ready_seconds;
    json["latency"] = TimingJson(timing);
    PrintJson(json);
    return;
  }
  fmt::print("ready to run after {}\n", DurationText(benched.ready_seconds));
  fmt::print("least {}, median {}, p95 {}, p99 {} ({}, {})\n", DurationText(timing.Least()),
             DurationText(timing.Median()), DurationText(timing.P95()), DurationText(timing.P99()),
             CountText(std::ssize(timing.samples), "run"), CountText(benched.threads, "thread"));
}

}  // namespace

Result<int> BenchBundle(const BundleBench& bench) {
  TUNEC_ASSIGN(const ArrayFile given, ReadArrays(bench.inputs));
  const Stopwatch watch;
  TUNEC_ASSIGN(const LoadedBundle bundle, OpenBundle(bench.model));
  BenchedBundle benched{.ready_seconds = watch.Milliseconds() / 1e3, .variant = bundle.variant};
  if (bundle.sized) {
    benched.threads = bundle.sized->Threads();
    TUNEC_ASSIGN(const std::vector<Array> inputs,
                 SizedInputs(*bundle.sized, given, bench.input_seed, bench.model.settings.dims));
    TUNEC_ASSIGN(const Timing timing, TimeSized(*bundle.sized, inputs, bench.limits));
    Print(bench, benched, timing);
    return kExitOk;
  }
  const Executable& executable = *bundle.executable;
  benched.threads = executable.Threads();
  benched.launches = executable.StepNames().size();
  TUNEC_ASSIGN(const std::vector<Array> inputs, BundleInputs(executable, given, bench.input_seed));
  const TimedRun run{&executable, inputs};
  TUNEC_ASSIGN(const std::vector<Timing> timings, TimeRuns({&run, 1}, bench.limits));
  Print(bench, benched, timings[0]);
  return kExitOk;
}

}  // namespace tunec
