#include "schedule/steps/compute_steps.h"
#include "schedule/steps/loop_steps.h"

namespace tunec {

static_assert(AreSteps<ComputeStepVariant> && AreSteps<LoopStepVariant>);

LoopStep::LoopStep() = default;
LoopStep::LoopStep(const LoopStep& step) = default;
LoopStep::LoopStep(LoopStep&& step) noexcept = default;
LoopStep& LoopStep::operator=(const LoopStep& step) = default;
LoopStep& LoopStep::operator=(LoopStep&& step) noexcept = default;
LoopStep::~LoopStep() = default;

bool LoopStep::operator==(const LoopStep& step) const {
  return static_cast<const LoopStepVariant&>(*this) == static_cast<const LoopStepVariant&>(step);
}

ComputeStep::ComputeStep() = default;
ComputeStep::ComputeStep(const ComputeStep& step) = default;
ComputeStep::ComputeStep(ComputeStep&& step) noexcept = default;
ComputeStep& ComputeStep::operator=(const ComputeStep& step) = default;
ComputeStep& ComputeStep::operator=(ComputeStep&& step) noexcept = default;
ComputeStep::~ComputeStep() = default;

bool ComputeStep::operator==(const ComputeStep& step) const {
  return static_cast<const ComputeStepVariant&>(*this) ==
         static_cast<const ComputeStepVariant&>(step);
}

}  // namespace tunec
