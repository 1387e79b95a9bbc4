#include "tools/commands/bench_bundle.h"

#include <nlohmann/json.hpp>

#include "support/stopwatch.h"
#include "tools/commands/commands.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/open_bundle.h"

namespace tunec {

Result<int> BenchBundle(const BundleBench& bench) {
  TUNEC_ASSIGN(const ArrayFile given, ReadArrays(bench.inputs));
  const Stopwatch watch;
  TUNEC_ASSIGN(const LoadedBundle bundle, OpenBundle(bench.model));
  const double ready = watch.Milliseconds() / 1e3;
  const Executable& executable = *bundle.executable;
  TUNEC_ASSIGN(const std::vector<Array> inputs,
               BundleInputs(executable, given, bench.input_seed));
  const TimedRun run{&executable, inputs};
  TUNEC_ASSIGN(const std::vector<Timing> timings, TimeRuns({&run, 1}, bench.limits));
  const Timing& timing = timings[0];
  if (bench.form == OutputForm::kJson) {
    PrintJson({{"model", bench.model.model},
               {"variant", bundle.variant},
               {"threads", executable.Threads()},
               {"launches", executable.StepNames().size()},
               {"ready_seconds", ready},
               {"latency", TimingJson(timing)}});
    return kExitOk;
  }
  fmt::print("ready to run after {}\n", DurationText(ready));
  fmt::print("least {}, median {}, p95 {}, p99 {} ({}, {})\n", DurationText(timing.Least()),
             DurationText(timing.Median()), DurationText(timing.P95()), DurationText(timing.P99()),
             CountText(std::ssize(timing.samples), "run"),
             CountText(executable.Threads(), "thread"));
  return kExitOk;
}

}  // namespace tunec
