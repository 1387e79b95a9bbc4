// The speed of an instruction's multiply-adds relative to plain ones, as the ratio of their maximum
// rates. The gain ranks analytic schedules that use different instructions.
#pragma once

#include "db/database.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// Returns a function that computes gains from recorded ceilings. If a ceiling is not recorded, the
/// gain is measured on first use, once per process, and not recorded. Measuring takes 0.5 s, or 2 s
/// on a busy machine. For emulated AMX the gain is a constant. If this machine cannot measure the
/// gain, the function returns 1, so that plain instructions rank first.
/// Requires: `database` outlives the result; it may be null.
ArithmeticGain MeasuredGain(const Database* database, const Target& target);

}  // namespace tunec
