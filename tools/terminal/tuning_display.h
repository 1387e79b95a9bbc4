// A display of tuning progress: a table on a terminal, otherwise a line per batch with new trials.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/tuner.h"

namespace tunec {

/// A display of tuning progress on standard output. It is not thread-safe.
class TuningDisplay {
 public:
  TuningDisplay();

  void Update(const TuneProgress& progress);
  /// Removes the table from the terminal before other output. A later Update draws it again.
  void MakeRoom();
  /// Leaves the table with the latest state on the terminal. Does nothing if no table is shown.
  void Finish();

  /// Returns the latest state; empty before the first Update.
  const std::optional<TuneProgress>& Latest() const { return latest_; }
  /// Returns the text of a table of all tasks: those without a time, then the costliest first.
  /// Returns an empty text before the first Update.
  std::string TaskTable() const;

 private:
  void Redraw();
  void PrintBatch();
  std::vector<std::string> TableLines(size_t name_width) const;
  std::string RooflineText(const TaskProgress& task) const;

  std::optional<TuneProgress> latest_;
  bool terminal_;
  int lines_drawn_ = 0;
  int drawn_columns_ = 0;  // terminal columns at the last redraw
  double drawn_at_ = -1;   // elapsed seconds of the last redraw
  size_t batch_task_ = 0;  // task of the latest trial
  int64_t printed_measured_ = 0;
};

/// Returns "24 of 200", or "24" if only the time is limited.
std::string BudgetText(const TuneProgress& progress);
/// Returns "trials 24/200  groups 12  model 1.23 ms  elapsed 4.0 s  left 30 s".
std::string ProgressLine(const TuneProgress& progress);

}  // namespace tunec
