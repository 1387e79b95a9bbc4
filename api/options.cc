#include "api/options.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "support/duration.h"

namespace tunec {
namespace {

using Json = nlohmann::json;

/// A visitor that sets a setting's field from a JSON value, with one overload per type of field.
class JsonReader {
 public:
  JsonReader(Settings& settings, const Setting& setting, const Json& value)
      : settings_(settings), setting_(setting), value_(value) {}

  Status operator()(bool Settings::*field) const {
    if (!value_.is_boolean()) return Expected("true or false");
    settings_.*field = value_.get<bool>();
    return {};
  }
  Status operator()(int Settings::*field) const {
    TUNEC_ASSIGN(const uint64_t number, Whole(static_cast<uint64_t>(setting_.most)));
    settings_.*field = static_cast<int>(number);
    return {};
  }
  Status operator()(double Settings::*field) const {
    const Result<double> seconds =
        ParseDuration(value_.is_string() ? value_.get<std::string>() : "");
    if (!seconds) return Expected("a duration such as \"30s\", \"10m\" or \"1h\"");
    settings_.*field = *seconds;
    return {};
  }
  Status operator()(uint64_t Settings::*field) const {
    TUNEC_ASSIGN(settings_.*field, Whole(std::numeric_limits<uint64_t>::max()));
    return {};
  }
  Status operator()(std::optional<uint64_t> Settings::*field) const {
    TUNEC_ASSIGN(settings_.*field, Whole(std::numeric_limits<uint64_t>::max()));
    return {};
  }
  Status operator()(std::string Settings::*field) const {
    TUNEC_ASSIGN(settings_.*field, Text(value_));
    return {};
  }
  Status operator()(Accuracy Settings::*field) const;
  Status operator()(DatabaseChoice Settings::*field) const;
  Status operator()(std::vector<std::string> Settings::*field) const;
  Status operator()(std::map<std::string, std::string> Settings::*field) const;
  Status operator()(std::map<std::string, std::vector<int64_t>> Settings::*field) const;
  Status operator()(std::map<std::string, DimSizes> Settings::*field) const;

  std::unexpected<Error> Expected(std::string_view expected) const {
    return Fail(ErrorCode::kInvalidArgument, "option '{}' is {}, expected {}", setting_.name,
                value_.dump(-1, ' ', true, Json::error_handler_t::replace), expected);
  }

 private:
  /// Returns whether the value is an integer from 0 to `most`.
  static bool IsWhole(const Json& value, uint64_t most) {
    return value.is_number_unsigned() && value.get<uint64_t>() <= most;
  }
  /// Returns whether the value is an integer from 0 to 2^63 - 1, the range of int64_t sizes.
  static bool IsSize(const Json& value) {
    return IsWhole(value, std::numeric_limits<int64_t>::max());
  }

  Result<uint64_t> Whole(uint64_t most) const {
    if (!IsWhole(value_, most)) return Expected(fmt::format("an integer from 0 to {}", most));
    return value_.get<uint64_t>();
  }

  /// Converts `value`, which is the option's value or an element of it, to a string. Fails if
  /// `value` is not a string or contains a zero byte.
  Result<std::string> Text(const Json& value) const {
    if (!value.is_string()) return Expected(JsonForm(setting_));
    auto text = value.get<std::string>();
    if (text.contains('\0')) return Expected("text without zero bytes");
    return text;
  }

