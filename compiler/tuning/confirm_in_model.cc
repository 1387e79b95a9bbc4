#include "compiler/tuning/confirm_in_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "autotune/keys.h"
#include "autotune/measure/measure_time.h"
#include "autotune/measure/timing_lock.h"
#include "compiler/assemble/assemble.h"
#include "graph/random_inputs.h"
#include "ir/array.h"
#include "runtime/executable.h"
#include "support/statistics.h"
#include "support/stopwatch.h"
#include "support/usable_memory.h"

namespace tunec {
namespace {

// An executable of the model, with the tasks of its steps and the times of its runs.
struct TimedModel {
  std::optional<Executable> executable;
  std::vector<std::optional<size_t>> tasks;  // the task of each step; none for a copy
  std::vector<Array> outputs;
  std::vector<void*> to;
  std::vector<double> whole;                 // seconds of each run
  std::vector<std::vector<double>> of_task;  // seconds of each task's steps in each run
};

Result<TimedModel> MakeModel(const FrontReport& front, const ModelTasks& tasks,
                             const std::vector<BuiltKernel>& kernels, const CompileOptions& options,
                             const std::shared_ptr<ThreadPool>& pool) {
  TimedModel model;
  const std::vector<GroupKernel> groups = KernelsOfGroups(front, tasks, kernels);
  TUNEC_ASSIGN(AssembledPlan assembled, Assemble(front, groups, options, *pool));
  std::map<const KernelImage*, size_t> task_of;
  for (size_t task = 0; task < kernels.size(); ++task)
    task_of.emplace(&kernels[task].code->image, task);
  for (const StepCode& step : assembled.step_code) {
    const auto found = task_of.find(step.image);
    model.tasks.push_back(found == task_of.end() ? std::nullopt : std::optional(found->second));
  }
  TUNEC_ASSIGN(model.executable, Executable::Make(std::move(assembled.plan), pool));
  for (const TensorSpec& spec : model.executable->Outputs()) {
    model.outputs.emplace_back(spec.type, spec.shape);
  }
  for (Array& output : model.outputs) model.to.push_back(output.mutable_data());
  model.of_task.resize(kernels.size());
  return model;
}

// Runs the model once and adds the times.
Status TimeOnce(TimedModel& model, std::span<const void* const> inputs) {
  TUNEC_ASSIGN(const std::vector<double> seconds, model.executable->ProfileRun(inputs, model.to));
  model.whole.push_back(std::reduce(seconds.begin(), seconds.end()));
  for (std::vector<double>& times : model.of_task) times.push_back(0);
  for (size_t step = 0; step < seconds.size(); ++step)
    if (model.tasks[step]) model.of_task[*model.tasks[step]].back() += seconds[step];
  return {};
}

// Returns true if the ratio of both models is known well enough.
bool IsKnown(const TimedModel& before, const TimedModel& tuned) {
  constexpr double kWidth = 0.002;
  constexpr size_t kLeast = 100;
  if (before.whole.size() < kLeast || before.whole.size() % kLeast != 0) return false;
  const auto interval = RatioInterval(tuned.whole, before.whole);
  return interval && interval->high - interval->low < kWidth;
}

// Runs both models in turns, in changing order.
Status RunInTurns(TimedModel& before, TimedModel& tuned, std::span<const void* const> inputs,
                  const CompileOptions& options) {
  constexpr double kMostSeconds = 5;
  constexpr double kPartOfLimit = 0.1;
  constexpr size_t kLeastRounds = 7;
  constexpr size_t kMostRounds = 400;
  for (TimedModel* model : {&before, &tuned})
    TUNEC_RETURN_IF_ERROR(model->executable->Run(inputs, model->to));
  // Rounds on the processor take turns with the timings of other tuners.
  const bool locks = options.timing_lock && !options.target.device;
  TimingLock lock(locks ? HostTimingLockPath() : "",
                  {.cancelled = options.cancelled, .on_note = options.on_log});
  const double limit = options.time_limit_seconds;
  const double seconds = limit > 0 ? std::min(kMostSeconds, kPartOfLimit * limit) : kMostSeconds;
  const Stopwatch watch;
  for (size_t round = 0; round < kMostRounds; ++round) {
    if (options.cancelled && options.cancelled())
      return Fail(ErrorCode::kCancelled, "cancelled while comparing models");
    if (round >= kLeastRounds && watch.Milliseconds() > 1e3 * seconds) break;
    TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(locks ? &lock : nullptr));
    TimedModel& first = round % 2 == 0 ? before : tuned;
    TimedModel& second = round % 2 == 0 ? tuned : before;
    TUNEC_RETURN_IF_ERROR(TimeOnce(first, inputs));
    TUNEC_RETURN_IF_ERROR(TimeOnce(second, inputs));
    if (IsKnown(before, tuned)) break;
  }
  return {};
}

// Returns the whole times of the tuned model if these tasks had their earlier times.
std::vector<double> WithRestored(const TimedModel& before, const TimedModel& tuned,
                                 const std::vector<size_t>& restored) {
  std::vector<double> whole = tuned.whole;
  for (size_t round = 0; round < whole.size(); ++round) {
    for (const size_t task : restored)
      whole[round] += before.of_task[task][round] - tuned.of_task[task][round];
  }
  return whole;
}

bool HasMemoryForTwo(const FrontReport& front) {
  int64_t bytes = 0;
  for (const GroupReport& group : front.groups) {
    for (const Tensor& tensor : group.lowerings.front().compute.tensors)
      if (tensor.role == TensorRole::kWeight) bytes += StorageBytes(tensor);
  }
  const int64_t usable = UsableMemory();
  return usable == 0 || 3 * bytes < usable;
}

}  // namespace

