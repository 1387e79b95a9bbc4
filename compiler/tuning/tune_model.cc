#include "compiler/tuning/tune_model.h"

#include <utility>

#include "compiler/front_end.h"
#include "compiler/tuning/confirm_in_model.h"
#include "compiler/tuning/known_trials.h"
#include "device/open_device.h"
#include "kernel/predict/predict_time.h"

namespace tunec {
namespace {

// Returns the tasks of the groups to be tuned again.
Result<std::vector<size_t>> TasksToRetune(const FrontReport& front, const ModelTasks& tasks,
                                          const CompileOptions& options) {
  std::vector<size_t> chosen;
  if (!options.retune.empty() && !options.Tunes()) {
    return Fail(ErrorCode::kInvalidArgument, "tuning again needs trials or a time limit");
  }
  for (const std::string& name : options.retune) {
    if (name == "all") return tasks.of_group;
    TUNEC_ASSIGN(const size_t group, FindGroup(front, name));
    chosen.push_back(tasks.of_group[group]);
  }
  return chosen;
}

// Looks up the known trials. Logs notes on trials of earlier versions and for other options.
Result<KnownTrials> LookUp(const Database* database, const ModelTasks& tasks,
                           const CompileOptions& options) {
  if (database == nullptr) return KnownTrials{.groups = std::ssize(tasks.unique)};
  TUNEC_ASSIGN(KnownTrials known, FindKnownTrials(*database, tasks, options));
  for (const std::string& line : {DescribeEarlier(known, options.Tunes()), known.elsewhere}) {
    if (!line.empty() && options.on_log) options.on_log(line);
  }
  return known;
}

Result<TuneReport> Measure(Database* database, const ModelTasks& tasks, const TunerOptions& tuner) {
  if (tuner.trials == 0) return TuneReport{};
  if (database == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "trials need a database; none is open");
  }
  TUNEC_RETURN_IF_ERROR(CheckTimesHere(tuner.target, {.name = tuner.device}));
  if (const auto emulated = EmulatedTarget(tuner.target))
    TUNEC_RETURN_IF_ERROR(CheckPredicts(*emulated->device));
  TUNEC_ASSIGN(TuneReport report, Tune(*database, tasks.unique, tuner));
  if (report.stop == TuneStop::kCancelled) {
    return Fail(ErrorCode::kCancelled, "cancelled while tuning; measured trials are stored");
  }
  return report;
}

}  // namespace

TunerOptions MakeTunerOptions(const CompileOptions& options) {
  const bool timed = options.trials == 0 && options.time_limit_seconds > 0;
  return {.trials = timed ? kUnlimitedTrials : options.trials,
          .time_limit_seconds = options.time_limit_seconds,
          .seed = options.seed,
          .target = options.target,
          .device = options.device.name,
          .accuracy = options.accuracy,
          .sketches = options.sketches,
          .worker_path = options.worker_path,
          .failure_folder = options.failure_folder,
          .tool_version = TUNEC_VERSION,
          .timing_lock = options.timing_lock,
          .on_progress = options.on_progress,
          .on_log = options.on_log,
          .cancelled = options.cancelled};
}

Result<TunedModel> TuneModel(const FrontReport& front, const ModelTasks& tasks, Database* database,
                             const CompileOptions& options) {
  TunedModel tuned{.options = MakeTunerOptions(options)};
  TUNEC_ASSIGN(tuned.options.retune, TasksToRetune(front, tasks, options));
  TUNEC_ASSIGN(tuned.known, LookUp(database, tasks, options));
  TunerOptions tuner = tuned.options;
  tuner.before_measuring = [&]() -> Status {
    TUNEC_ASSIGN(tuned.before, RankTasks(database, tasks, tuner));
    return {};
  };
  TUNEC_ASSIGN(tuned.report, Measure(database, tasks, tuner));
  return tuned;
}

}  // namespace tunec
