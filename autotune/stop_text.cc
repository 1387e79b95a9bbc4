// Texts that state why a tuning, or the search of a task, stopped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "autotune/search/task_search.h"
#include "autotune/tuner.h"

namespace tunec {
namespace {

std::string EndOf(const TaskProgress& task) {
  if (!task.problem.empty()) return "not measurable: " + task.problem;
  return task.converged ? Describe(*task.converged) : "";
}

// Returns the reasons why the searches of tasks ended, each with its number of tasks, in the order
// of the first tasks. A single reason is returned without the number. Tasks whose search did not
// end are skipped.
std::string DescribeEnds(const std::vector<TaskProgress>& tasks) {
  std::map<std::string, int> counts;
  std::vector<std::string> order;
  for (const TaskProgress& task : tasks) {
    const std::string end = EndOf(task);
    if (!end.empty() && ++counts[end] == 1) order.push_back(end);
  }
  if (order.size() == 1) return order.front();
  std::vector<std::string> parts;
  for (const std::string& end : order) parts.push_back(fmt::format("{} {}", counts[end], end));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string Describe(const Convergence& convergence) {
  switch (convergence.reason) {
    case ConvergenceReason::kExhausted:
      return "every candidate tried";
    case ConvergenceReason::kStale:
      return fmt::format("{:.0f} trials without gain", convergence.bound);
    case ConvergenceReason::kCeiling:
      return fmt::format("within {:.0f} % of the ceiling of {:.0f} GFLOP/s",
                         100 * (TaskSearch::kNearCeiling - 1), convergence.bound / 1e9);
    case ConvergenceReason::kUnknown:
      break;
  }
  return "an earlier search found no more";
}

std::string DescribeStop(const TuneReport& report) {
  const TuneProgress& progress = report.progress;
  switch (report.stop) {
    case TuneStop::kBudget:
      return progress.measured == 0 ? "the budget was spent before" : "the budget is spent";
    case TuneStop::kConverged:
      return progress.tasks.empty() ? "nothing to tune" : DescribeEnds(progress.tasks);
    case TuneStop::kTimeLimit:
      return "the time limit has passed";
    case TuneStop::kCancelled:
      return "interrupted";
    case TuneStop::kNone:
      break;
  }
  return "";
}

}  // namespace tunec
