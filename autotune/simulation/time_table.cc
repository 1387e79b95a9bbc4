#include "autotune/simulation/time_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;
constexpr int64_t kMostSketches = 1000;
constexpr int64_t kMostChoices = 10'000;  // also the limit of the number of knobs
constexpr double kMostSeconds = 1e6;      // also the limit of a ratio
constexpr double kMostSpread = 10;
constexpr const char* kVersionKey = "tunec_times";

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToJson(const TableSketch& sketch) {
  Json knobs = Json::array();
  for (const Knob& knob : sketch.knobs) {
    knobs.push_back({{"name", knob.name}, {"choices", knob.choices}, {"initial", knob.initial}});
  }
  return {{"sketch", sketch.name}, {"knobs", std::move(knobs)}};
}

std::string LineOf(const TableEntry& entry) {
  const std::string candidate =
      fmt::format("[{},[{}]", entry.sketch, fmt::join(entry.decisions, ","));
  if (entry.status == TrialStatus::kOk) {
    return fmt::format("{},{},{}]\n", candidate, entry.ratio, entry.spread);
  }
  return fmt::format("{},\"{}\"]\n", candidate, TrialStatusName(entry.status));
}

// Reads an integer from `least` to `most`. The library's own conversions would wrap and truncate.
Result<int64_t> WholeFrom(const Json& json, const char* what, int64_t least, int64_t most) {
  const bool huge = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX};
  if (json.is_number_integer() && !huge && json.get<int64_t>() >= least &&
      json.get<int64_t>() <= most) {
    return json.get<int64_t>();
  }
  return Fail(ErrorCode::kParse, "{} is {}, expected a whole number from {} to {}", what,
              Dump(json), least, most);
}

Result<double> NumberFrom(const Json& json, const char* what, double least, double most) {
  if (json.is_number() && json.get<double>() >= least && json.get<double>() <= most) {
    return json.get<double>();
  }
  return Fail(ErrorCode::kParse, "{} is {}, expected a number from {} to {}", what, Dump(json),
              least, most);
}

Result<TrialStatus> FailureFrom(const Json& json) {
  const auto status = FindTrialStatus(json.get<std::string>());
  if (status && *status != TrialStatus::kOk) return *status;
  return Fail(ErrorCode::kParse, "{} is no status of a failure", Dump(json));
}

Result<Knob> KnobFrom(const Json& json) {
  Knob knob{.name = json.at("name").get<std::string>()};
  for (const Json& choice : json.at("choices")) {
    TUNEC_ASSIGN(const int64_t value, WholeFrom(choice, "a choice", INT64_MIN, INT64_MAX));
    knob.choices.push_back(value);
  }
  TUNEC_ASSIGN(const int64_t choices,
               WholeFrom(std::ssize(knob.choices), "the number of choices", 1, kMostChoices));
  TUNEC_ASSIGN(const int64_t initial,
               WholeFrom(json.at("initial"), "the initial choice", 0, choices - 1));
  knob.initial = static_cast<int>(initial);
  return knob;
}

// A reader of the lines of a table.
class TableReader {
 public:
  Status Take(std::string_view line) {
    try {
      const Json json = Json::parse(line);
      if (table_.fixed_seconds == 0) return TakeHeader(json);
      return json.is_array() ? TakeEntry(json) : TakeSketch(json);
    } catch (const Json::exception& problem) {
      return Fail(ErrorCode::kParse, "malformed line: {}", problem.what());
    }
  }

  Result<TimeTable> Finish() && {
    std::vector<bool> filled(table_.sketches.size());
    bool any = false;
    for (const TableEntry& entry : table_.entries) {
      filled[entry.sketch] = true;
      any |= entry.status == TrialStatus::kOk;
    }
    for (size_t s = 0; s < filled.size(); ++s) {
      if (filled[s]) continue;
      return Fail(ErrorCode::kParse, "sketch '{}' has no candidate", table_.sketches[s].name);
    }
    if (!any) return Fail(ErrorCode::kParse, "no candidate is ok");
    if (table_.fixed_sketch >= std::ssize(table_.sketches)) {
      return Fail(ErrorCode::kParse, "the fixed kernel's sketch {} is missing",
                  table_.fixed_sketch);
    }
    return std::move(table_);
  }

 private:
  Status TakeHeader(const Json& json) {
    if (!json.is_object() || !json.contains(kVersionKey)) {
      return Fail(ErrorCode::kParse, "the first line has no '{}'", kVersionKey);
    }
    TUNEC_ASSIGN(const int64_t version,
                 WholeFrom(json.at(kVersionKey), "the version", 1, INT64_MAX));
    if (version != kVersion) {
      return Fail(ErrorCode::kUnsupported, "a table of version {}, expected {}", version, kVersion);
    }
    json.at("workload").get_to(table_.workload);
    json.at("description").get_to(table_.description);
    json.at("target").get_to(table_.target);
    TUNEC_ASSIGN(const int64_t sketch,
                 WholeFrom(json.at("fixed_sketch"), "fixed_sketch", 0, kMostSketches - 1));
    table_.fixed_sketch = static_cast<int>(sketch);
    TUNEC_ASSIGN(table_.fixed_seconds,
                 NumberFrom(json.at("fixed_seconds"), "fixed_seconds", 1e-9, kMostSeconds));
    return {};
  }

