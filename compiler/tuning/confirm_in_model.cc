#include "compiler/tuning/confirm_in_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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

// A model in memory, with the tasks of its steps.
struct ModelInMemory {
  Executable executable;
  std::vector<std::optional<size_t>> tasks;  // the task of each step; none for a copy
  std::vector<Array> outputs;
  std::vector<void*> to;
};

// The times of a model's runs.
struct ModelTimes {
  std::vector<double> whole;                 // seconds of each run
  std::vector<std::vector<double>> of_task;  // seconds of each task's steps in each run
};

// The runs of two models in turns. Equal code differs by up to 3 % if a model is loaded anew,
// because of the addresses of its buffers. So both models are loaded several times.
struct ModelRuns {
  ModelTimes before;
  ModelTimes tuned;
  std::vector<size_t> loads;  // the first round of each loading
};

Result<ModelInMemory> LoadKernels(const FrontReport& front, const ModelTasks& tasks,
                                  const std::vector<BuiltKernel>& kernels,
                                  const CompileOptions& options,
                                  const std::shared_ptr<ThreadPool>& pool) {
  const std::vector<GroupKernel> groups = KernelsOfGroups(front, tasks, kernels);
  TUNEC_ASSIGN(AssembledPlan assembled, Assemble(front, groups, options, *pool));
  std::map<const KernelImage*, size_t> task_of;
  for (size_t task = 0; task < kernels.size(); ++task)
    task_of.emplace(&kernels[task].code->image, task);
  std::vector<std::optional<size_t>> of_steps;
  for (const StepCode& step : assembled.step_code) {
    const auto found = task_of.find(step.image);
    of_steps.push_back(found == task_of.end() ? std::nullopt : std::optional(found->second));
  }
  TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(assembled.plan), pool));
  ModelInMemory model{std::move(executable), std::move(of_steps), {}, {}};
  for (const TensorSpec& spec : model.executable.Outputs())
    model.outputs.emplace_back(spec.type, spec.shape);
  for (Array& output : model.outputs) model.to.push_back(output.mutable_data());
  return model;
}

// Runs the model once and adds the times.
Status TimeOnce(ModelInMemory& model, std::span<const void* const> inputs, ModelTimes& times) {
  TUNEC_ASSIGN(const std::vector<double> seconds, model.executable.ProfileRun(inputs, model.to));
  times.whole.push_back(std::reduce(seconds.begin(), seconds.end()));
  for (std::vector<double>& task : times.of_task) task.push_back(0);
  for (size_t step = 0; step < seconds.size(); ++step)
    if (model.tasks[step]) times.of_task[*model.tasks[step]].back() += seconds[step];
  return {};
}

// A function that loads a model with some kernels.
using Load = std::function<Result<ModelInMemory>(const std::vector<BuiltKernel>&)>;

// Runs a model with the kernels `earlier` and with the kernels `kernels` in turns, in changing
// order.
Result<ModelRuns> RunInTurns(const Load& load, const std::vector<BuiltKernel>& earlier,
                             const std::vector<BuiltKernel>& kernels, const ThreadPool& pool,
                             std::span<const void* const> inputs, const CompileOptions& options) {
  constexpr double kMostSeconds = 5;  // with all loadings but the first one
  constexpr double kPartOfLimit = 0.1;
  constexpr size_t kLoads = 5;
  constexpr size_t kLeastRounds = 7;  // each loading has at least so many
  constexpr size_t kMostRounds = 80;
  const double limit = options.time_limit_seconds;
  const double seconds = limit > 0 ? std::min(kMostSeconds, kPartOfLimit * limit) : kMostSeconds;
  // Rounds on the processor take turns with the timings of other tuners.
  const bool locks = options.timing_lock && !options.target.device;
  TimingLock lock(locks ? HostTimingLockPath() : "",
                  {.cancelled = options.cancelled, .on_note = options.on_log});
  ModelRuns runs;
  for (ModelTimes* times : {&runs.before, &runs.tuned}) times->of_task.resize(kernels.size());
  const Stopwatch watch;
  double load_ms = 0;  // the first loading takes this time, which does not count
  const auto used = [&](double more_ms) {
    return (watch.Milliseconds() - load_ms + more_ms) / (1e3 * seconds);
  };
  for (size_t load_number = 0; load_number < kLoads && used(load_ms) < 1; ++load_number) {
    TUNEC_ASSIGN(ModelInMemory before, load(earlier));
    TUNEC_ASSIGN(ModelInMemory tuned, load(kernels));
    const PinnedThread pinned(pool.CallersProcessor());
    for (ModelInMemory* model : {&before, &tuned})
      TUNEC_RETURN_IF_ERROR(model->executable.Run(inputs, model->to));
    runs.loads.push_back(runs.before.whole.size());
    if (load_number == 0) load_ms = watch.Milliseconds();
    for (size_t round = 0; round < kMostRounds; ++round) {
      if (options.cancelled && options.cancelled())
        return Fail(ErrorCode::kCancelled, "cancelled while comparing models");
      if (round >= kLeastRounds && used(0) > static_cast<double>(load_number + 1) / kLoads) break;
      TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(locks ? &lock : nullptr));
      if (round % 2 == 0) TUNEC_RETURN_IF_ERROR(TimeOnce(before, inputs, runs.before));
      TUNEC_RETURN_IF_ERROR(TimeOnce(tuned, inputs, runs.tuned));
      if (round % 2 != 0) TUNEC_RETURN_IF_ERROR(TimeOnce(before, inputs, runs.before));
    }
  }
  return runs;
}

