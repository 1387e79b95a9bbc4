#include "tools/runs/trial_events.h"

#include <nlohmann/json.hpp>

namespace tunec {

Result<std::unique_ptr<TrialEvents>> TrialEvents::Open(const std::string& path) {
  std::unique_ptr<TrialEvents> events(new TrialEvents(path));
  if (!events->file_) return Fail(ErrorCode::kIo, "{}: cannot write events", path);
  return events;
}

void TrialEvents::Note(const TuneProgress& progress) {
  if (progress.latest == nullptr) return;
  const TrialRecord& trial = *progress.latest;
  const TaskProgress& task = progress.tasks.at(progress.latest_task);
  const bool ok = trial.status == TrialStatus::kOk;
  const auto milliseconds = [](std::optional<double> seconds) {
    return seconds ? nlohmann::ordered_json(1e3 * *seconds) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const double seconds : trial.samples) samples.push_back(1e3 * seconds);
  const nlohmann::ordered_json line = {
      {"elapsed_ms", 1e3 * progress.elapsed_seconds},
      {"trials", progress.trials},
      {"budget", progress.budget},
      {"group", task.description},
      {"status", TrialStatusName(trial.status)},
      {"median_ms", milliseconds(ok ? std::optional(trial.median_seconds) : std::nullopt)},
      {"samples_ms", std::move(samples)},
      {"predicted", progress.predicted},
      {"best_ms", milliseconds(task.best_seconds)},
      {"model_ms", milliseconds(progress.total_seconds)},
      {"compile_ms", trial.compile_ms},
      {"check_ms", trial.check_ms},
      {"measure_ms", trial.measure_ms},
      {"note", trial.note},
      {"message", trial.message},
      {"schedule", trial.schedule}};
  // Texts of a model may not be UTF-8.
  file_ << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  file_.flush();
}

Status TrialEvents::Finish() {
  file_.close();
  if (!file_) return Fail(ErrorCode::kIo, "{}: cannot write all events", path_);
  return {};
}

}  // namespace tunec
