#include "runtime/bundle/sized_bundle.h"

#include <cstdint>
#include <utility>

#include "runtime/executable.h"

namespace tunec {

SizedBundle::SizedBundle(SizedForm form, std::vector<SizedPlan> plans,
                         std::shared_ptr<ThreadPool> pool, std::string report)
    : SizedExecutable(SIZE_MAX), pool_(std::move(pool)), report_(std::move(report)) {
  SetForm(std::move(form));
  for (SizedPlan& plan : plans) {
    SizedKey key = plan.code.key;
    plans_.emplace(std::move(key), std::move(plan));
  }
}

Result<SizedBundle::VariantPtr> SizedBundle::MakeVariant(const SizedCode& code,
                                                         const ExecutablePlan& plan) const {
  TUNEC_ASSIGN(Executable executable, Executable::Make(plan, pool_));
  return std::make_shared<const SizedVariant>(
      shared_form(), code, std::make_shared<const Executable>(std::move(executable)));
}

Result<SizedBundle::VariantPtr> SizedBundle::VariantFor(const Sizes& sizes) const {
  for (const SizedKey& key : {ExactKey(sizes), KeyFor(form(), sizes)}) {
    const auto found = plans_.find(key);
    if (found == plans_.end() || !found->second.code.Serves(sizes)) continue;
    return FindOrMake(key, [&] { return MakeVariant(found->second.code, found->second.plan); });
  }
  return std::unexpected(Rejection(sizes));
}

Error SizedBundle::Rejection(const Sizes& sizes) const {
  const auto& names = form().dimensions;
  if (form().output_extents) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t most = form().listed[d].sizes.back();
      if (sizes[d] > most && !form().separable[d])
        return MakeError(ErrorCode::kInvalidArgument,
                         "{} is {}, expected at most {}, the largest that the bundle was built for",
                         names[d], sizes[d], most);
    }
  }
  const SizeCheck* failed = FindFailed(form().conditions, sizes);
  const auto found = plans_.find(KeyFor(form(), sizes));
  if (failed == nullptr && found != plans_.end())
    failed = FindFailed(found->second.code.conditions, sizes);
  if (failed != nullptr) return FailedCondition(form(), *failed, sizes);
  std::string exact, dimensions;
  for (const auto& [key, plan] : plans_) {
    if (key.IsExact()) exact += (exact.empty() ? "" : ", ") + JoinSizes(key.sizes);
  }
  for (const std::string& name : names) dimensions += (dimensions.empty() ? "" : "x") + name;
  return MakeError(ErrorCode::kInvalidArgument,
                   "the bundle has no code for {} of {}, expected one of {}", dimensions,
                   JoinSizes(sizes), exact);
}

}  // namespace tunec
