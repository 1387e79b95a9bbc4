#include "runtime/bundle/read_sizes.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "runtime/bundle/stored_sizes.h"
#include "runtime/shared_constants.h"

namespace tunec::bundle {
namespace {

// Returns whether the step is a kernel whose written arguments are exactly its constants without
// data that no earlier step names. Returns false if an argument is not a constant. Marks the step's
// constants as named.
bool MakesWhatItWrites(const StoredStep& step, const std::vector<KernelContract>& kernels,
                       const StoredPlan& stored, std::vector<bool>& named) {
  bool holds = step.kernel != kNothing;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    const ValueRef& ref = step.arguments[i];
    holds = holds && ref.kind == ValueRef::Kind::kConstant &&
            kernels[step.kernel].arguments[i].written ==
                (stored.constants[ref.index].offset == kNothing && !named[ref.index]);
  }
  for (const ValueRef& ref : step.arguments)
    if (ref.kind == ValueRef::Kind::kConstant) named[ref.index] = true;
  return holds;
}

// Prepares a plan to share packed weights with the variant's other plans. A kernel of the table
// makes the same result from the same bytes of the file in all these plans. Requires: a checked
// plan.
void SharePacked(const StoredPlan& stored, const std::vector<KernelContract>& kernels,
                 const std::shared_ptr<SharedConstants>& shared, ExecutablePlan& plan) {
  plan.shared = shared;
  for (size_t i = 0; i < stored.constants.size(); ++i)
    if (stored.constants[i].offset != kNothing)
      plan.constants[i].content = fmt::format("at {}", stored.constants[i].offset);
  std::vector<bool> named(stored.constants.size(), false);
  for (size_t s = 0; s < stored.preprocessing.size(); ++s)
    if (MakesWhatItWrites(stored.preprocessing[s], kernels, stored, named))
      plan.preprocessing[s].identity = fmt::format("kernel {}", stored.preprocessing[s].kernel);
}

}  // namespace

Result<SizedPlans> ReadSizedPlans(const BundleFile& file, uint32_t variant,
                                  const KernelsOf& kernels_of) {
  if (file.Has(SectionKind::kDeviceCode, variant))
    return Fail(ErrorCode::kParse, "the bundle is damaged: variant {} is for a device", variant);
  TUNEC_ASSIGN(const auto bytes, file.Copy(SectionKind::kSizes, variant));
  TUNEC_ASSIGN(StoredSizes stored, ParseSizes(bytes));
  TUNEC_ASSIGN(const auto section, file.Section(SectionKind::kCode, variant));
  TUNEC_ASSIGN(const CodeParts parts, ParseCodeSection(section));
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  TUNEC_RETURN_IF_ERROR(CheckSizes(stored, parts.kernels, weights));
  TUNEC_ASSIGN(const std::vector<Kernel> kernels, kernels_of(parts.kernels, section, parts));
  SizedPlans plans{std::move(stored.form), {}};
  const auto shared = std::make_shared<SharedConstants>();
  for (StoredSizedPlan& one : stored.plans) {
    ExecutablePlan plan = HostPlan(one.plan, parts.kernels, kernels, weights, file.owner());
    if (!plan.preprocessing.empty()) SharePacked(one.plan, parts.kernels, shared, plan);
    TUNEC_RETURN_IF_ERROR(VerifyRead(plan));
    plans.plans.push_back({std::move(one.code), std::move(plan)});
  }
  return plans;
}

}  // namespace tunec::bundle
