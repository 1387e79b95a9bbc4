#include "compiler/kernel_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "autotune/fallback.h"
#include "autotune/keys.h"
#include "device/open_device.h"
#include "kernel/compile_kernel.h"

namespace tunec {
namespace {

void Log(const CompileOptions& options, const std::string& line) {
  if (options.on_log) options.on_log(line);
}

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

void LogMisses(const CompileOptions& options, const Database& database) {
  for (const std::string& reason : database.TakeMissReasons()) Log(options, reason);
}

// Returns the stored code under this key. Code that is damaged or does not fit the Compute counts
// as missing.
Result<std::optional<CompiledKernel>> FindStored(const Database* database, const std::string& key,
                                                 const Compute& compute,
                                                 const CompileOptions& options) {
  if (database == nullptr) return std::nullopt;
  TUNEC_ASSIGN(const std::optional<Artifact> artifact, database->GetArtifact(key));
  LogMisses(options, *database);
  if (!artifact) return std::nullopt;
  Result<CompiledKernel> code = FromArtifact(*artifact);
  const Status fits =
      code ? CheckFits(*code, compute, options.target) : std::unexpected(code.error());
  if (fits) return std::move(*code);
  Log(options, fits.error().Format());
  return std::nullopt;
}

// Numbers of a task's skipped schedules, by their origin.
struct Rejections {
  int records = 0;
  int sketches = 0;
};

// Logs a rejected schedule for developers of sketches.
void LogRejection(const CompileOptions& options, const TuningTask& task,
                  const RankedSchedule& candidate, const Error& error) {
  if (!options.on_detail) return;
  options.on_detail(fmt::format("{}: the schedule of {} is rejected: {}", task.description,
                                candidate.sketch.empty() ? "a record" : candidate.sketch,
                                error.message));
}

// Logs a line for users and stores the line in the kernel.
void Note(const CompileOptions& options, BuiltKernel& kernel, const std::string& line) {
  Log(options, line);
  kernel.notes.push_back(line);
}

// Adds a note for users if the kernel is slower because schedules were skipped.
void NotePassedOver(const CompileOptions& options, const TuningTask& task,
                    const Rejections& rejections, BuiltKernel& kernel) {
  if (rejections.records > 0) {
    Note(options, kernel,
         fmt::format("{}: the tuned schedule no longer applies: an untuned one is used; "
                     "tune again",
                     task.description));
  } else if (rejections.sketches > 0 && SourceOf(kernel.schedule) == ScheduleSource::kNaive) {
    Note(options, kernel,
         fmt::format("{}: no optimised schedule applies: it runs as plain loops on one thread, "
                     "often many times slower",
                     task.description));
  }
}

bool MayTryAnother(const Error& error) {
  return error.code == ErrorCode::kIllegalSchedule || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kResourceLimit;
}

}  // namespace

Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner,
                                IsPacked packed) {
  TUNEC_ASSIGN(ScheduleRanking ranking,
               ScheduleRanking::Of(database, task, tuner, std::move(packed)));
  const KernelOptions kernel_options{.target = options.target,
                                     .loops = {.rounding = RoundingFreedomFor(options.accuracy)}};
  Rejections rejections;
  std::optional<Error> last;
  while (const auto candidate = ranking.Next()) {
    const Schedule& schedule = candidate->schedule;
    const Compute* compute = FindLowering(task.lowerings, schedule.lowering);
    if (compute == nullptr) continue;
    const std::string key = ArtifactKey(task, schedule, options.target, options.accuracy);
    TUNEC_ASSIGN(std::optional<CompiledKernel> stored,
                 FindStored(database, key, *compute, options));
    const bool reused = stored.has_value();
    Result<CompiledKernel> code =
        reused ? std::move(*stored) : CompileKernel(*compute, schedule, kernel_options);
    if (code) {
      BuiltKernel built{.schedule = *candidate, .reused = reused};
      NotePassedOver(options, task, rejections, built);
      if (database != nullptr && !reused) {
        TUNEC_RETURN_IF_ERROR(database->PutArtifact(key, ToArtifact(*code)));
        LogMisses(options, *database);
      }
      built.code = std::make_shared<const CompiledKernel>(*std::move(code));
      return built;
    }
    if (!MayTryAnother(code.error())) return std::unexpected(code.error());
    LogRejection(options, task, *candidate, code.error());
    ++(candidate->seconds ? rejections.records : rejections.sketches);
    last = code.error();
  }
  return std::unexpected(
      last.value_or(MakeError(ErrorCode::kInternal, "{}: no schedule exists", task.description)));
}

Result<std::vector<BuiltKernel>> BuildKernels(const std::vector<TuningTask>& tasks,
                                              Database* database, const CompileOptions& options,
                                              const TunerOptions& tuner,
                                              const std::vector<IsPacked>& packed) {
  std::vector<BuiltKernel> kernels;
  for (const TuningTask& task : tasks) {
    const IsPacked of_task = packed.empty() ? IsPacked() : packed[kernels.size()];
    if (options.cancelled && options.cancelled()) {
      return Fail(ErrorCode::kCancelled, "cancelled while compiling");
    }
    TUNEC_ASSIGN(BuiltKernel built, BuildKernel(task, database, options, tuner, of_task));
    TUNEC_ASSIGN(const std::optional<std::string> note,
                 DescribeFallback(database, task, tuner, built.schedule));
    if (note) Note(options, built, *note);
    kernels.push_back(std::move(built));
  }
  return kernels;
}

}  // namespace tunec
