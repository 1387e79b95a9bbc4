// A function that returns random schedules with steps of most kinds, for property tests.
#pragma once

#include <random>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec::test {

/// Returns a schedule with up to `length` independent random loop steps. Other steps, such as a
/// whole tiling, may be before them. Each step can be applied after the earlier steps. The schedule
/// may be legal or not. Equal arguments and states of `random` give equal schedules.
Schedule RandomSchedule(const Compute& compute, int length, std::mt19937& random);

}  // namespace tunec::test
