#include "compiler/kernel_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "autotune/fallback.h"
#include "autotune/keys.h"
#include "ir/in_place.h"
#include "schedule/apply.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr int kFormat = 2;  // of an artifact's metadata

}  // namespace

Artifact ToArtifact(const KernelCode& code) {
  const std::string main = Serialize(code.object);
  nlohmann::json json = {{"format", kFormat},
                         {"arguments", code.arguments},
                         {"in_place", code.in_place},
                         {"bytes", main.size()},
                         {"multiply_adds", code.multiply_adds},
                         {"vector_multiply_adds", code.vector_multiply_adds},
                         {"prepacks", nlohmann::json::array()}};
  Artifact artifact{.object = main};
  for (const PrepackCode& prepack : code.prepacks) {
    const std::string bytes = Serialize(prepack.object);
    json["prepacks"].push_back({{"weight", prepack.weight},
                                {"packed", prepack.packed},
                                {"packed_bytes", prepack.packed_bytes},
                                {"bytes", bytes.size()}});
    artifact.object += bytes;
  }
  artifact.metadata = json.dump();
  return artifact;
}

namespace {

// Cuts the next `size` bytes off the front.
Result<ObjectCode> TakeObject(std::string_view& bytes, size_t size) {
  if (size > bytes.size()) return Fail(ErrorCode::kParse, "an artifact's object is cut short");
  const std::string_view part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return ParseObjectCode(part);
}

Result<KernelCode> FromJson(const nlohmann::json& json, std::string_view bytes) {
  KernelCode code;
  TUNEC_ASSIGN(code.object, TakeObject(bytes, json.at("bytes").get<size_t>()));
  code.arguments = json.at("arguments").get<std::vector<std::string>>();
  code.in_place = json.at("in_place").get<std::vector<std::pair<std::string, std::string>>>();
  code.multiply_adds = json.at("multiply_adds").get<int64_t>();
  code.vector_multiply_adds = json.at("vector_multiply_adds").get<int64_t>();
  for (const nlohmann::json& item : json.at("prepacks")) {
    PrepackCode prepack{.weight = item.at("weight").get<std::string>(),
                        .packed = item.at("packed").get<std::string>(),
                        .packed_bytes = item.at("packed_bytes").get<int64_t>()};
    TUNEC_ASSIGN(prepack.object, TakeObject(bytes, item.at("bytes").get<size_t>()));
    code.prepacks.push_back(std::move(prepack));
  }
  return code;
}

}  // namespace

Result<KernelCode> FromArtifact(const Artifact& artifact) {
  const nlohmann::json json =
      nlohmann::json::parse(artifact.metadata, nullptr, /*allow_exceptions=*/false);
  // nlohmann's access throws on a missing field and on one of another type.
  try {
    if (json.is_discarded() || json.at("format") != kFormat) {
      return Fail(ErrorCode::kParse, "an artifact's metadata is of no known format");
    }
    return FromJson(json, artifact.object);
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kParse, "an artifact's metadata is damaged: {}", error.what());
  }
}

