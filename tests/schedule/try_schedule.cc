#include "tests/schedule/try_schedule.h"

#include "kernel/loop_pipeline.h"
#include "polyhedral/legality/legality.h"

namespace tunec::test {
namespace {

Trial OfLegal(const ScheduleChecker& checker, const KernelLoops& kernel,
              const ScheduleChecker::Runner& code) {
  std::string problem = checker.Disagreement(kernel);
  if (!problem.empty()) return {Fate::kWrong, "it is called legal: " + problem};
  if (code) problem = checker.Disagreement(kernel, code);
  if (!problem.empty()) return {Fate::kWrong, "machine code: " + problem};
  return {Fate::kEqual, ""};
}

}  // namespace

Trial TrySchedule(const ScheduleChecker& checker, const Schedule& schedule,
                  const ScheduleChecker::Runner& code) {
  const auto trees = DraftSchedule(checker.compute(), schedule, AnyRounding());
  if (!trees) return {Fate::kWrong, "the steps fail: " + trees.error().message};
  const ScheduledTree& draft = trees->kernel;
  const Status quick = CheckLegality(draft.dependences, draft.tree, ReductionOrder::kAny);
  if (!quick && quick.error().code == ErrorCode::kResourceLimit) {
    return {Fate::kRejected, quick.error().message};
  }
  const Status exact = CheckLegalityExactly(draft.dependences, draft.tree, ReductionOrder::kAny);
  const bool gave_up = !exact && exact.error().code == ErrorCode::kResourceLimit;
  if (!gave_up && quick.has_value() != exact.has_value()) {
    return {Fate::kWrong, "the quick proof and isl differ"};
  }
  const auto kernel = RunLoopPipeline(
      checker.compute(), schedule,
      {.rounding = AnyRounding(), .verify = VerifyStages::kEach, .legality = Legality::kReport});
  if (!kernel) return {Fate::kWrong, "no loops: " + kernel.error().message};
  if (quick) return OfLegal(checker, *kernel, code);
  if (quick.error().code != ErrorCode::kIllegalSchedule) {
    return {Fate::kWrong, quick.error().message};
  }
  const bool right = checker.Disagreement(*kernel).empty();
  return {right ? Fate::kConservative : Fate::kRejected, quick.error().message};
}

}  // namespace tunec::test
