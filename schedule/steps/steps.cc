#include "schedule/steps/compute_steps.h"
#include "schedule/steps/loop_steps.h"

namespace tunec {

static_assert(AreSteps<ComputeStepVariant> && AreSteps<LoopStepVariant>);

template <class Variant>
AnyStepOf<Variant>::AnyStepOf() = default;
template <class Variant>
AnyStepOf<Variant>::AnyStepOf(const AnyStepOf& step) = default;
template <class Variant>
AnyStepOf<Variant>::AnyStepOf(AnyStepOf&& step) noexcept = default;
template <class Variant>
AnyStepOf<Variant>& AnyStepOf<Variant>::operator=(const AnyStepOf& step) = default;
template <class Variant>
AnyStepOf<Variant>& AnyStepOf<Variant>::operator=(AnyStepOf&& step) noexcept = default;
template <class Variant>
AnyStepOf<Variant>::~AnyStepOf() = default;

template <class Variant>
bool AnyStepOf<Variant>::operator==(const AnyStepOf& step) const {
  return static_cast<const Variant&>(*this) == static_cast<const Variant&>(step);
}

template class AnyStepOf<ComputeStepVariant>;
template class AnyStepOf<LoopStepVariant>;

}  // namespace tunec