namespace {

Result<KernelCode> CompileKernel(const Compute& compute, const Schedule& schedule,
                                 const CompileOptions& options) {
  TUNEC_ASSIGN(const ScheduledKernel kernel,
               ApplySchedule(compute, schedule, ArithmeticFor(options.accuracy)));
  KernelCode code;
  TUNEC_ASSIGN(code.object, CompileObject(kernel.nest, options.target));
  for (const TensorId id : Arguments(kernel.nest)) {
    code.arguments.push_back(kernel.nest.tensors[id].name);
  }
  for (const InPlacePair& pair : FindInPlacePairs(kernel.nest)) {
    code.in_place.emplace_back(kernel.nest.tensors[pair.input].name,
                               kernel.nest.tensors[pair.output].name);
  }
  const MultiplyAdds work = CountMultiplyAdds(kernel.nest);
  code.multiply_adds = static_cast<int64_t>(work.total);
  code.vector_multiply_adds = static_cast<int64_t>(work.vector);
  for (const LoopNest& nest : kernel.prepack) {
    TUNEC_CHECK(nest.tensors.size() == 2, "prepack {} has {} tensors", nest.name,
                nest.tensors.size());
    PrepackCode prepack{.weight = nest.tensors[0].name, .packed = nest.tensors[1].name};
    prepack.packed_bytes =
        StorageElements(nest.tensors[1]) * static_cast<int64_t>(SizeOf(nest.tensors[1].type));
    TUNEC_ASSIGN(prepack.object, CompileObject(nest, options.target));
    code.prepacks.push_back(std::move(prepack));
  }
  return code;
}

void Log(const CompileOptions& options, const std::string& line) {
  if (options.on_log) options.on_log(line);
}

bool IsArgument(const Compute& compute, const std::string& name) {
  const std::optional<TensorId> id = compute.FindTensor(name);
  if (!id) return false;
  const TensorRole role = compute.tensors[*id].role;
  return role != TensorRole::kWorkspace && role != TensorRole::kLocal;
}

// kParse when the code is called with what a group of this Compute cannot give it.
Status CheckFits(const KernelCode& code, const Compute& compute) {
  const auto check = [&](const std::string& name) -> Status {
    if (IsArgument(compute, name)) return {};
    return Fail(ErrorCode::kParse, "{}: a stored object wants an argument {} that there is not",
                compute.name, name);
  };
  for (const std::string& argument : code.arguments) {
    if (std::ranges::find(code.prepacks, argument, &PrepackCode::packed) != code.prepacks.end()) {
      continue;
    }
    TUNEC_RETURN_IF_ERROR(check(argument));
  }
  for (const PrepackCode& prepack : code.prepacks) {
    TUNEC_RETURN_IF_ERROR(check(prepack.weight));
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

// The stored code under this key; a bad row is a miss.
Result<std::optional<KernelCode>> FindStored(const Database* database, const std::string& key,
                                             const Compute& compute,
                                             const CompileOptions& options) {
  if (database == nullptr) return std::nullopt;
  TUNEC_ASSIGN(const std::optional<Artifact> artifact, database->GetArtifact(key));
  for (const std::string& reason : database->TakeMissReasons()) Log(options, reason);
  if (!artifact) return std::nullopt;
  Result<KernelCode> code = FromArtifact(*artifact);
  const Status fits = code ? CheckFits(*code, compute) : std::unexpected(code.error());
  if (fits) return std::move(*code);
  Log(options, fits.error().Format());
  return std::nullopt;
}

// The schedules of a task that were passed over, in the order of their rank.
struct Refusals {
  int records = 0;
  int sketches = 0;
};

// For those who mend sketches.
void LogRefusal(const CompileOptions& options, const TuningTask& task,
                const RankedSchedule& candidate, const Error& error) {
  if (!options.on_detail) return;
  options.on_detail(fmt::format("{}: the schedule of {} is refused: {}", task.description,
                                candidate.sketch.empty() ? "a record" : candidate.sketch,
                                error.message));
}

// For users: what it costs that schedules were passed over.
void LogFallback(const CompileOptions& options, const TuningTask& task, const Refusals& refusals,
                 const RankedSchedule& used) {
  if (refusals.records > 0) {
    Log(options, fmt::format("{}: the tuned schedule does not apply any more: an untuned one is "
                             "used; tune again",
                             task.description));
  } else if (refusals.sketches > 0 && SourceOf(used) == ScheduleSource::kNaive) {
    Log(options, fmt::format("{}: no optimised schedule applies: it runs as plain loops on one "
                             "thread, often many times slower",
                             task.description));
  }
}

bool MayTryAnother(const Error& error) {
  return error.code == ErrorCode::kIllegalSchedule || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kResourceLimit;
}

}  // namespace

Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner) {
  TUNEC_ASSIGN(ScheduleRanking ranking, ScheduleRanking::Of(database, task, tuner));
  Refusals refusals;
  std::optional<Error> last;
  while (const auto candidate = ranking.Next()) {
    const Schedule& schedule = candidate->schedule;
    const Compute* compute = FindLowering(task, schedule.lowering);
    if (compute == nullptr) continue;
    const std::string key = ArtifactKey(task, schedule, options.target, options.accuracy);
    TUNEC_ASSIGN(std::optional<KernelCode> stored, FindStored(database, key, *compute, options));
    const bool reused = stored.has_value();
    Result<KernelCode> code =
        reused ? std::move(*stored) : CompileKernel(*compute, schedule, options);
    if (code) {
      LogFallback(options, task, refusals, *candidate);
      if (database != nullptr && !reused) {
        TUNEC_RETURN_IF_ERROR(database->PutArtifact(key, ToArtifact(*code)));
      }
      return BuiltKernel{std::move(*code), *candidate, reused};
    }
    if (!MayTryAnother(code.error())) return std::unexpected(code.error());
    LogRefusal(options, task, *candidate, code.error());
    ++(candidate->seconds ? refusals.records : refusals.sketches);
    last = code.error();
  }
  return std::unexpected(
      last.value_or(MakeError(ErrorCode::kInternal, "{}: no schedule at all", task.description)));
}

}  // namespace tunec
