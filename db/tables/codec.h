// Functions that convert the samples of a trial and the lines of an export to text and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Returns `samples` as a JSON array of numbers. DecodeSamples returns none for any other text.
std::string EncodeSamples(const std::vector<double>& samples);
std::optional<std::vector<double>> DecodeSamples(std::string_view text);

bool IsJson(std::string_view text);

/// The first line of an export. The structs up to ExchangeLine are the kinds of lines. A line
/// refers only to ids of earlier lines. Ids are valid up to the next header: several exports may be
/// concatenated.
struct HeaderLine {
  int64_t version = 1;
  bool operator==(const HeaderLine&) const = default;
};
struct TargetLine {
  int64_t id = 0;
  std::string text;
  bool operator==(const TargetLine&) const = default;
};
struct FactLine {
  int64_t target = 0;
  MachineFact fact;
  bool operator==(const FactLine&) const = default;
};
struct WorkloadLine {
  int64_t id = 0;
  WorkloadKey workload;
  bool operator==(const WorkloadLine&) const = default;
};
struct TaskLine {
  int64_t id = 0;
  int64_t workload = 0;
  int64_t target = 0;
  std::string policy;
  int64_t schedule_version = 1;
  int64_t converged = 0;  // number of the search space; 0: not converged
  int64_t converged_by = 0;
  double converged_bound = 0;
  bool operator==(const TaskLine&) const = default;
};
struct ChargeLine {
  int64_t task = 0;
  std::string model;
  int64_t trials = 0;
  bool operator==(const ChargeLine&) const = default;
};
struct TrialLine {
  int64_t task = 0;
  TrialRecord trial;    // without its row id
  bool chosen = false;  // the task's chosen trial
  bool operator==(const TrialLine&) const = default;
};
using ExchangeLine =
    std::variant<HeaderLine, TargetLine, FactLine, WorkloadLine, TaskLine, TrialLine, ChargeLine>;

/// Version of the format of exports. All older versions can be read. Version 1 had no charges and
/// no reasons of convergence. Up to version 2, notes had numbers instead of names for some
/// sketches. Up to version 3, schedules had version 1 of their language. Up to version 5, wrong
/// results may be errors of an earlier checker, and are not imported. Up to version 6, there were
/// no choices, and the median of a trial could differ from that of its samples.
inline constexpr int64_t kExchangeVersion = 7;

/// Returns one line of JSON without the line break. Requires: IsStorableText of all texts.
std::string EncodeLine(const ExchangeLine& line);
/// Decodes a line. Fails with kParse if the line is not a JSON object of a known record, lacks a
/// required field, or has an unknown or wrong field. The message has the reason.
Result<ExchangeLine> DecodeLine(std::string_view text);

}  // namespace tunec
