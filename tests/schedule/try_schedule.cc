#include "tests/schedule/try_schedule.h"

#include "polyhedral/generate.h"
#include "polyhedral/legality.h"

namespace tunec::test {
namespace {

Trial OfLegal(const Judge& judge, const ScheduledKernel& kernel, const Judge::Runner& code) {
  std::string problem = judge.Disagreement(kernel);
  if (!problem.empty()) return {Fate::kWrong, "it is called legal: " + problem};
  if (code) problem = judge.Disagreement(kernel, code);
  if (!problem.empty()) return {Fate::kWrong, "machine code: " + problem};
  return {Fate::kEqual, ""};
}

}  // namespace

Trial TrySchedule(const Judge& judge, const Schedule& schedule, const Judge::Runner& code) {
  const auto draft = DraftSchedule(judge.compute(), schedule, AnyArithmetic());
  if (!draft) return {Fate::kWrong, "the steps fail: " + draft.error().message};
  const Status quick = draft->dependences.Check(draft->tree, ReductionOrder::kAny);
  if (!quick && quick.error().code == ErrorCode::kResourceLimit) {
    return {Fate::kRefused, quick.error().message};
  }
  const Status exact = draft->dependences.CheckExactly(draft->tree, ReductionOrder::kAny);
  const bool gave_up = !exact && exact.error().code == ErrorCode::kResourceLimit;
  if (!gave_up && quick.has_value() != exact.has_value()) {
    return {Fate::kWrong, "the quick proof and isl differ"};
  }
  const Result<LoopNest> nest = GenerateLoops(draft->tree, Contraction::kFused);
  if (!nest) return {Fate::kWrong, "no loops: " + nest.error().message};
  const ScheduledKernel kernel{*nest, draft->prepack};
  if (quick) return OfLegal(judge, kernel, code);
  if (quick.error().code != ErrorCode::kIllegalSchedule) {
    return {Fate::kWrong, quick.error().message};
  }
  const bool right = judge.Disagreement(kernel).empty();
  return {right ? Fate::kConservative : Fate::kRefused, quick.error().message};
}

}  // namespace tunec::test