Result<std::vector<ScheduleRanking>> RankTasks(const Database* database, const ModelTasks& tasks,
                                               const TunerOptions& tuner) {
  std::vector<ScheduleRanking> rankings;
  for (const TuningTask& task : tasks.unique) {
    TUNEC_ASSIGN(ScheduleRanking ranking, ScheduleRanking::Of(database, task, tuner));
    rankings.push_back(std::move(ranking));
  }
  return rankings;
}

Result<std::optional<GainInModel>> ConfirmInModel(const FrontReport& front, const ModelTasks& tasks,
                                                  std::vector<ScheduleRanking> before,
                                                  Database& database, const CompileOptions& options,
                                                  const TunerOptions& tuner,
                                                  std::vector<BuiltKernel>& kernels) {
  // The earlier kernels are built without messages, since the model does not use them yet.
  CompileOptions silent = options;
  silent.on_log = silent.on_detail = {};
  silent.tuned_only = false;
  TUNEC_ASSIGN(std::vector<BuiltKernel> earlier,
               BuildRankedKernels(tasks.unique, std::move(before), &database, silent, tuner));
  std::vector<size_t> changed;
  for (size_t task = 0; task < kernels.size(); ++task) {
    if (Print(earlier[task].schedule.schedule) == Print(kernels[task].schedule.schedule)) {
      earlier[task] = kernels[task];
    } else {
      changed.push_back(task);
    }
  }
  if (changed.empty() || !HasMemoryForTwo(front)) return std::nullopt;

  const auto pool = std::make_shared<ThreadPool>(options.target.host.threads, Pinning::kCores);
  TUNEC_ASSIGN(TimedModel old, MakeModel(front, tasks, earlier, options, pool));
  TUNEC_ASSIGN(TimedModel tuned, MakeModel(front, tasks, kernels, options, pool));
  TUNEC_ASSIGN(const std::vector<Array> arrays, RandomInputs(front.graph, options.seed));
  std::vector<const void*> inputs;
  for (const Array& array : arrays) inputs.push_back(array.data());
  {
    const PinnedThread pinned(pool->CallersProcessor());
    TUNEC_RETURN_IF_ERROR(RunInTurns(old, tuned, inputs, options));
  }

  const auto log = [&](const std::string& line) {
    if (options.on_log) options.on_log(line);
  };
  // The database can only choose a schedule that has a trial.
  std::vector<size_t> restorable;
  for (const size_t task : changed) {
    const TuningKey key = MakeTuningKey(tasks.unique[task], options.target, options.accuracy);
    TUNEC_ASSIGN(const std::optional<TrialRecord> trial,
                 database.Find(key, Print(earlier[task].schedule.schedule)));
    if (!trial || trial->status != TrialStatus::kOk) continue;
    restorable.push_back(task);
    // As after the next compilation, the schedule is a measured one.
    RankedSchedule& schedule = earlier[task].schedule;
    schedule = {.schedule = std::move(schedule.schedule), .seconds = trial->median_seconds};
  }
  std::vector<size_t> restored;
  for (const size_t task : restorable) {
    const double ratio = Median(RatiosOf(tuned.of_task[task], old.of_task[task]));
    if (ratio < 1) continue;
    restored.push_back(task);
    log(
        fmt::format("{}: the tuned schedule takes {:.2f} times as long as the earlier one in the "
                    "model: the earlier one is used",
                    tasks.unique[task].description, ratio));
  }
  std::vector<double> ratios = RatiosOf(WithRestored(old, tuned, restored), old.whole);
  std::optional<MedianInterval> interval = FindMedianInterval(ratios, kDecided);
  // Without a gain in the median, the model stays as it was, even if the interval decides nothing.
  if (restored.size() < restorable.size() && Median(ratios) > 1) {
    log("the tuned model is not faster than the earlier one: all earlier schedules are used");
    restored = restorable;
    ratios = RatiosOf(WithRestored(old, tuned, restored), old.whole);
    interval = FindMedianInterval(ratios, kDecided);
  }
  if (restored.size() == changed.size()) {
    ratios = {1};
    interval.reset();
  }
  for (const size_t task : restored) {
    const std::string schedule = Print(earlier[task].schedule.schedule);
    const TuningKey key = MakeTuningKey(tasks.unique[task], options.target, options.accuracy);
    const Status chosen = database.Choose(key, schedule);
    // Another process may have removed the trial meanwhile.
    if (!chosen && chosen.error().code != ErrorCode::kNotFound)
      return std::unexpected(chosen.error());
    kernels[task] = std::move(earlier[task]);
  }
  const double ratio = Median(ratios);
  const double seconds = Median(old.whole);
  const MedianInterval known = interval.value_or(MedianInterval{ratio, ratio});
  log(fmt::format("in the model: {:.3g} ms before, {:.3f} of it tuned ({:.3f} to {:.3f})",
                  1e3 * seconds, ratio, known.low, known.high));
  return GainInModel{.before_seconds = seconds,
                     .ratio = ratio,
                     .low = known.low,
                     .high = known.high,
                     .restored = static_cast<int>(restored.size())};
}

}  // namespace tunec
