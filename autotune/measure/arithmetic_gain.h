// The speed of an instruction's multiply-adds relative to plain float32 multiply-adds, as the ratio
// of the maximum rates. The gain ranks analytic schedules that use different instructions.
#pragma once

#include <functional>

#include "db/database.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

/// The use of the processor's timing lock (timing_lock.h) for measuring gains.
struct GainLock {
  bool use = true;
  std::function<bool()> cancelled = {};  // ends a wait for the lock; may be empty
};

/// Returns a function that computes gains from recorded ceilings, rounded to powers of the square
/// root of 2. If a ceiling is not recorded, the gain is measured on first use, once per process,
/// and not recorded. Measuring takes about 0.8 s, or about 3 s on a busy machine. For emulated AMX
/// the gain is a constant. The gain is 1 for plain multiply-adds, for instructions of devices, if
/// this machine cannot measure the gain, and if the wait for the lock is cancelled. Requires:
/// `database` outlives the result; it may be null.
ArithmeticGain MeasuredGain(const Database* database, const Target& target, GainLock lock = {});

}  // namespace tunec
