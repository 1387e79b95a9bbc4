#include "compiler/kernel_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "autotune/fallback.h"
#include "autotune/keys.h"
#include "device/open_device.h"
#include "kernel/compile_kernel.h"
#include "support/ordered_results.h"
#include "support/processors.h"
#include "support/trace.h"
#include "support/usable_memory.h"

namespace tunec {
namespace {

// A line for users (on_log) or for developers (on_detail).
struct Line {
  std::string text;
  bool for_developers = false;
};

// The outcome of building one kernel on any thread. The caller's thread passes the lines
// to the callbacks and stores the code.
struct Outcome {
  Result<BuiltKernel> kernel;
  std::vector<Line> lines;
  std::optional<std::string> new_key;  // key of newly compiled code that the database lacks
};

bool IsArgument(const Compute& compute, const std::string& name) {
  const std::optional<TensorId> id = compute.FindTensor(name);
  if (!id) return false;
  const TensorRole role = compute.tensors[*id].role;
  return role != TensorRole::kWorkspace && role != TensorRole::kLocal;
}

// Checks that stored code fits this Compute. Errors: kParse if the group does not have the code's
// arguments or the code is malformed; kDevice if this host lacks features that the packing code
// requires.
Status CheckFits(const CompiledKernel& code, const Compute& compute, const Target& target) {
  if (target.device && code.work.size() != code.image.phases.size()) {
    return Fail(ErrorCode::kParse, "{}: a stored object does not say what its phases do",
                compute.name);
  }
  const auto check = [&](const std::string& name) -> Status {
    if (IsArgument(compute, name)) return {};
    return Fail(ErrorCode::kParse,
                "{}: a stored object expects argument {}, which the group does not have",
                compute.name, name);
  };
  for (const std::string& argument : code.arguments) {
    if (std::ranges::find(code.prepacks, argument, &CompiledPrepack::packed) !=
        code.prepacks.end()) {
      continue;
    }
    TUNEC_RETURN_IF_ERROR(check(argument));
  }
  for (const CompiledPrepack& prepack : code.prepacks) {
    TUNEC_RETURN_IF_ERROR(check(prepack.weight));
    TUNEC_RETURN_IF_ERROR(CheckRunsHere({.host = {.features = prepack.host_features}}));
    if (prepack.packed_bytes >= 0) continue;
    return Fail(ErrorCode::kParse, "{}: a stored object packs {} into {} bytes", compute.name,
                prepack.weight, prepack.packed_bytes);
  }
  for (const auto& [input, output] : code.in_place) {
    TUNEC_RETURN_IF_ERROR(check(input));
    TUNEC_RETURN_IF_ERROR(check(output));
  }
  return {};
}

// Returns the stored code under this key, or none. Code that is damaged or does not fit the Compute
// counts as missing.
Result<std::optional<CompiledKernel>> FindStored(const Database* database, const std::string& key,
                                                 const Compute& compute, const Target& target,
                                                 std::vector<Line>& lines) {
  if (database == nullptr) return std::nullopt;
  const TraceScope scope("database");
  TUNEC_ASSIGN(const std::optional<Artifact> artifact, database->GetArtifact(key));
  if (!artifact) return std::nullopt;
  Result<CompiledKernel> code = FromArtifact(*artifact);
  const Status fits = code ? CheckFits(*code, compute, target) : std::unexpected(code.error());
  if (fits) return std::move(*code);
  lines.push_back({fits.error().Format()});
  return std::nullopt;
}

// Numbers of a task's skipped schedules, by their origin.
struct Rejections {
  int records = 0;
  int sketches = 0;
};

// Adds a line for developers about a rejected schedule.
void AddRejection(const TuningTask& task, const RankedSchedule& candidate, const Error& error,
                  std::vector<Line>& lines) {
  lines.push_back(
      {.text = fmt::format("{}: the schedule of {} is rejected: {}", task.description,
                           candidate.sketch.empty() ? "a record" : candidate.sketch, error.message),
       .for_developers = true});
}

// Adds a line for users, which the kernel stores, too.
void AddNote(BuiltKernel& kernel, const std::string& text, std::vector<Line>& lines) {
  lines.push_back({text});
  kernel.notes.push_back(text);
}

// Adds a note if a recorded schedule was skipped, or if the naive one is used after others failed.
void NoteSkipped(const TuningTask& task, const Rejections& rejections, BuiltKernel& kernel,
                 std::vector<Line>& lines) {
  if (rejections.records > 0) {
    AddNote(kernel,
            fmt::format("{}: the tuned schedule no longer applies: another one is used; "
                        "tune again",
                        task.description),
            lines);
  } else if (rejections.sketches > 0 && SourceOf(kernel.schedule) == ScheduleSource::kNaive) {
    AddNote(kernel,
            fmt::format("{}: no optimised schedule applies: it runs as plain loops on one thread, "
                        "often many times slower",
                        task.description),
            lines);
  }
}

std::unexpected<Error> MissingSchedule(const TuningTask& task) {
  return Fail(
      ErrorCode::kNotFound,
      "{}: the database has no tuned schedule that applies, and only tuned ones are allowed; "
      "`tunec db explain-miss` compares its keys",
      task.description);
}

bool MayTryAnother(const Error& error) {
  return error.code == ErrorCode::kIllegalSchedule || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kResourceLimit;
}

// Compiles the first schedule that applies, or finds its code in the database. Adds lines and the
// key of new code to the outcome.
Result<BuiltKernel> Build(const TuningTask& task, const Database* database,
                          const CompileOptions& options, const TunerOptions& tuner,
                          ScheduleRanking& ranking, Outcome& outcome) {
  const KernelOptions kernel_options{.target = options.target,
                                     .loops = {.rounding = RoundingFreedomFor(options.accuracy)}};
  Rejections rejections;
  std::optional<Error> last;
  const auto next = [&] {
    const TraceScope scope("sketches");
    return ranking.Next();
  };
  while (const auto candidate = next()) {
    if (options.tuned_only && !IsMeasured(*candidate)) return MissingSchedule(task);
    const Schedule& schedule = candidate->schedule;
    const Compute* compute = FindLowering(task.lowerings, schedule.lowering);
    if (compute == nullptr) continue;
    const std::string key = ArtifactKey(task, schedule, options.target, options.accuracy);
    TUNEC_ASSIGN(std::optional<CompiledKernel> stored,
                 FindStored(database, key, *compute, options.target, outcome.lines));
    const bool reused = stored.has_value();
    Result<CompiledKernel> code =
        reused ? std::move(*stored) : CompileKernel(*compute, schedule, kernel_options);
    if (code) {
      BuiltKernel built{.schedule = *candidate, .reused = reused};
      NoteSkipped(task, rejections, built, outcome.lines);
      if (!reused) outcome.new_key = key;
      TUNEC_ASSIGN(const std::optional<std::string> note,
                   DescribeFallback(database, task, tuner, built.schedule));
      if (note) AddNote(built, *note, outcome.lines);
      built.code = std::make_shared<const CompiledKernel>(*std::move(code));
      return built;
    }
    if (!MayTryAnother(code.error())) return std::unexpected(code.error());
    AddRejection(task, *candidate, code.error(), outcome.lines);
    ++(IsMeasured(*candidate) ? rejections.records : rejections.sketches);
    last = code.error();
  }
  return std::unexpected(
      last.value_or(MakeError(ErrorCode::kInternal, "{}: no schedule exists", task.description)));
}

Outcome OutcomeOf(const TuningTask& task, const Database* database, const CompileOptions& options,
                  const TunerOptions& tuner, Result<ScheduleRanking> ranking) {
  const TraceScope scope(kKernelTrace, task.description);
  Outcome outcome;
  outcome.kernel = ranking ? Build(task, database, options, tuner, *ranking, outcome)
                           : std::unexpected(ranking.error());
  return outcome;
}

// Passes the lines to the callbacks, and stores new code in the database. Returns the kernel.
Result<BuiltKernel> Finish(Outcome outcome, Database* database, const CompileOptions& options) {
  const auto log = [&](const std::string& text) {
    if (options.on_log) options.on_log(text);
  };
  const auto log_misses = [&] {
    if (database != nullptr) std::ranges::for_each(database->TakeMissReasons(), log);
  };
  log_misses();
  for (const Line& line : outcome.lines) {
    if (!line.for_developers)
      log(line.text);
    else if (options.on_detail)
      options.on_detail(line.text);
  }
  if (outcome.kernel && database != nullptr && outcome.new_key) {
    const TraceScope scope("database");
    TUNEC_RETURN_IF_ERROR(
        database->PutArtifact(*outcome.new_key, ToArtifact(*outcome.kernel->code)));
    log_misses();
  }
  return std::move(outcome.kernel);
}

// Returns the number of threads that compile. Usable memory limits the number, since LLVM needs
// hundreds of megabytes for the largest kernels.
int BuildThreads(const CompileOptions& options) {
  constexpr int64_t kBytesPerThread = int64_t{512} << 20;
  const int threads = options.build_threads > 0 ? options.build_threads : UsableProcessors();
  const int64_t memory = UsableMemory();
  if (memory == 0) return threads;
  return static_cast<int>(std::clamp<int64_t>(memory / kBytesPerThread, 1, threads));
}

}  // namespace

Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner,
                                const IsPacked& packed) {
  return Finish(
      OutcomeOf(task, database, options, tuner, ScheduleRanking::Of(database, task, tuner, packed)),
      database, options);
}

