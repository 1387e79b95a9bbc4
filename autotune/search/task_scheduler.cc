#include "autotune/search/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunec {
namespace {

// The least expected gain of a task, relative to the time of its best schedule. So a task at its
// roofline still gets a few trials, since the roofline may be inexact.
constexpr double kLeastGain = 0.02;

double GainPerTrial(const TaskState& task) {
  constexpr double kPriorTrials = 4;
  const auto spent = static_cast<double>(task.trials + task.stale);
  return ExpectedGain(task) / (kPriorTrials + spent);
}

std::optional<size_t> HeaviestUntried(const std::vector<TaskState>& tasks) {
  std::optional<size_t> heaviest;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].done || tasks[i].trials > 0) continue;
    const auto load = [&](size_t t) { return tasks[t].weight * tasks[t].roofline_seconds; };
    if (!heaviest || load(i) > load(*heaviest)) heaviest = i;
  }
  return heaviest;
}

// Returns the task's part of the gain that is expected of all tasks.
double PartOfGain(const std::vector<TaskState>& tasks, size_t chosen) {
  double total = 0;
  for (const TaskState& task : tasks) total += task.done ? 0 : ExpectedGain(task);
  return std::isfinite(total) && total > 0 ? ExpectedGain(tasks[chosen]) / total : 1;
}

// Returns the size of the task's next batch: the number of trials that the task would get if the
// remaining budget were shared by gain, within the limits of a batch.
int BatchFor(double part, int64_t remaining, int batch) {
  const int least = std::min(4, batch);
  const auto fair = static_cast<int64_t>(std::ceil(part * static_cast<double>(remaining)));
  const int64_t trials = std::clamp<int64_t>(fair, least, batch);
  return static_cast<int>(std::min(trials, remaining));
}

}  // namespace

double ExpectedGain(const TaskState& task) {
  // A first correct schedule has the greatest gain.
  if (!task.best_seconds) return std::numeric_limits<double>::max() / 1e6;
  const double distance = *task.best_seconds - task.roofline_seconds;
  const double expected = std::min(distance, task.saved.value_or(distance));
  return task.weight * std::max(expected, kLeastGain * *task.best_seconds);
}

std::optional<Share> NextShare(const std::vector<TaskState>& tasks, int64_t remaining, int batch) {
  if (remaining <= 0) return std::nullopt;
  if (const std::optional<size_t> untried = HeaviestUntried(tasks))
    return Share{*untried, 1, PartOfGain(tasks, *untried)};
  std::optional<size_t> chosen;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].done) continue;
    if (!chosen || GainPerTrial(tasks[i]) > GainPerTrial(tasks[*chosen])) chosen = i;
  }
  if (!chosen) return std::nullopt;
  const double part = PartOfGain(tasks, *chosen);
  return Share{*chosen, BatchFor(part, remaining, batch), part};
}

}  // namespace tunec
