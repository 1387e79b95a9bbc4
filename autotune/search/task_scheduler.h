// Distribution of a model's budget of trials among its tasks.
//
// After a first trial of each task, the next batch goes to the task of greatest expected gain per
// trial. The gain is at most the time that the model would save if the task reached its roofline.
// After several trials, the gain is also at most the time that the later half of them saved. This
// gain is divided by a constant plus the task's trials so far, so trials are shared about in
// proportion to the gains, as d'Hondt's method shares seats. Trials since the task's last progress
// count double, so tasks that no longer improve get fewer trials.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tunec {

struct TaskState {
  double weight = 1;
  double roofline_seconds = 0;         // lower bound of the time of any schedule
  std::optional<double> best_seconds;  // none: no correct trial yet
  int64_t trials = 0;
  int64_t stale = 0;            // trials since the last progress
  std::optional<double> saved;  // seconds that the later half of the trials saved; none: unknown
  bool done = false;            // converged, or cannot be tuned
};

/// Returns the seconds of the model's time that the task may still save, at least 2 % of the task's
/// time. The result is at most what the task saved with the later half of its trials. Returns a
/// huge number if no trial of the task is correct.
double ExpectedGain(const TaskState& task);

struct Share {
  size_t task = 0;
  int trials = 0;   // size of the next batch
  double part = 1;  // the task's part of the gain that is expected of all tasks
};
/// Returns the next task that is not done, and its number of trials. Tasks without any trial come
/// first with one trial each, in the order of weight * roofline_seconds, the greatest first. Then
/// the task of greatest gain per trial gets a batch of at most `batch` trials. Returns none if all
/// tasks are done or `remaining` is 0.
std::optional<Share> NextShare(const std::vector<TaskState>& tasks, int64_t remaining, int batch);

}  // namespace tunec
