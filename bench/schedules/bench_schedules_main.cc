// bench_schedules FILE.compute FILE.sched ...: measures the time to turn a schedule into loops. For
// each pair, prints the median and the greatest processor time of 21 repetitions, in milliseconds:
//   steps         rewrites the statements, builds the tree
//   dependences   computes all dependences by isl, as for schedules that the quick proof leaves
//                 open
//   legality      checks legality, as for every candidate of a search
//   by isl        checks legality by isl only, with known dependences
//   loops         generates bounds, conditions and full tiles from the tree
//   all           runs steps, legality and loops: RunLoopPipeline
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "bench/must.h"
#include "kernel/loop_pipeline.h"
#include "polyhedral/explain/describe.h"
#include "polyhedral/generate/generate.h"
#include "polyhedral/schedule_tree.h"
#include "support/check.h"
#include "support/file.h"

namespace tunec::bench {
namespace {

constexpr int kTurns = 21;
constexpr ReductionOrder kOrder = ReductionOrder::kAny;

class Times {
 public:
  template <class F>
  auto Measure(const std::string& stage, const F& work) {
    const std::clock_t start = std::clock();
    auto result = work();
    Add(stage, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    return result;
  }

  void Report() {
    for (const std::string& stage : order_) {
      std::vector<double>& turns = of_stage_[stage];
      std::ranges::sort(turns);
      fmt::print("  {:<12} {:8.2f} {:8.2f}\n", stage, turns[turns.size() / 2], turns.back());
    }
  }

 private:
  void Add(const std::string& stage, double milliseconds) {
    if (!of_stage_.contains(stage)) order_.push_back(stage);
    of_stage_[stage].push_back(milliseconds);
  }

  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> of_stage_;
};

/// Returns true, as a result for Times::Measure. Stops the program if the stage failed.
bool IsFine(const Status& status) {
  TUNEC_CHECK(status.has_value(), "{}", status.error().Format());
  return true;
}

void MeasureOnce(const Compute& compute, const Schedule& schedule, Times& times) {
  const ScheduledTrees drafts =
      times.Measure("steps", [&] { return Must(DraftSchedule(compute, schedule, kOrder)); });
  const ScheduledTree& draft = drafts.kernel;
  times.Measure("legality", [&] { return IsFine(CheckLegality(draft, kOrder)); });
  // A new draft has no cached dependences: "dependences" computes them, and "by isl" uses them.
  const ScheduledTree fresh = Must(DraftSchedule(compute, schedule, kOrder)).kernel;
  times.Measure("dependences", [&] { return Must(PrintFlow(fresh.dependences)); });
  times.Measure("by isl", [&] {
    return IsFine(CheckLegalityExactly(fresh.dependences, fresh.tree, kOrder));
  });
  times.Measure("loops", [&] { return Must(GenerateLoops(draft.tree, Contraction::kFused)); });
  times.Measure("all", [&] { return Must(RunLoopPipeline(compute, schedule, {kOrder})); });
}

void Measure(const std::string& compute_file, const std::string& schedule_file) {
  const Compute compute = Must(ParseCompute(Must(ReadFile(compute_file)), compute_file));
  const Schedule schedule = Must(ParseSchedule(Must(ReadFile(schedule_file)), schedule_file));
  Times times;
  for (int turn = 0; turn < kTurns; ++turn) MeasureOnce(compute, schedule, times);
  fmt::print("{}, {} steps: median, greatest ms\n", schedule_file, schedule.StepCount());
  times.Report();
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) {
    fmt::print(stderr, "usage: bench_schedules FILE.compute FILE.sched [...]\n");
    return 2;
  }
  for (int i = 1; i + 1 < argc; i += 2) tunec::bench::Measure(argv[i], argv[i + 1]);
  return 0;
}
