// Faults that tests inject into a candidate after its legality was proven. The checks must detect
// them. A schedule contains its fault as a comment, which the worker also receives.
#pragma once

#include <string>
#include <string_view>

#include "autotune/measure/measure.h"

namespace tunec::testing {

enum class Fault {
  kNone,
  kDropInit,       // accumulators are never initialised
  kReverseIndex,   // the first read reverses its last dimension
  kDropTerm,       // the first sum ends one term too early
  kTwoSteps,       // rounded values are two steps too large
  kOverrun,        // the first write is one row of its tensor too far
  kCrash,          // the worker aborts while it compiles the candidate
  kHang,           // the worker never finishes compiling it
  kHangMeasuring,  // the kernel runs for years
  kExhaust,        // the worker allocates memory until there is none
};

std::string_view Name(Fault fault);

/// Returns the schedule's text with the fault in it.
std::string WithFault(std::string schedule, Fault fault);

/// Returns a hook that injects the faults of schedules; other candidates are unchanged.
CandidateHook PlantedFaults();

}  // namespace tunec::testing
