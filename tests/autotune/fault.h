// Faults that tests inject into candidates. The tuner must detect them. A schedule's text contains
// its fault as a comment, which the worker also receives.
#pragma once

#include <string>
#include <string_view>

#include "autotune/measure/measure.h"

namespace tunec::testing {

enum class Fault {
  kNone,
  kDropInit,       // accumulators are never initialised
  kReverseIndex,   // the first read of an input reverses its last index
  kDropTerm,       // the first reduction loop ends one iteration early
  kTwoSteps,       // the results of `round` in a store are 2 too large
  kOverrun,        // the first write to an output is one row too far
  kOverrunPacked,  // the same in the packing of a weight; the kernel has no fault
  kCrash,          // the worker aborts while it compiles the candidate
  kHang,           // the worker never finishes compiling it
  kHangMeasuring,  // the kernel repeats a reduction for years
  kExhaust,        // the worker allocates memory until there is none
};

std::string_view Name(Fault fault);

/// Returns the schedule's text, followed by a comment that names the fault.
std::string WithFault(std::string schedule, Fault fault);

/// Returns a hook that injects the fault that a schedule's text names, if there is one.
CandidateHook PlantedFaults();

}  // namespace tunec::testing
