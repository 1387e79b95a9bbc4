#include "db/tables/codec.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

// Each `Fields` lists the fields of one kind of line once, for writing and reading. The field
// `record` is not listed.

template <class Archive>
void Fields(Archive& archive, HeaderLine& line) {
  archive("version", line.version);
}

template <class Archive>
void Fields(Archive& archive, TargetLine& line) {
  archive("id", line.id);
  archive("text", line.text);
}

template <class Archive>
void Fields(Archive& archive, FactLine& line) {
  archive("target", line.target);
  archive("name", line.fact.name);
  archive("value", line.fact.value);
  archive("text", line.fact.text);
  archive("created_at", line.fact.created_at);
}

template <class Archive>
void Fields(Archive& archive, WorkloadLine& line) {
  archive("id", line.id);
  archive("kind", line.workload.kind);
  archive("description", line.workload.description);
  archive("flops", line.workload.flops);
  archive("bytes", line.workload.bytes);
  archive("text", line.workload.text);
}

template <class Archive>
void Fields(Archive& archive, TaskLine& line) {
  archive("id", line.id);
  archive("workload", line.workload);
  archive("target", line.target);
  archive("policy", line.policy);
  archive("schedule_version", line.schedule_version);
  archive("converged", line.converged);
  archive.MayLack("converged_by", line.converged_by);
  archive.MayLack("converged_bound", line.converged_bound);
}

template <class Archive>
void Fields(Archive& archive, ChargeLine& line) {
  archive("task", line.task);
  archive("model", line.model);
  archive("trials", line.trials);
}

template <class Archive>
void Fields(Archive& archive, TrialLine& line) {
  archive("task", line.task);
  archive("status", line.trial.status);
  archive("median_seconds", line.trial.median_seconds);
  archive("mad_seconds", line.trial.mad_seconds);
  archive("samples", line.trial.samples);
  archive("accuracy_error", line.trial.accuracy_error);
  archive("schedule", line.trial.schedule);
  archive("message", line.trial.message);
  archive("compile_ms", line.trial.compile_ms);
  archive("check_ms", line.trial.check_ms);
  archive("measure_ms", line.trial.measure_ms);
  archive("note", line.trial.note);
  archive("created_at", line.trial.created_at);
  archive("tool_version", line.trial.tool_version);
  archive.MayLack("chosen", line.chosen);
}

/// Values of a line's field `record`, by the position of the line's type in ExchangeLine.
constexpr const char* kLineNames[] = {"tunec_database", "target", "machine", "workload",
                                      "task",           "trial",  "charge"};
static_assert(std::size(kLineNames) == std::variant_size_v<ExchangeLine>);

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}
  template <class Value>
  void operator()(const char* name, const Value& value) {
    object_[name] = value;
  }
  template <class Value>
  void MayLack(const char* name, const Value& value) {
    (*this)(name, value);
  }
  void operator()(const char* name, TrialStatus status) {
    object_[name] = std::string(TrialStatusName(status));
  }
  void operator()(const char* name, const std::optional<double>& value) {
    if (!value) {
      object_[name] = nullptr;
    } else if (std::isinf(*value)) {
      object_[name] = "inf";  // JSON has no infinite numbers
    } else {
      object_[name] = *value;
    }
  }

 private:
  Json& object_;
};

/// A reader of the fields of a JSON object. It stores the first error.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class Value>
  void operator()(const char* name, Value& value) {
    const auto field = object_.find(name);
    if (field == object_.end()) return Complain(fmt::format("field '{}' is missing", name));
    ++known_;
    if (!Get(*field, value)) Complain(fmt::format("field '{}' has a wrong value", name));
  }

  /// Reads a field that exports of older versions lack. A missing field does not change `value`.
  template <class Value>
  void MayLack(const char* name, Value& value) {
    if (object_.contains(name)) (*this)(name, value);
  }

  Status Finish(size_t other_fields) const {
    if (!complaint_.empty()) return Fail(ErrorCode::kParse, "{}", complaint_);
    if (object_.size() == known_ + other_fields) return {};
    return Fail(ErrorCode::kParse, "{} unknown or repeated fields",
                object_.size() - known_ - other_fields);
  }

  static bool Get(const Json& field, int64_t& value) {
    if (!field.is_number_integer()) return false;
    if (field.is_number_unsigned() &&
        field.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
      return false;
    }
    value = field.get<int64_t>();
    return true;
  }
  static bool Get(const Json& field, bool& value) {
    if (!field.is_boolean()) return false;
    value = field.get<bool>();
    return true;
  }
  static bool Get(const Json& field, double& value) {
    if (!field.is_number()) return false;
    value = field.get<double>();
    return std::isfinite(value);
  }
  static bool Get(const Json& field, std::string& value) {
    if (!field.is_string()) return false;
    value = field.get<std::string>();
    return true;
  }
  static bool Get(const Json& field, std::optional<double>& value) {
    if (field.is_null()) return true;
    if (field == "inf") {
      value = std::numeric_limits<double>::infinity();
      return true;
    }
    return Get(field, value.emplace());
  }
  static bool Get(const Json& field, std::vector<double>& value) {
    if (!field.is_array()) return false;
    value.resize(field.size());
    for (size_t i = 0; i < value.size(); ++i) {
      if (!Get(field[i], value[i])) return false;
    }
    return true;
  }
  static bool Get(const Json& field, TrialStatus& value) {
    if (!field.is_string()) return false;
    const auto status = FindTrialStatus(field.get_ref<const std::string&>());
    value = status.value_or(value);
    return status.has_value();
  }

 private:
  void Complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  const Json& object_;
  size_t known_ = 0;
  std::string complaint_;
};

template <size_t index = 0>
Result<ExchangeLine> DecodeNamed(const std::string& name, const Json& object) {
  if constexpr (index == std::variant_size_v<ExchangeLine>) {
    return Fail(ErrorCode::kParse, "unknown record '{}'", name);
  } else {
    if (name != kLineNames[index]) return DecodeNamed<index + 1>(name, object);
    std::variant_alternative_t<index, ExchangeLine> line;
    Reader reader(object);
    Fields(reader, line);
    TUNEC_RETURN_IF_ERROR(reader.Finish(1));
    return line;
  }
}

}  // namespace

std::string EncodeSamples(const std::vector<double>& samples) { return Json(samples).dump(); }

std::optional<std::vector<double>> DecodeSamples(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  std::vector<double> samples;
  if (!Reader::Get(json, samples)) return std::nullopt;
  return samples;
}

bool IsJson(std::string_view text) { return Json::accept(text); }

std::string EncodeLine(const ExchangeLine& line) {
  Json object;
  object["record"] = kLineNames[line.index()];
  Writer writer(object);
  std::visit([&](auto copy) { Fields(writer, copy); }, line);
  return object.dump();
}

Result<ExchangeLine> DecodeLine(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return Fail(ErrorCode::kParse, "not a JSON object");
  const auto name = object.find("record");
  if (name == object.end() || !name->is_string()) {
    return Fail(ErrorCode::kParse, "field 'record' is missing");
  }
  return DecodeNamed(name->get<std::string>(), object);
}

}  // namespace tunec
