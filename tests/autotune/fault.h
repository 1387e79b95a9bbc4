// Faults that tests plant in a candidate after its legality was proven, to see that the checks
// catch them. A schedule carries its fault as a comment, so that it reaches a worker.
#pragma once

#include <string>
#include <string_view>

#include "autotune/measure/measure.h"

namespace tunec::testing {

enum class Fault {
  kNone,
  kDropInit,       // accumulators are never initialised
  kReverseIndex,   // the first read walks its last dimension backwards
  kDropTerm,       // the first sum ends one term too early
  kTwoSteps,       // rounded values are two steps too large
  kOverrun,        // the first write lies one row of its tensor too far
  kCrash,          // the worker aborts while it compiles the candidate
  kHang,           // the worker never finishes compiling it
  kHangMeasuring,  // the kernel does not end in this century
  kExhaust,        // the worker asks for memory until there is none
};

std::string_view Name(Fault fault);

/// The schedule's text with the fault in it.
std::string WithFault(std::string schedule, Fault fault);

/// What happens to candidates whose schedules carry a fault; to others nothing does.
CandidateHook PlantedFaults();

}  // namespace tunec::testing
