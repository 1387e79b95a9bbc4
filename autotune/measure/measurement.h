// Types of the requests to measure candidates, and of the results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/measure/measure_time.h"
#include "db/records.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// A task in the form that the worker receives.
struct Workload {
  std::vector<NamedCompute> lowerings;
  Target target;
  Accuracy accuracy;
  uint64_t seed = 0;                      // seed of the random arguments
  std::string device = {};                // DeviceChoice::name
  std::vector<std::string> callers = {};  // TuningTask::callers
};

struct CandidateRequest {
  std::string schedule;  // text of the schedule
};

/// The fastest candidate of a task that is known so far.
struct Incumbent {
  std::string schedule;
  double seconds = 0;  // recorded seconds of one run
  bool operator==(const Incumbent&) const = default;
};

/// The outcome of one candidate: the measured fields of a TrialRecord, and the code.
struct Measurement {
  TrialStatus status = TrialStatus::kOk;
  /// Seconds per run, one entry for each sample. A wrong result has one entry, the time of the
  /// checked run. If the host emulates the target's device, a correct candidate has one entry, the
  /// predicted time, and a wrong one has none. Other failures have none.
  std::vector<double> samples;
  /// The median ratio to the incumbent's time in the same turns, and the lower end of its interval
  /// of 90 %, or the least ratio of fewer than five. None without an incumbent.
  std::optional<double> ratio = {};
  std::optional<double> low_ratio = {};
  std::optional<double> accuracy_error;
  std::string message;  // reason of a failure; if correct, the assembler's warnings
  double compile_ms = 0;
  double check_ms = 0;
  double measure_ms = 0;
  /// The code that was checked, and timed unless emulated. None for failures and after Compare.
  std::optional<Artifact> artifact = {};
  /// Facts about the code, the check and the timing, as fields of a trial's note:
  /// `code.registers=40 code.spilled=0`. May be empty.
  std::string note = {};
  bool operator==(const Measurement&) const = default;
};

/// Stores the samples, the median ratio and the lower end of its interval.
void SetTimes(const TimesInTurns& times, Measurement& measurement);

}  // namespace tunec
