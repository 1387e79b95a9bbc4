// Shows tuning as it goes: a table that refreshes on a terminal, a line per batch elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/tuner.h"
#include "tools/roofline.h"

namespace tunec {

struct TaskLabel {
  std::string name;
  double bytes = 0;  // compulsory traffic of one run
};
/// What the tasks are, in their order; asked for once, when there is something to show.
using LabelTasks = std::function<std::vector<TaskLabel>()>;

/// Not thread-safe. Writes to standard output.
class TuningDisplay {
 public:
  TuningDisplay(LabelTasks label, std::optional<Roofline> roofline);

  void Update(const TuneProgress& progress);
  /// Leaves the last state on the terminal. Nothing when nothing was shown.
  void Finish();

  /// The latest state; none before the first Update.
  const std::optional<TuneProgress>& Latest() const { return latest_; }
  /// One line per task, the costliest first.
  std::string TaskTable() const;

 private:
  void Redraw();
  void PrintBatch();
  std::vector<std::string> TableLines(size_t name_width) const;
  TaskLabel LabelOf(size_t task) const;
  std::string RooflineText(size_t task) const;

  LabelTasks label_tasks_;  // empty once asked
  std::vector<TaskLabel> labels_;
  std::optional<Roofline> roofline_;
  std::optional<TuneProgress> latest_;
  bool terminal_;
  int lines_drawn_ = 0;
  double drawn_at_ = -1;   // elapsed seconds of the last redraw
  size_t batch_task_ = 0;  // of the latest trial
  int64_t printed_measured_ = 0;
};

/// "trials 24/200  groups 12  model 1.23 ms  elapsed 4.0 s  left 30 s"
std::string ProgressLine(const TuneProgress& progress);

}  // namespace tunec
