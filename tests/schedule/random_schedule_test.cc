// Tests of random schedules on small random Computes. A legal schedule must give the interpreter's
// result. The quick proof of legality and isl must agree, unless one of them gives up.
// TUNEC_SCHEDULES=N sets the number of schedules, and TUNEC_SEED=S selects other schedules.
#include "tests/schedule/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "schedule/steps/step_text.h"
#include "tests/programs/random_program.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/try_schedule.h"

namespace tunec::test {
namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<int>(std::strtol(text, nullptr, 10));
}

TEST(RandomSchedules, AreEqualOrRejected) {
  const int count = FromEnvironment("TUNEC_SCHEDULES", 300);
  std::mt19937 random(static_cast<unsigned>(FromEnvironment("TUNEC_SEED", 1)));
  std::map<Fate, int> fates;
  for (int i = 0; i < count; ++i) {
    const ScheduleChecker checker(RandomProgram(random));
    const int length = 1 + static_cast<int>(random() % 14);
    const Schedule schedule = RandomSchedule(checker.compute(), length, random);
    ASSERT_EQ(*ParseSchedule(Print(schedule), "replay"), schedule);
    const Trial trial = TrySchedule(checker, schedule);
    ASSERT_NE(trial.fate, Fate::kWrong) << trial.reason << "\n"
                                        << Print(checker.compute()) << Print(schedule);
    ++fates[trial.fate];
  }
  const int rejected = fates[Fate::kRejected] + fates[Fate::kConservative];
  std::cout << fates[Fate::kEqual] << " equal, " << rejected << " rejected ("
            << fates[Fate::kConservative] << " of them right in the orders tried), 0 wrong\n";
  EXPECT_GT(fates[Fate::kEqual], count / 5);
  EXPECT_GT(rejected, count / 20);
  // Most rejections are justified: fewer than half of the rejected schedules gave right results.
  EXPECT_LT(fates[Fate::kConservative], rejected / 2);
}

std::string FirstWord(const std::string& line) { return line.substr(0, line.find(' ')); }

// A step that occurs in no random schedule would not be fuzzed.
TEST(RandomSchedules, HaveEveryStep) {
  std::set<std::string> missing;
  for (const std::string& form : ComputeStepForms()) missing.insert(FirstWord(form));
  for (const std::string& form : LoopStepForms()) missing.insert(FirstWord(form));
  missing.erase("non_temporal");  // not drawn, because it only changes machine code
  missing.erase("widen");         // no random program reads a narrow type
  std::mt19937 random(1);
  for (int i = 0; i < 2000 && !missing.empty(); ++i) {
    std::istringstream lines(Print(RandomSchedule(RandomProgram(random), 14, random)));
    for (std::string line; std::getline(lines, line);) missing.erase(FirstWord(line));
  }
  EXPECT_EQ(missing, std::set<std::string>()) << "needs a case in random_schedule.cc";
}

// An instruction that occurs in no random schedule would not be fuzzed.
TEST(RandomSchedules, HaveTilesOfVectorsAndMatrices) {
  std::set<std::string> missing = {"fma.avx2", "dpbf16.avx512", "amx.bf16"};
  std::mt19937 random(1);
  for (int i = 0; i < 4000 && !missing.empty(); ++i) {
    for (const LoopStep& step : RandomSchedule(RandomProgram(random), 14, random).loop_steps) {
      if (const auto* tile = std::get_if<TensorizeStep>(&step)) missing.erase(tile->intrinsic);
    }
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

}  // namespace
}  // namespace tunec::test
