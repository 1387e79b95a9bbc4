// What a database of before says after its migration is what the sketches write now: what was
// measured then is known, and is not measured again.
#include "db/tables/older_schedules.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "schedule/sketch.h"
#include "tests/schedule/programs.h"

namespace tunec {
namespace {

// A schedule as version 1 of the language had it.
std::string WithoutOrders(const std::string& schedule) {
  std::string older;
  std::istringstream lines(schedule);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("storage_order ")) older += line + "\n";
  }
  return older;
}

// The analytic schedule of a sketch, and others.
std::vector<std::string> SomeSchedules(const Sketch& sketch, std::mt19937& random) {
  std::vector<std::string> schedules = {Print(sketch.Fill(sketch.InitialDecisions()))};
  while (schedules.size() < 20) {
    Decisions decisions;
    for (const Knob& knob : sketch.knobs) {
      decisions.push_back(static_cast<int>(random() % knob.choices.size()));
    }
    schedules.push_back(Print(sketch.Fill(decisions)));
  }
  return schedules;
}

TEST(OlderSchedules, AreWhatSketchesWrite) {
  std::mt19937 random(7);
  const Target target{
      .host = {.features = {"avx2", "fma", "avx512f"}, .vector_bits = 512, .vector_registers = 32}};
  int ordered = 0;
  for (const test::Program& program : test::kPrograms) {
    const Result<Compute> compute = ParseCompute(program.text, "program");
    ASSERT_TRUE(compute) << compute.error().Format();
    for (const Sketch& sketch :
         SketchesFor({{{"direct", *compute}}, target, ReductionOrder::kAny})) {
      for (const std::string& schedule : SomeSchedules(sketch, random)) {
        const std::string older = WithoutOrders(schedule);
        EXPECT_EQ(WithStorageOrders(older, Print(*compute)), schedule) << program.name;
        ordered += schedule != older ? 1 : 0;
      }
    }
  }
  EXPECT_GT(ordered, 100);
}

}  // namespace
}  // namespace tunec