  Settings& settings_;
  const Setting& setting_;
  const Json& value_;
};

Status JsonReader::operator()(Accuracy Settings::*field) const {
  if (value_.is_number() && value_.get<double>() > 0) {
    settings_.*field = {AccuracyMode::kBound, value_.get<double>()};
    return {};
  }
  const auto named = ParseAccuracy(value_.is_string() ? value_.get<std::string>() : "");
  if (!named) return Expected(setting_.help);
  settings_.*field = *named;
  return {};
}

Status JsonReader::operator()(DatabaseChoice Settings::*field) const {
  DatabaseChoice& choice = settings_.*field;
  if (!value_.is_null()) {
    TUNEC_ASSIGN(choice.path, Text(value_));
  }
  choice.kind = choice.path.empty() ? DatabaseChoice::Kind::kNone : DatabaseChoice::Kind::kFile;
  return {};
}

Status JsonReader::operator()(std::vector<std::string> Settings::*field) const {
  if (!value_.is_array()) return Expected(JsonForm(setting_));
  for (const Json& part : value_) {
    TUNEC_ASSIGN(std::string text, Text(part));
    (settings_.*field).push_back(std::move(text));
  }
  return {};
}

Status JsonReader::operator()(std::map<std::string, std::string> Settings::*field) const {
  if (!value_.is_object()) return Expected(JsonForm(setting_));
  const bool may_be_numbers = field == static_cast<decltype(field)>(&Settings::constants);
  for (const auto& [name, part] : value_.items()) {
    if (may_be_numbers && (part.is_number() || part.is_boolean() || part.is_array())) {
      (settings_.*field)[name] = part.dump();
      continue;
    }
    TUNEC_ASSIGN((settings_.*field)[name], Text(part));
  }
  return {};
}

Status JsonReader::operator()(std::map<std::string, std::vector<int64_t>> Settings::*field) const {
  if (!value_.is_object()) return Expected(JsonForm(setting_));
  for (const auto& [name, sizes] : value_.items()) {
    if (!sizes.is_array()) return Expected(JsonForm(setting_));
    std::vector<int64_t>& shape = (settings_.*field)[name];
    for (const Json& size : sizes) {
      if (!IsSize(size)) return Expected(JsonForm(setting_));
      shape.push_back(size.get<int64_t>());
    }
  }
  return {};
}

Status JsonReader::operator()(std::map<std::string, DimSizes> Settings::*field) const {
  if (!value_.is_object()) return Expected(JsonForm(setting_));
  for (const auto& [name, given] : value_.items()) {
    if (given.is_string()) {
      const std::optional<DimSizes> range = ParseDimSizes(given.get<std::string>());
      if (!range) return Expected(JsonForm(setting_));
      (settings_.*field)[name] = *range;
      continue;
    }
    const Json sizes = given.is_array() ? given : Json::array({given});
    if (sizes.empty()) return Expected(JsonForm(setting_));
    for (const Json& size : sizes) {
      if (!IsSize(size)) return Expected(JsonForm(setting_));
      (settings_.*field)[name].sizes.push_back(size.get<int64_t>());
    }
  }
  return {};
}

Status ReadKey(Settings& settings, std::string_view name, const Json& value) {
  const Setting* setting = FindSetting(name);
  if (setting == nullptr) {
    std::vector<std::string_view> known;
    for (const Setting& one : SettingTable()) known.push_back(one.name);
    return Fail(ErrorCode::kInvalidArgument, "unknown option '{}', expected one of {}", name,
                fmt::join(known, ", "));
  }
  const JsonReader reader(settings, *setting, value);
  TUNEC_RETURN_IF_ERROR(std::visit(reader, setting->field));
  if (setting->check == nullptr) return {};
  const Status right = setting->check(settings);
  return right ? Status() : reader.Expected(right.error().message);
}

/// A JSON reader that only stores the position of the first syntax error.
struct SyntaxErrorPosition : nlohmann::json_sax<Json> {
  size_t position = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string&, const Json::exception&) override {
    position = at;
    return false;
  }
};

/// Parses JSON. Fails with kParse for malformed JSON. `what` names the text in the error message.
Result<Json> ParseJson(std::string_view json, std::string_view what) {
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!value.is_discarded()) return value;
  SyntaxErrorPosition error;
  Json::sax_parse(json, &error);
  return Fail(ErrorCode::kParse, "the {} are not valid JSON at byte {}", what, error.position);
}

}  // namespace

Result<Settings> ParseApiOptions(std::string_view json) {
  Settings settings;
  settings.spelling = OptionSpelling::kJson;
  if (json.empty()) return settings;
  TUNEC_ASSIGN(const Json object, ParseJson(json, "options"));
  if (!object.is_object())
    return Fail(ErrorCode::kInvalidArgument, "the options are a JSON {}, expected an object",
                object.type_name());
  for (const auto& [name, value] : object.items())
    TUNEC_RETURN_IF_ERROR(ReadKey(settings, name, value));
  return settings;
}

Result<EdgeLayouts> ParseApiLayouts(std::string_view json) {
  Settings settings;
  TUNEC_ASSIGN(const Json layouts, ParseJson(json, "layouts"));
  TUNEC_RETURN_IF_ERROR(ReadKey(settings, "layouts", layouts));
  return settings.layouts;
}

}  // namespace tunec
