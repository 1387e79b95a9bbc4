// Faults that tests plant in a candidate after its legality was proven, to see that the checks
// catch them.
#pragma once

#include <optional>
#include <string_view>

#include "ir/loop_nest.h"

namespace tunec {

enum class Fault {
  kNone,
  kDropInit,       // accumulators are never initialised
  kReverseIndex,   // the first read walks its last dimension backwards
  kDropTerm,       // the first sum ends one term too early
  kTwoSteps,       // rounded values are two steps too large
  kOverrun,        // the first write lies one row of its tensor too far
  kCrash,          // the worker aborts while it compiles the candidate
  kHang,           // the worker never finishes compiling it
  kHangMeasuring,  // the worker never finishes timing it
  kExhaust,        // the worker asks for memory until there is none
};

std::string_view Name(Fault fault);
std::optional<Fault> ParseFault(std::string_view name);

/// The nest with the fault in it; unchanged for faults that are not in the code.
LoopNest Corrupt(LoopNest nest, Fault fault);

/// Does what kCrash, kHang and kExhaust say; returns for the others. kExhaust ends in
/// std::bad_alloc.
void Misbehave(Fault fault);
/// The same for kHangMeasuring.
void MisbehaveMeasuring(Fault fault);

}  // namespace tunec
