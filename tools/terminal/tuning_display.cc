#include "tools/terminal/tuning_display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "compiler/compiler.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr double kRefreshSeconds = 0.1;
constexpr size_t kNameWidth = 44;
constexpr size_t kShortName = 28;
constexpr int kOtherColumns = 56;  // width of a row without the name

/// Returns the rows and columns of the terminal, or 24 and 80 if either number is unknown.
std::pair<int, int> TerminalSize() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {24, 80};
  return {size.ws_row, size.ws_col};
}

/// Estimates the seconds of the remaining trials at the average rate so far. Returns nothing before
/// the first measured trial, or without a limit of trials.
std::optional<double> SecondsLeft(const TuneProgress& progress) {
  if (progress.measured == 0 || progress.budget >= kUnlimitedTrials) return std::nullopt;
  const auto left = static_cast<double>(std::max<int64_t>(0, progress.budget - progress.trials));
  return progress.elapsed_seconds / static_cast<double>(progress.measured) * left;
}

/// Returns the indices of the tasks: those without a time, then the costliest for the model first.
std::vector<size_t> ByCost(const TuneProgress& progress) {
  std::vector<size_t> order(progress.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t task) {
    const TaskProgress& of = progress.tasks[task];
    return of.best_seconds ? of.weight * *of.best_seconds : 1e30;
  });
  return order;
}

/// Returns at most `room` of a table's lines. If lines are missing, the last line has their number.
std::vector<std::string> FitRows(std::vector<std::string> lines, size_t room) {
  if (lines.size() <= room) return lines;
  const size_t missing = lines.size() - room + 1;
  lines.resize(room - 1);
  lines.push_back(fmt::format("... {} more", missing));
  return lines;
}

// Returns a text such as "1.23 ms" or "1.23 ms predicted", or "-" without a time.
std::string TimeText(const std::optional<double>& seconds, bool predicted) {
  if (!seconds) return "-";
  return DurationText(*seconds) + (predicted ? " predicted" : "");
}

// Returns the rate in GFLOP/s, or "-" without a measured time or without operations.
std::string RateText(const TaskProgress& task, bool predicted) {
  if (!task.best_seconds || task.flops <= 0 || predicted) return "-";
  return fmt::format("{:.1f}", task.flops / *task.best_seconds / 1e9);
}

}  // namespace

std::string BudgetText(const TuneProgress& progress) {
  if (progress.budget >= kUnlimitedTrials) return fmt::format("{}", progress.trials);
  return fmt::format("{} of {}", progress.trials, progress.budget);
}

std::string ProgressLine(const TuneProgress& progress) {
  const std::optional<double> left = SecondsLeft(progress);
  return fmt::format("trials {}  groups {}  model {}  elapsed {:.1f} s  left {}",
                     progress.budget >= kUnlimitedTrials
                         ? fmt::format("{}", progress.trials)
                         : fmt::format("{}/{}", progress.trials, progress.budget),
                     progress.tasks.size(), TimeText(progress.total_seconds, progress.predicted),
                     progress.elapsed_seconds, left ? fmt::format("{:.0f} s", *left) : "-");
}

TuningDisplay::TuningDisplay() : terminal_(isatty(STDOUT_FILENO) != 0) {}

std::string TuningDisplay::RooflineText(const TaskProgress& task) const {
  if (!task.best_seconds || !latest_->ceilings || !latest_->ceilings->IsReliable()) return "-";
  const auto least = latest_->ceilings->BoundFor(task.arithmetic, task.flops, task.bytes);
  return least ? fmt::format("{:.0f} %", 100 * least->seconds / *task.best_seconds) : "-";
}

void TuningDisplay::Update(const TuneProgress& progress) {
  const bool batch_ended = progress.latest == nullptr;
  if (!batch_ended) batch_task_ = progress.latest_task;
  latest_ = progress;
  latest_->latest = nullptr;  // the pointer is valid only during this call
  if (progress.measured == 0) return;
  if (terminal_) {
    if (batch_ended || progress.elapsed_seconds - drawn_at_ >= kRefreshSeconds) Redraw();
  } else if (batch_ended && progress.measured > printed_measured_) {
    PrintBatch();
  }
}

void TuningDisplay::Redraw() {
  const auto [rows, columns] = TerminalSize();
  std::vector<std::string> lines =
      TableLines(static_cast<size_t>(std::max(columns - kOtherColumns, 12)));
  // The table must fit on the screen: a scrolled table cannot be redrawn.
  lines = FitRows(std::move(lines), static_cast<size_t>(std::max(rows - 3, 3)));
  lines.push_back(ProgressLine(*latest_));
  std::string screen;
  // After a change of width, the terminal may have cut or wrapped old lines at unknown columns.
  const bool resized = drawn_columns_ != 0 && drawn_columns_ != columns;
  if (resized) {
    screen += "\x1b[2J\x1b[H";
  } else if (lines_drawn_ > 0) {
    screen += fmt::format("\x1b[{}A", lines_drawn_);
  }
  for (const std::string& line : lines)
    screen += Shorten(line, static_cast<size_t>(columns - 1)) + "\x1b[K\n";
  screen += "\x1b[J";
  fmt::print("{}", screen);
  std::fflush(stdout);
  lines_drawn_ = static_cast<int>(lines.size());
  drawn_columns_ = columns;
  drawn_at_ = latest_->elapsed_seconds;
}

void TuningDisplay::PrintBatch() {
  const TaskProgress& task = latest_->tasks.at(batch_task_);
  fmt::print("{}  |  {}: best {}, roofline {}\n", ProgressLine(*latest_),
             Shorten(task.description, kShortName), TimeText(task.best_seconds, latest_->predicted),
             RooflineText(task));
  std::fflush(stdout);
  printed_measured_ = latest_->measured;
}

void TuningDisplay::MakeRoom() {
  if (!terminal_ || lines_drawn_ == 0) return;
  fmt::print("\x1b[{}A\x1b[J", lines_drawn_);
  std::fflush(stdout);
  lines_drawn_ = 0;
}

void TuningDisplay::Finish() {
  if (terminal_ && lines_drawn_ > 0) Redraw();
  lines_drawn_ = 0;
}

std::vector<std::string> TuningDisplay::TableLines(size_t name_width) const {
  TextTable table({{"group"},
                   {"weight", Align::kRight},
                   {"trials", Align::kRight},
                   {"failed", Align::kRight},
                   {latest_->predicted ? "predicted" : "best", Align::kRight},
                   {"GFLOP/s", Align::kRight},
                   {"roofline", Align::kRight},
                   {"state"}});
  for (const size_t index : ByCost(*latest_)) {
    const TaskProgress& task = latest_->tasks[index];
    table.AddRow({Shorten(task.description, name_width), fmt::format("{:g}", task.weight),
                  fmt::format("{}", task.trials), fmt::format("{}", task.failures),
                  task.best_seconds ? DurationText(*task.best_seconds) : "-",
                  RateText(task, latest_->predicted), RooflineText(task),
                  !task.problem.empty() ? task.problem
                  : task.converged      ? "converged"
                                        : ""});
  }
  return table.Lines();
}

std::string TuningDisplay::TaskTable() const {
  return latest_ ? fmt::format("{}\n", fmt::join(TableLines(kNameWidth), "\n")) : "";
}

}  // namespace tunec
