#include "runtime/batched_phases.h"

#include <algorithm>

namespace tunec {

void BatchedPhases::Add(std::span<const std::span<const ParallelPhase>> runs) {
  size_t end = 0;
  for (size_t begin = 0; begin < runs.size(); begin = end) {
    const std::span<const ParallelPhase> first = runs[begin];
    const auto has_as_many = [&](std::span<const ParallelPhase> other) {
      return std::ranges::equal(first, other, {}, &ParallelPhase::tasks, &ParallelPhase::tasks);
    };
    for (end = begin + 1; end < runs.size() && has_as_many(runs[end]);) ++end;
    for (size_t phase = 0; phase < first.size(); ++phase) {
      OfRuns& of_runs = joined_.emplace_back();
      for (size_t run = begin; run < end; ++run) of_runs.push_back(runs[run][phase]);
      const int64_t tasks = first[phase].tasks * static_cast<int64_t>(of_runs.size());
      phases_.push_back({RunTasks, &of_runs, tasks});
    }
  }
}

void BatchedPhases::RunTasks(void* of_runs, int64_t begin, int64_t end, int thread) {
  const OfRuns& runs = *static_cast<const OfRuns*>(of_runs);
  const auto count = static_cast<int64_t>(runs.size());
  for (int64_t i = begin; i < end; ++i) {
    const ParallelPhase& run = runs[i % count];
    const int64_t task = i / count;
    run.run(run.context, task, task + 1, thread);
  }
}

}  // namespace tunec
