// How a model's budget of trials is shared among its tasks.
//
// The next batch goes to the task of greatest expected gain per trial: what the model would gain
// if the task reached its roofline, divided by the trials it has had. That shares the trials in
// proportion to the gains (as d'Hondt's method shares seats). Trials that brought nothing count
// double, so tasks that no longer improve step back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tunec {

struct TaskState {
  double weight = 1;
  double roofline_seconds = 0;         // no schedule can be faster
  std::optional<double> best_seconds;  // none: no correct trial yet
  int64_t trials = 0;
  int64_t stale = 0;  // trials since the last progress
  bool done = false;  // converged, or cannot be tuned
};

/// Seconds of the model that the task may still save, at least a little of its time.
double ExpectedGain(const TaskState& task);

struct Share {
  size_t task = 0;
  int trials = 0;  // of the next batch
};
/// The task whose turn it is. Tasks without any trial come first with one trial each, the heaviest
/// before the others; then by gain, in batches of at most `batch`. None when all are done or
/// `remaining` is 0.
std::optional<Share> NextShare(const std::vector<TaskState>& tasks, int64_t remaining, int batch);

}  // namespace tunec
