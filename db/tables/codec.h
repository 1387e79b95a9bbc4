// The text forms inside and outside the file: sample lists, and the lines of an export.
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

/// A JSON array of numbers.
std::string EncodeSamples(const std::vector<double>& samples);
std::optional<std::vector<double>> DecodeSamples(std::string_view text);

bool IsJson(std::string_view text);

/// The lines of an export, in the order in which they may refer to each other. Numbers called
/// id hold within one file, from its header on.
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
  int64_t converged = 0;  // the search space's number; 0: not
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
  TrialRecord trial;  // without its row id
  bool operator==(const TrialLine&) const = default;
};
using ExchangeLine =
    std::variant<HeaderLine, TargetLine, FactLine, WorkloadLine, TaskLine, TrialLine, ChargeLine>;

/// Version 1 had no charges, and no reasons of convergence; up to 2 notes numbered some sketches;
/// up to 3 schedules were of version 1 of their language. All are still read.
inline constexpr int64_t kExchangeVersion = 6;

/// One line of JSON without the line break. The texts must be storable.
std::string EncodeLine(const ExchangeLine& line);
/// kParse naming the field that is missing, unknown or of the wrong kind.
Result<ExchangeLine> DecodeLine(std::string_view text);

}  // namespace tunec
