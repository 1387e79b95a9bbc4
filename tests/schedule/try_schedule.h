// A function that checks a schedule by the quick proof of legality, by isl and by the interpreter.
#pragma once

#include <string>

#include "schedule/schedule.h"
#include "tests/schedule/harness.h"

namespace tunec::test {

enum class Fate {
  kEqual,         // legal, and the interpreter agrees
  kRejected,      // illegal, and wrong if run anyway
  kConservative,  // illegal, but right in the orders that the interpreter tried
  kWrong,         // a defect of tunec
};

struct Trial {
  Fate fate = Fate::kWrong;
  std::string reason;  // reason of a rejection or a defect
};

/// Applies the steps, runs the quick proof and isl, and interprets the loops, even if illegal.
/// Legal loops also run through `code`, if given. A schedule for which the quick proof gives up is
/// rejected without a run. Steps that do not apply are a defect.
Trial TrySchedule(const ScheduleChecker& checker, const Schedule& schedule,
                  const ScheduleChecker::Runner& code = {});

}  // namespace tunec::test