namespace {

// Builds the kernels of all tasks. `rank` returns the ranking of a task; it is called in all
// threads.
Result<std::vector<BuiltKernel>> BuildAll(
    const std::vector<TuningTask>& tasks, Database* database, const CompileOptions& options,
    const TunerOptions& tuner, const std::function<Result<ScheduleRanking>(size_t)>& rank) {
  constexpr std::chrono::milliseconds kBetweenPolls{20};
  OrderedResults<Outcome> outcomes(tasks.size(), BuildThreads(options), [&](size_t i) {
    return OutcomeOf(tasks[i], database, options, tuner, rank(i));
  });
  std::vector<BuiltKernel> kernels;
  while (kernels.size() < tasks.size()) {
    if (options.cancelled && options.cancelled())
      return Fail(ErrorCode::kCancelled, "cancelled while compiling");
    std::optional<Outcome> outcome = outcomes.Next(kBetweenPolls);
    if (!outcome) continue;
    TUNEC_ASSIGN(BuiltKernel built, Finish(*std::move(outcome), database, options));
    kernels.push_back(std::move(built));
  }
  if (database != nullptr)
    TUNEC_RETURN_IF_ERROR(database->EvictArtifacts(options.stored_object_bytes));
  return kernels;
}

}  // namespace

Result<std::vector<BuiltKernel>> BuildKernels(const std::vector<TuningTask>& tasks,
                                              Database* database, const CompileOptions& options,
                                              const TunerOptions& tuner,
                                              const std::vector<IsPacked>& packed) {
  return BuildAll(tasks, database, options, tuner, [&](size_t i) {
    return ScheduleRanking::Of(database, tasks[i], tuner, packed.empty() ? IsPacked() : packed[i]);
  });
}

Result<std::vector<BuiltKernel>> BuildRankedKernels(const std::vector<TuningTask>& tasks,
                                                    std::vector<ScheduleRanking> rankings,
                                                    Database* database,
                                                    const CompileOptions& options,
                                                    const TunerOptions& tuner) {
  return BuildAll(tasks, database, options, tuner,
                  [&](size_t i) -> Result<ScheduleRanking> { return std::move(rankings[i]); });
}

}  // namespace tunec