// Returns the whole times of the tuned model if these tasks had their earlier times.
std::vector<double> WithRestored(const ModelRuns& runs, const std::vector<size_t>& restored) {
  std::vector<double> whole = runs.tuned.whole;
  for (size_t round = 0; round < whole.size(); ++round) {
    for (const size_t task : restored)
      whole[round] += runs.before.of_task[task][round] - runs.tuned.of_task[task][round];
  }
  return whole;
}

// A ratio of times, with an interval that contains the median of each loading and the interval of
// all rounds.
struct KnownRatio {
  double ratio = 1;
  MedianInterval interval{1, 1};
};

KnownRatio RatioInModel(const ModelRuns& runs, const std::vector<size_t>& restored) {
  const std::vector<double> ratios = RatiosOf(WithRestored(runs, restored), runs.before.whole);
  std::vector<double> of_loads;
  for (size_t i = 0; i < runs.loads.size(); ++i) {
    const size_t end = i + 1 < runs.loads.size() ? runs.loads[i + 1] : ratios.size();
    of_loads.push_back(Median({ratios.begin() + static_cast<std::ptrdiff_t>(runs.loads[i]),
                               ratios.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  const double ratio = Median(of_loads);
  const MedianInterval rounds =
      FindMedianInterval(ratios, kDecided).value_or(MedianInterval{ratio, ratio});
  return {ratio,
          {std::min(rounds.low, std::ranges::min(of_loads)),
           std::max(rounds.high, std::ranges::max(of_loads))}};
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
  const auto load = [&](const std::vector<BuiltKernel>& of) {
    return LoadKernels(front, tasks, of, options, pool);
  };
  TUNEC_ASSIGN(const std::vector<Array> arrays, RandomInputs(front.graph, options.seed));
  std::vector<const void*> inputs;
  for (const Array& array : arrays) inputs.push_back(array.data());
  TUNEC_ASSIGN(const ModelRuns runs, RunInTurns(load, earlier, kernels, *pool, inputs, options));

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
    const double ratio = Median(RatiosOf(runs.tuned.of_task[task], runs.before.of_task[task]));
    if (ratio < 1) continue;
    restored.push_back(task);
    log(
        fmt::format("{}: the tuned schedule takes {:.2f} times as long as the earlier one in the "
                    "model: the earlier one is used",
                    tasks.unique[task].description, ratio));
  }
  KnownRatio known = RatioInModel(runs, restored);
  // Without a gain in the median, the model stays as it was, even if the interval decides nothing.
  if (restored.size() < restorable.size() && known.ratio > 1) {
    log("the tuned model is not faster than the earlier one: all earlier schedules are used");
    restored = restorable;
    known = RatioInModel(runs, restored);
  }
  if (restored.size() == changed.size()) known = {};
  for (const size_t task : restored) {
    const std::string schedule = Print(earlier[task].schedule.schedule);
    const TuningKey key = MakeTuningKey(tasks.unique[task], options.target, options.accuracy);
    const Status chosen = database.Choose(key, schedule);
    // Another process may have removed the trial meanwhile.
    if (!chosen && chosen.error().code != ErrorCode::kNotFound)
      return std::unexpected(chosen.error());
    kernels[task] = std::move(earlier[task]);
  }
  const double seconds = Median(runs.before.whole);
  log(fmt::format("in the model: {:.3g} ms before, {:.3f} of it tuned ({:.3f} to {:.3f})",
                  1e3 * seconds, known.ratio, known.interval.low, known.interval.high));
  return GainInModel{.before_seconds = seconds,
                     .ratio = known.ratio,
                     .low = known.interval.low,
                     .high = known.interval.high,
                     .restored = static_cast<int>(restored.size())};
}

}  // namespace tunec
