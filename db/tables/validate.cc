#include "db/tables/validate.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "db/tables/text.h"

namespace tunec {
namespace {

Status CheckAmount(const char* field, double value) {
  if (std::isfinite(value) && value >= 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is {}, expected a finite number not below 0", field,
              value);
}

}  // namespace

Status ValidateText(const char* field, const std::string& text) {
  if (IsStorableText(text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is not UTF-8 text without zero bytes", field);
}

Status ValidateName(const char* field, const std::string& text) {
  if (text.empty()) return Fail(ErrorCode::kInvalidArgument, "{} is empty", field);
  return ValidateText(field, text);
}

Status ValidateCharge(const std::string& model, int64_t trials) {
  TUNEC_RETURN_IF_ERROR(ValidateName("model", model));
  if (trials >= 0) return {};
  return Fail(ErrorCode::kParse, "a charge of model '{}' has {} trials", model, trials);
}

Status Validate(const WorkloadKey& workload) {
  TUNEC_RETURN_IF_ERROR(ValidateName("workload text", workload.text));
  TUNEC_RETURN_IF_ERROR(ValidateText("workload kind", workload.kind));
  TUNEC_RETURN_IF_ERROR(ValidateText("workload description", workload.description));
  TUNEC_RETURN_IF_ERROR(CheckAmount("workload flops", workload.flops));
  return CheckAmount("workload bytes", workload.bytes);
}

Status Validate(const TuningKey& key) {
  TUNEC_RETURN_IF_ERROR(Validate(key.workload));
  TUNEC_RETURN_IF_ERROR(ValidateName("target text", key.target));
  TUNEC_RETURN_IF_ERROR(ValidateText("policy text", key.policy));
  if (key.schedule_version >= 1) return {};
  return Fail(ErrorCode::kInvalidArgument, "schedule version is {}, expected at least 1",
              key.schedule_version);
}

Status Validate(const TrialRecord& trial) {
  TUNEC_RETURN_IF_ERROR(ValidateName("schedule", trial.schedule));
  if (TrialStatusName(trial.status).empty()) {
    return Fail(ErrorCode::kInvalidArgument, "trial status is {}, expected one of 1 to 7",
                std::to_underlying(trial.status));
  }
  TUNEC_RETURN_IF_ERROR(CheckAmount("median", trial.median_seconds));
  if (trial.status == TrialStatus::kOk && trial.median_seconds == 0) {
    return Fail(ErrorCode::kInvalidArgument, "median of an ok trial is 0, expected more");
  }
  TUNEC_RETURN_IF_ERROR(CheckAmount("mad", trial.mad_seconds));
  for (const double sample : trial.samples) TUNEC_RETURN_IF_ERROR(CheckAmount("sample", sample));
  if (trial.accuracy_error && !(*trial.accuracy_error >= 0)) {
    return Fail(ErrorCode::kInvalidArgument, "accuracy error is {}, expected at least 0",
                *trial.accuracy_error);
  }
  TUNEC_RETURN_IF_ERROR(ValidateText("message", trial.message));
  TUNEC_RETURN_IF_ERROR(CheckAmount("compile time", trial.compile_ms));
  TUNEC_RETURN_IF_ERROR(CheckAmount("check time", trial.check_ms));
  TUNEC_RETURN_IF_ERROR(CheckAmount("measure time", trial.measure_ms));
  TUNEC_RETURN_IF_ERROR(ValidateText("note", trial.note));
  if (trial.created_at < 0) {
    return Fail(ErrorCode::kInvalidArgument, "creation time is {}, expected unix seconds",
                trial.created_at);
  }
  return ValidateText("tool version", trial.tool_version);
}

Status Validate(const MachineFact& fact) {
  TUNEC_RETURN_IF_ERROR(ValidateName("fact name", fact.name));
  TUNEC_RETURN_IF_ERROR(ValidateText("fact text", fact.text));
  if (!std::isfinite(fact.value)) {
    return Fail(ErrorCode::kInvalidArgument, "fact '{}' is {}, expected a finite number", fact.name,
                fact.value);
  }
  if (fact.created_at >= 0) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "creation time of fact '{}' is {}, expected unix seconds", fact.name,
              fact.created_at);
}

TrialRecord Normalised(TrialRecord trial) {
  trial.id = 0;
  trial.message = MakeStorable(trial.message);
  trial.note = MakeStorable(trial.note);
  if (trial.status != TrialStatus::kOk) trial.median_seconds = 0;
  if (trial.accuracy_error && std::isnan(*trial.accuracy_error)) trial.accuracy_error.reset();
  if (trial.created_at == 0) trial.created_at = UnixNow();
  return trial;
}

int64_t UnixNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace tunec
