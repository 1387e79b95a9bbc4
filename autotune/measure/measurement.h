// What is sent to be measured and what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "db/records.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// A task as the worker sees it.
struct Workload {
  std::vector<NamedCompute> lowerings;
  Target target;
  Accuracy accuracy;
  uint64_t seed = 0;                      // of the random arguments
  std::string device = {};                // DeviceChoice::name
  std::vector<std::string> callers = {};  // TuningTask::callers
};

struct CandidateRequest {
  std::string schedule;  // its text
};

/// The fastest candidate known so far.
struct Incumbent {
  std::string schedule;
  double seconds = 0;  // of one run, as it is recorded
  bool operator==(const Incumbent&) const = default;
};

/// The outcome of one candidate: the fields of a TrialRecord that measuring decides.
struct Measurement {
  TrialStatus status = TrialStatus::kOk;
  /// Seconds; of a wrong result that of the run that was checked. On a device they are as if the
  /// incumbent took what is recorded of it (TimeBeside). Where the host stands in for the
  /// target's device, the predicted time alone: the emulation's own say nothing.
  std::vector<double> samples;
  std::optional<double> accuracy_error;
  std::string message;  // why it failed; of a correct one, what its assembler warns of
  double compile_ms = 0;
  double check_ms = 0;
  double measure_ms = 0;
  /// Of a correct candidate: the code that was checked and timed.
  std::optional<Artifact> artifact = {};
  /// What is known of its code and how it was checked, as fields of a trial's note:
  /// `code.registers=40 code.spilled=0`. May be empty.
  std::string note = {};
  bool operator==(const Measurement&) const = default;
};

}  // namespace tunec
