// A function that compares a sketch's schedule with the expected one in the file
// sketches/NAME.sched. `tools/dev bless` rewrites the files.
#pragma once

#include <filesystem>
#include <string>

#include "schedule/schedule.h"
#include "tests/golden/golden_file.h"

namespace tunec::test {

/// Expects that the printed schedule equals the file sketches/NAME.sched.
inline void ExpectSchedule(const std::string& name, const Schedule& schedule) {
  ExpectGolden(std::filesystem::path(TUNEC_TEST_DATA) / "schedule/sketches" / (name + ".sched"),
               Print(schedule));
}

}  // namespace tunec::test
