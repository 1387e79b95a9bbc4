// How much faster than plain multiply-adds an instruction multiplies: by their ceilings, which
// rank analytic schedules of different arithmetic.
#pragma once

#include "db/database.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// By what is recorded; else by what is measured when it is first asked for, once in a process,
/// which takes half a second, or two on a busy machine, and is not recorded. 1, so that plain ones
/// stay first, where this machine cannot measure it. `database` may be null; it must outlive the
/// result.
ArithmeticGain MeasuredGain(const Database* database, const Target& target);

}  // namespace tunec
