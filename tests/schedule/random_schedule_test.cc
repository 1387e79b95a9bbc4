// Random schedules on small Computes of every kind: what is legal gives the interpreter's result;
// what the quick proof accepts, isl accepts too. TUNEC_SCHEDULES=N tries more than CI does, and
// TUNEC_SEED=S others.
#include "tests/schedule/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/schedule/harness.h"
#include "tests/schedule/small_programs.h"

namespace tunec::test {
namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// What became of a candidate.
struct Fates {
  int equal = 0;
  int refused = 0;
  int conservative = 0;  // refused, but right in the orders that the interpreter tried
};

// Applies, checks and runs one candidate; the message is empty where all is well.
std::string Try(const Judge& judge, const Schedule& schedule, Fates& fates) {
  const auto draft = DraftSchedule(judge.compute(), schedule, ReductionOrder::kAny);
  if (!draft) return "the steps fail: " + draft.error().message;
  const Status quick = draft->dependences.Check(draft->tree, ReductionOrder::kAny);
  const Status exact = draft->dependences.CheckExactly(draft->tree, ReductionOrder::kAny);
  if (quick.has_value() != exact.has_value()) return "the quick proof and isl differ";
  const ScheduledKernel kernel{*GenerateLoops(draft->tree), draft->prepack};
  const std::string disagreement = judge.Disagreement(kernel);
  if (quick) {
    ++fates.equal;
    return disagreement;
  }
  ++fates.refused;
  if (disagreement.empty()) ++fates.conservative;
  return quick.error().code == ErrorCode::kIllegalSchedule ? "" : quick.error().message;
}

TEST(RandomSchedules, AreEqualOrRefused) {
  const int count = FromEnvironment("TUNEC_SCHEDULES", 300);
  std::mt19937 random(static_cast<unsigned>(FromEnvironment("TUNEC_SEED", 1)));
  std::vector<Judge> judges;
  for (const std::string_view text : kSmallPrograms) judges.emplace_back(MustParse(text));
  Fates fates;
  for (int i = 0; i < count; ++i) {
    const Judge& judge = judges[random() % judges.size()];
    const int length = 1 + static_cast<int>(random() % 14);
    const Schedule schedule = RandomSchedule(judge.compute(), length, random);
    ASSERT_EQ(*ParseSchedule(Print(schedule), "replay"), schedule);
    ASSERT_EQ(Try(judge, schedule, fates), "") << judge.compute().name << "\n" << Print(schedule);
  }
  std::cout << fates.equal << " equal, " << fates.refused << " refused (" << fates.conservative
            << " of them right in the orders tried), 0 wrong\n";
  EXPECT_GT(fates.equal, count / 5);
  EXPECT_GT(fates.refused, count / 20);
  // A refusal means something: most refused schedules, forced through, are wrong.
  EXPECT_LT(fates.conservative, fates.refused / 2);
}

}  // namespace
}  // namespace tunec::test
