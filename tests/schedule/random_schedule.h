// Random schedules over all steps, for the property test.
#pragma once

#include <random>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec::test {

/// Up to `length` steps with names that exist when the steps before are applied; most make
/// sense, some are refused. Equal seeds give equal schedules.
Schedule RandomSchedule(const Compute& compute, int length, std::mt19937& random);

}  // namespace tunec::test
