// What becomes of a schedule: judged by both proofs of legality and by the interpreter.
#pragma once

#include <string>

#include "schedule/schedule.h"
#include "tests/schedule/harness.h"

namespace tunec::test {

enum class Fate {
  kEqual,         // legal, and the interpreter agrees
  kRefused,       // illegal, and wrong when it is forced through
  kConservative,  // illegal, but right in the orders that the interpreter tried
  kWrong,         // a defect of ours
};

struct Trial {
  Fate fate = Fate::kWrong;
  std::string reason;  // of a refusal or a defect
};

/// Applies the steps, asks the quick proof and isl, and interprets the loops, illegal ones too.
/// Legal loops also go through `code`, if given. A schedule for which isl gives up is refused, and
/// not forced.
Trial TrySchedule(const Judge& judge, const Schedule& schedule, const Judge::Runner& code = {});

}  // namespace tunec::test
