#include "api/options.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "ir/array.h"
#include "support/duration.h"

namespace tunec {
namespace {

using Json = nlohmann::json;

std::unexpected<Error> Wrong(std::string_view key, const Json& value, std::string_view wanted) {
  return Fail(ErrorCode::kInvalidArgument, "option '{}' is {}, expected {}", key,
              value.dump(-1, ' ', true, Json::error_handler_t::replace), wanted);
}

Result<uint64_t> ReadWhole(std::string_view key, const Json& value, uint64_t most) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most)
    return Wrong(key, value, fmt::format("an integer from 0 to {}", most));
  return value.get<uint64_t>();
}

Result<std::string> ReadText(std::string_view key, const Json& value) {
  if (!value.is_string()) return Wrong(key, value, "a string");
  auto text = value.get<std::string>();
  if (text.contains('\0')) return Wrong(key, value, "a string without zero bytes");
  return text;
}

Status ReadTarget(ApiOptions&, std::string_view key, const Json& value) {
  if (value != "cpu") return Wrong(key, value, "\"cpu\"");
  return {};
}

Status ReadThreads(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(const uint64_t threads, ReadWhole(key, value, kMostThreads));
  options.threads = static_cast<int>(threads);
  return {};
}

Status ReadTrials(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(const uint64_t trials, ReadWhole(key, value, std::numeric_limits<int>::max()));
  options.trials = static_cast<int>(trials);
  return {};
}

Status ReadTimeLimit(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(const std::string text, ReadText(key, value));
  const Result<double> seconds = ParseDuration(text);
  if (!seconds) return Wrong(key, value, "a duration such as \"30s\", \"10m\" or \"1h\"");
  options.time_limit_seconds = *seconds;
  return {};
}

Status ReadRetune(ApiOptions& options, std::string_view key, const Json& value) {
  if (!value.is_array()) return Wrong(key, value, "a list of groups");
  for (const Json& group : value) {
    TUNEC_ASSIGN(std::string text, ReadText(key, group));
    options.retune.push_back(std::move(text));
  }
  return {};
}

Status ReadVerbose(ApiOptions& options, std::string_view key, const Json& value) {
  if (!value.is_boolean()) return Wrong(key, value, "true or false");
  options.verbose = value.get<bool>();
  return {};
}

Status ReadAccuracy(ApiOptions& options, std::string_view key, const Json& value) {
  if (value.is_number() && value.get<double>() > 0) {
    options.accuracy = {AccuracyMode::kBound, value.get<double>()};
    return {};
  }
  if (!value.is_string()) return Wrong(key, value, "a name such as \"f32\" or a positive number");
  TUNEC_ASSIGN(options.accuracy, ParseAccuracy(value.get<std::string>()));
  return {};
}

Status ReadCpu(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(options.cpu, ReadText(key, value));
  return {};
}

Status ReadDatabase(ApiOptions& options, std::string_view key, const Json& value) {
  if (value.is_null()) {
    options.database.kind = DatabaseChoice::Kind::kNone;
    return {};
  }
  TUNEC_ASSIGN(options.database.path, ReadText(key, value));
  options.database.kind =
      options.database.path.empty() ? DatabaseChoice::Kind::kNone : DatabaseChoice::Kind::kFile;
  return {};
}

Status ReadSeed(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(options.seed, ReadWhole(key, value, std::numeric_limits<uint64_t>::max()));
  return {};
}

Status ReadRules(ApiOptions& options, std::string_view key, const Json& value) {
  if (!value.is_array()) return Wrong(key, value, "a list of paths");
  for (const Json& path : value) {
    TUNEC_ASSIGN(std::string text, ReadText(key, path));
    options.rules.push_back(std::move(text));
  }
  return {};
}

Status ReadFastMath(ApiOptions& options, std::string_view key, const Json& value) {
  if (!value.is_boolean()) return Wrong(key, value, "true or false");
  options.fast_math = value.get<bool>();
  return {};
}

Status ReadShapes(ApiOptions& options, std::string_view key, const Json& value) {
  constexpr std::string_view kWanted = "an object of lists of sizes, {\"input\": [1, 3]}";
  if (!value.is_object()) return Wrong(key, value, kWanted);
  for (const auto& [name, sizes] : value.items()) {
    if (!sizes.is_array()) return Wrong(key, value, kWanted);
    std::vector<int64_t>& shape = options.model.shapes[name];
    for (const Json& size : sizes) {
      if (!size.is_number_unsigned()) return Wrong(key, value, kWanted);
      shape.push_back(size.get<int64_t>());
    }
    if (ElementCount(shape) < 0) return Wrong(key, value, "at most 2^48 elements");
  }
  return {};
}

Status ReadConstants(ApiOptions& options, std::string_view key, const Json& value) {
  if (!value.is_object())
    return Wrong(key, value, "an object of files, {\"input\": \"input.npy\"}");
  for (const auto& [name, path] : value.items()) {
    TUNEC_ASSIGN(options.model.constants[name], ReadText(key, path));
  }
  return {};
}

Status ReadRandomWeights(ApiOptions& options, std::string_view key, const Json& value) {
  TUNEC_ASSIGN(options.model.random_weights,
               ReadWhole(key, value, std::numeric_limits<uint64_t>::max()));
  return {};
}

struct Key {
  std::string_view name;
  Status (*read)(ApiOptions& options, std::string_view key, const Json& value);
};
constexpr std::array kKeys = {
    Key{"target", ReadTarget},
    Key{"threads", ReadThreads},
    Key{"trials", ReadTrials},
    Key{"time_limit", ReadTimeLimit},
    Key{"retune", ReadRetune},
    Key{"verbose", ReadVerbose},
    Key{"accuracy", ReadAccuracy},
    Key{"cpu", ReadCpu},
    Key{"db", ReadDatabase},
    Key{"seed", ReadSeed},
    Key{"rules", ReadRules},
    Key{"fast_math", ReadFastMath},
    Key{"shapes", ReadShapes},
    Key{"constants", ReadConstants},
    Key{"random_weights", ReadRandomWeights},
};

Status ReadKey(ApiOptions& options, std::string_view name, const Json& value) {
  std::string known;
  for (const Key& key : kKeys) {
    if (key.name == name) return key.read(options, name, value);
    known += (known.empty() ? "" : ", ") + std::string(key.name);
  }
  return Fail(ErrorCode::kInvalidArgument, "unknown option '{}', expected one of {}", name, known);
}

}  // namespace

Result<ApiOptions> ParseApiOptions(std::string_view json) {
  ApiOptions options;
  if (json.empty()) return options;
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Fail(ErrorCode::kParse, "the options are not valid JSON");
  if (!object.is_object())
    return Fail(ErrorCode::kInvalidArgument, "the options are a JSON {}, expected an object",
                object.type_name());
  for (const auto& [name, value] : object.items())
    TUNEC_RETURN_IF_ERROR(ReadKey(options, name, value));
  return options;
}

}  // namespace tunec
