// Shows tuning as it goes: a table that refreshes on a terminal, a line per batch elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/tuner.h"

namespace tunec {

/// Not thread-safe. Writes to standard output.
class TuningDisplay {
 public:
  TuningDisplay();

  void Update(const TuneProgress& progress);
  /// Takes the table off the terminal, for a line that stays; the next Update draws it below.
  void MakeRoom();
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
  std::string RooflineText(const TaskProgress& task) const;

  std::optional<TuneProgress> latest_;
  bool terminal_;
  int lines_drawn_ = 0;
  int drawn_columns_ = 0;  // of the terminal at the last redraw
  double drawn_at_ = -1;   // elapsed seconds of the last redraw
  size_t batch_task_ = 0;  // of the latest trial
  int64_t printed_measured_ = 0;
};

/// "24 of 200"; "24" where only time limits.
std::string BudgetText(const TuneProgress& progress);
/// "trials 24/200  groups 12  model 1.23 ms  elapsed 4.0 s  left 30 s"
std::string ProgressLine(const TuneProgress& progress);

}  // namespace tunec