  Status TakeSketch(const Json& json) {
    TableSketch sketch{.name = json.at("sketch").get<std::string>()};
    for (const Json& knob : json.at("knobs")) {
      TUNEC_ASSIGN(Knob one, KnobFrom(knob));
      sketch.knobs.push_back(std::move(one));
    }
    if (std::ssize(sketch.knobs) > kMostChoices || std::ssize(table_.sketches) >= kMostSketches) {
      return Fail(ErrorCode::kParse, "too many knobs or sketches");
    }
    table_.sketches.push_back(std::move(sketch));
    return {};
  }

  Status TakeEntry(const Json& json) {
    TUNEC_ASSIGN(const int64_t sketch,
                 WholeFrom(json.at(0), "the sketch", 0, std::ssize(table_.sketches) - 1));
    TableEntry entry{.sketch = static_cast<int>(sketch)};
    const std::vector<Knob>& knobs = table_.sketches[sketch].knobs;
    const Json& positions = json.at(1);
    if (!positions.is_array() || positions.size() != knobs.size()) {
      return Fail(ErrorCode::kParse, "the decisions are {}, expected a list of {}", Dump(positions),
                  knobs.size());
    }
    for (size_t k = 0; k < knobs.size(); ++k) {
      TUNEC_ASSIGN(const int64_t position,
                   WholeFrom(positions[k], "a decision", 0, std::ssize(knobs[k].choices) - 1));
      entry.decisions.push_back(static_cast<int>(position));
    }
    if (json.size() == 3) {
      TUNEC_ASSIGN(entry.status, FailureFrom(json.at(2)));
    } else {
      TUNEC_ASSIGN(entry.ratio, NumberFrom(json.at(2), "the ratio", 1e-6, kMostSeconds));
      TUNEC_ASSIGN(entry.spread, NumberFrom(json.at(3), "the spread", 0, kMostSpread));
    }
    if (!seen_.emplace(entry.sketch, entry.decisions).second) {
      return Fail(ErrorCode::kParse, "the candidate is in an earlier line");
    }
    table_.entries.push_back(std::move(entry));
    return {};
  }

  TimeTable table_;
  std::set<std::pair<int, Decisions>> seen_;
};

double Distance(const std::vector<Knob>& knobs, const Decisions& a, const Decisions& b) {
  double distance = 0;
  for (size_t k = 0; k < knobs.size(); ++k) {
    const auto most = static_cast<double>(knobs[k].choices.size() - 1);
    if (most > 0) distance += std::abs(a[k] - b[k]) / most;
  }
  return distance;
}

}  // namespace

std::string Print(const TimeTable& table) {
  const Json header = {{kVersionKey, kVersion},
                       {"workload", table.workload},
                       {"description", table.description},
                       {"target", table.target},
                       {"fixed_sketch", table.fixed_sketch},
                       {"fixed_seconds", table.fixed_seconds}};
  std::string text = Dump(header) + "\n";
  for (const TableSketch& sketch : table.sketches) text += Dump(ToJson(sketch)) + "\n";
  for (const TableEntry& entry : table.entries) text += LineOf(entry);
  return text;
}

Result<TimeTable> ParseTimeTable(std::string_view text, const std::string& name) {
  TableReader reader;
  int line = 0;
  const auto at_line = [&](Error error) {
    error.where = SourceLocation{name, line, 0};
    return std::unexpected(std::move(error));
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ++line;
    if (Status taken = reader.Take(text.substr(0, end)); !taken) {
      return at_line(std::move(taken).error());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Result<TimeTable> table = std::move(reader).Finish();
  if (!table) return at_line(std::move(table).error());
  return table;
}

const TableEntry& NearestEntry(const TimeTable& table, int sketch, const Decisions& decisions) {
  const std::vector<Knob>& knobs = table.sketches[sketch].knobs;
  const TableEntry* nearest = nullptr;
  double least = 0;
  for (const TableEntry& entry : table.entries) {
    if (entry.sketch != sketch) continue;
    const double distance = Distance(knobs, entry.decisions, decisions);
    if (nearest != nullptr && distance >= least) continue;
    nearest = &entry;
    least = distance;
  }
  TUNEC_CHECK(nearest != nullptr, "sketch {} has no entry", sketch);
  return *nearest;
}

}  // namespace tunec
