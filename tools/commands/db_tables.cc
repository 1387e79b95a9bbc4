#include "tools/commands/db_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "autotune/measure/arithmetic_gain.h"
#include "autotune/measure/measure_time.h"
#include "autotune/simulation/record_times.h"
#include "autotune/simulation/simulate.h"
#include "autotune/worker/find_worker.h"
#include "autotune/worker/worker_measurer.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "device/open_device.h"
#include "support/file.h"
#include "tools/options/model_options.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/report_error.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

// Reads the table of a file. Without a file, returns an empty table.
Result<TimeTable> ReadTable(const std::string& file, bool must_exist = true) {
  const Result<std::string> text = ReadFile(file);
  if (!text && text.error().code == ErrorCode::kNotFound && !must_exist) return TimeTable{};
  if (!text) return std::unexpected(text.error());
  return ParseTimeTable(*text, file);
}

Result<TuningTask> TaskOfGroup(const CompileOptions& options, const Settings& settings,
                               const std::string& model, const std::string& group) {
  TUNEC_ASSIGN(const Graph graph, LoadModel(model, settings));
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  TUNEC_ASSIGN(const size_t number, FindGroup(front, group));
  ModelTasks tasks = CollectTasks(front, options.target);
  return std::move(tasks.unique[tasks.of_group[number]]);
}

Result<std::unique_ptr<Measurer>> StartMeasurer(std::string worker_path) {
  if (worker_path.empty()) {
    TUNEC_ASSIGN(worker_path, FindWorker());
  }
  return MakeWorkerMeasurer(std::move(worker_path), {}, Interrupted);
}

// Returns "1.2 % (0.4 to 3.1)": the median, the least and the greatest error.
Cell ErrorsCell(std::vector<double> errors) {
  const auto [least, most] = std::ranges::minmax(errors);
  const double median = Median(std::move(errors));
  return {fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * median, 100 * least, 100 * most),
          median};
}

Cell JsonCell(double value) { return {"", value}; }

using Simulate = Result<SimulatedErrors> (*)(const TimeTable&, int64_t, uint64_t);

// Adds the row of one strategy, with all seeds.
Status AddRow(TextTable& rows, const std::string& file, const TimeTable& table,
              const char* strategy, Simulate simulate, int64_t trials, int64_t seeds) {
  std::vector<double> exploration, selection, tried;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    Result<SimulatedErrors> errors = simulate(table, trials, seed);
    if (!errors) {
      Error error = std::move(errors).error();
      error.message = fmt::format("{}: {} with seed {}: {}", file, strategy, seed, error.message);
      return std::unexpected(std::move(error));
    }
    exploration.push_back(errors->exploration);
    selection.push_back(errors->selection);
    tried.push_back(static_cast<double>(errors->trials));
  }
  rows.AddRow({CountCell(std::ssize(table.entries)), strategy,
               CountCell(static_cast<int64_t>(Median(tried))), ErrorsCell(exploration),
               JsonCell(std::ranges::min(exploration)), JsonCell(std::ranges::max(exploration)),
               ErrorsCell(selection), JsonCell(std::ranges::min(selection)),
               JsonCell(std::ranges::max(selection)), VisibleText(file)});
  return {};
}

}  // namespace

Result<int> RecordTable(const Settings& settings, const std::string& model,
                        const std::string& group, const std::string& file, int64_t candidates) {
  TUNEC_ASSIGN(TimeTable table, ReadTable(file, false));
  TUNEC_ASSIGN(const CompileOptions options, MakeCompileOptions(settings));
  TUNEC_RETURN_IF_ERROR(CheckTimesHere(options.target, options.device));
  TUNEC_ASSIGN(const TuningTask task, TaskOfGroup(options, settings, model, group));
  const SearchSpace space(SketchesFor({.lowerings = task.lowerings,
                                       .target = options.target,
                                       .rounding = RoundingFreedomFor(options.accuracy),
                                       .gain = MeasuredGain(nullptr, options.target)}));
  const Workload workload{.lowerings = task.lowerings,
                          .target = options.target,
                          .accuracy = options.accuracy,
                          .device = options.device.name,
                          .callers = task.callers};
  CatchInterrupts();
  TUNEC_ASSIGN(const std::unique_ptr<Measurer> measurer, StartMeasurer(options.worker_path));
  const auto store = [&](const TimeTable& part, size_t total) -> Status {
    fmt::print("{} of {} candidates\n", part.entries.size(), total);
    return WriteFileAtomically(file, Print(part));
  };
  const Status recorded =
      RecordTimes(table, task, workload, space, *measurer,
                  {.candidates = candidates, .seed = settings.seed, .on_batch = store});
  if (!recorded && recorded.error().code == ErrorCode::kCancelled) {
    PrintToStandardError(fmt::format("interrupted: {} kept, run again to continue",
                                     CountText(std::ssize(table.entries), "candidate")));
    return kExitInterrupted;
  }
  TUNEC_RETURN_IF_ERROR(recorded);
  const auto ok = std::ranges::count(table.entries, TrialStatus::kOk, &TableEntry::status);
  fmt::print("{}: {} of {} candidates are ok, the fixed kernel takes {}\n", VisibleText(file), ok,
             table.entries.size(), DurationText(table.fixed_seconds));
  return kExitOk;
}

Status SimulateTables(const std::vector<std::string>& files, int64_t trials, int64_t seeds,
                      OutputForm form) {
  constexpr ColumnVisibility kInJson = ColumnVisibility::kInJson;
  TextTable rows({{"candidates", Align::kRight},
                  {"strategy"},
                  {"trials", Align::kRight},
                  {"exploration error", Align::kRight, "exploration"},
                  {"exploration_least", Align::kRight, "", kInJson},
                  {"exploration_most", Align::kRight, "", kInJson},
                  {"selection error", Align::kRight, "selection"},
                  {"selection_least", Align::kRight, "", kInJson},
                  {"selection_most", Align::kRight, "", kInJson},
                  {"table"}});
  for (const std::string& file : files) {
    TUNEC_ASSIGN(const TimeTable table, ReadTable(file));
    TUNEC_RETURN_IF_ERROR(AddRow(rows, file, table, "search", SimulateSearch, trials, seeds));
    TUNEC_RETURN_IF_ERROR(AddRow(rows, file, table, "draws", SimulateDraws, trials, seeds));
  }
  TableReport report(form);
  report.Add("simulations", rows);
  report.Finish();
  return {};
}

}  // namespace tunec
