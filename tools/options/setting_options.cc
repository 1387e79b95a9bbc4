#include "tools/options/setting_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "graph/onnx/import.h"
#include "support/check.h"
#include "support/duration.h"

namespace tunec {
namespace {

/// A visitor that sets or extends a field from the text of a value. A bool gets Setting::sets.
class TextReader {
 public:
  TextReader(Settings& settings, const Setting& setting, const std::string& text)
      : settings_(settings), setting_(setting), text_(text) {}

  Status operator()(bool Settings::*field) const {
    settings_.*field = setting_.sets;
    return {};
  }
  Status operator()(int Settings::*field) const {
    TUNEC_ASSIGN(const uint64_t number, Whole(static_cast<uint64_t>(setting_.most)));
    settings_.*field = static_cast<int>(number);
    return {};
  }
  Status operator()(double Settings::*field) const {
    const Result<double> seconds = ParseDuration(text_);
    if (!seconds) return Expected("a duration such as 30s, 10m or 1h");
    settings_.*field = *seconds;
    return {};
  }
  Status operator()(uint64_t Settings::*field) const {
    TUNEC_ASSIGN(settings_.*field, Whole(UINT64_MAX));
    return {};
  }
  Status operator()(std::optional<uint64_t> Settings::*field) const {
    TUNEC_ASSIGN(settings_.*field, Whole(UINT64_MAX));
    return {};
  }
  Status operator()(std::string Settings::*field) const {
    settings_.*field = text_;
    return {};
  }
  Status operator()(Accuracy Settings::*field) const {
    auto accuracy = ParseAccuracy(text_);
    if (!accuracy) return Expected(setting_.help);
    settings_.*field = *accuracy;
    return {};
  }
  Status operator()(DatabaseChoice Settings::*field) const {
    settings_.*field = {.kind = DatabaseChoice::Kind::kFile, .path = text_};
    return {};
  }
  Status operator()(std::vector<std::string> Settings::*field) const {
    (settings_.*field).push_back(text_);
    return {};
  }
  Status operator()(std::map<std::string, std::string> Settings::*field) const {
    const size_t equals = text_.rfind('=');  // names of values may contain '='
    if (equals == std::string::npos || equals == 0 || equals + 1 == text_.size())
      return Expected(fmt::format("name={}", setting_.value));
    return Insert(settings_.*field, {text_.substr(0, equals), text_.substr(equals + 1)});
  }
  Status operator()(std::map<std::string, std::vector<int64_t>> Settings::*field) const {
    auto shape = ParseShapeOption(text_);
    if (!shape) return Expected("a shape such as name=1x3x224x224");
    return Insert(settings_.*field, std::move(*shape));
  }
  Status operator()(std::map<std::string, DimSizes> Settings::*field) const {
    const size_t equals = text_.rfind('=');
    std::optional<DimSizes> sizes;
    if (equals != std::string::npos && equals > 0)
      sizes = ParseDimSizes(std::string_view(text_).substr(equals + 1));
    if (!sizes)
      return Expected(
          "a dimension and its size, name=16, several, name=16,32, or a range, name=16..512");
    return Insert(settings_.*field, {text_.substr(0, equals), *std::move(sizes)});
  }

 private:
  std::unexpected<Error> Expected(std::string_view expected) const {
    return Fail(ErrorCode::kInvalidArgument, "{} {}: expected {}", setting_.flag, text_, expected);
  }

  Result<uint64_t> Whole(uint64_t most) const {
    uint64_t number = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(text_.data(), end, number);
    if (problem != std::errc() || stop != end || number > most)
      return Expected(fmt::format("an integer from 0 to {}", most));
    return number;
  }

  template <class Map>
  Status Insert(Map& map, typename Map::value_type entry) const {
    if (map.insert(std::move(entry)).second) return {};
    return Fail(ErrorCode::kInvalidArgument, "{} {}: this name is given twice", setting_.flag,
                text_);
  }

  Settings& settings_;
  const Setting& setting_;
  const std::string& text_;
};

/// A visitor that returns the form of a value in help, after the flag.
struct TypeName {
  std::string_view value;

  std::string operator()(std::map<std::string, std::string> Settings::*) const {
    return fmt::format("NAME={}", value);
  }
  std::string operator()(std::map<std::string, std::vector<int64_t>> Settings::*) const {
    return fmt::format("NAME={}", value);
  }
  std::string operator()(std::map<std::string, DimSizes> Settings::*) const {
    return fmt::format("NAME={}", value);
  }
  template <class Other>
  std::string operator()(Other Settings::*) const {
    return std::string(value);
  }
};

struct IsRepeated {
  template <class Value>
  bool operator()(Value Settings::*) const {
    return requires(Value value) { value.clear(); }
    &&!std::is_same_v<Value, std::string>;
  }
};

std::string HelpOf(const Setting& setting, bool repeated) {
  std::string help(setting.help);
  if (repeated) help += "; may be repeated";
  if (!setting.unset.empty()) help += fmt::format(" (default {})", setting.unset);
  return help;
}

}  // namespace

Status SetFromText(Settings& settings, const Setting& setting, const std::string& text) {
  TUNEC_RETURN_IF_ERROR(std::visit(TextReader(settings, setting, text), setting.field));
  if (setting.check == nullptr) return {};
  if (const Status right = setting.check(settings); !right)
    return Fail(right.error().code, "{} {}: expected {}", setting.flag, text,
                right.error().message);
  return {};
}

CLI::Option& AddSetting(CLI::App& command, Settings& settings, std::string_view name) {
  const Setting* setting = FindSetting(name);
  TUNEC_CHECK(setting != nullptr, "no setting is called {}", name);
  const std::string flag(setting->flag);
  if (const auto* field = std::get_if<bool Settings::*>(&setting->field)) {
    if (setting->sets) return *command.add_flag(flag, settings.*(*field), HelpOf(*setting, false));
    const auto clear = [&settings, field = *field](int64_t) { settings.*field = false; };
    return *command.add_flag_function(flag, clear, HelpOf(*setting, false));
  }
  const bool repeated = std::visit(IsRepeated(), setting->field);
  const auto set = [&settings, setting](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      if (const Status status = SetFromText(settings, *setting, text); !status)
        throw CLI::ValidationError(status.error().message);
    }
    return true;
  };
  CLI::Option* option = command.add_option(flag, set, HelpOf(*setting, repeated));
  option->type_name(std::visit(TypeName{setting->value}, setting->field))->expected(1);
  if (!setting->bare.empty()) option->expected(0, 1)->default_str(std::string(setting->bare));
  if (repeated) option->take_all();
  return *option;
}

void AddSettings(CLI::App& command, Settings& settings,
                 std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) AddSetting(command, settings, name);
}

void AddDatabaseSettings(CLI::App& command, Settings& settings) {
  CLI::Option& file = AddSetting(command, settings, "db");
  const auto leave_out = [&settings](int64_t) {
    settings.database.kind = DatabaseChoice::Kind::kNone;
  };
  command.add_flag_function("--no-db", leave_out, "neither read nor keep tuning results")
      ->excludes(&file);
}

void AddAllSettings(CLI::App& command, Settings& settings) {
  for (const Setting& setting : SettingTable()) {
    if (setting.flag.empty()) continue;
    if (setting.name == "db") {
      AddDatabaseSettings(command, settings);
    } else {
      AddSetting(command, settings, setting.name);
    }
  }
}

}  // namespace tunec
