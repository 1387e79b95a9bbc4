#include <algorithm>
#include <set>
#include <string>

#include "runtime/bundle/check_plan.h"
#include "runtime/bundle/stored_sizes.h"

namespace tunec::bundle {
namespace {

constexpr size_t kMostDimensions = 64;
constexpr int64_t kMostSize = int64_t{1} << 40;

template <class... Args>
std::unexpected<Error> Damaged(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kParse, "the bundle's sizes are damaged: {}",
              fmt::format(format, std::forward<Args>(args)...));
}

Status CheckAxes(const SizedForm& form) {
  std::vector<bool> measured(form.dimensions.size(), false);
  std::set<std::pair<int, int>> seen;
  for (const SizedAxis& axis : form.open) {
    const auto input = static_cast<size_t>(axis.input), number = static_cast<size_t>(axis.axis);
    if (input >= form.inputs.size() || number >= form.inputs[input].shape.size() ||
        static_cast<size_t>(axis.dimension) >= measured.size())
      return Damaged("there is no axis {} of input {}", axis.axis, axis.input);
    if (form.inputs[input].shape[number] != -1 || !seen.emplace(axis.input, axis.axis).second)
      return Damaged("axis {} of input {} is not open", axis.axis, axis.input);
    measured[axis.dimension] = true;
  }
  size_t open = 0;
  for (const TensorSpec& spec : form.inputs)
    open += static_cast<size_t>(std::ranges::count(spec.shape, -1));
  if (open != form.open.size()) return Damaged("an axis is of no dimension");
  if (std::ranges::find(measured, false) != measured.end())
    return Damaged("a dimension is of no axis");
  return {};
}

Status CheckOutputExtents(const SizedForm& form) {
  if (!form.output_extents) return {};
  const OutputExtents& axes = *form.output_extents;
  bool fits = axes.size() == form.outputs.size();
  for (size_t o = 0; fits && o < axes.size(); ++o) {
    fits = axes[o].size() == form.outputs[o].shape.size();
    for (const auto& parts : axes[o])
      for (const SizeProgram& part : parts) fits = fits && part.IsOver(form.dimensions.size());
  }
  if (!fits) return Damaged("its extents are not of its outputs");
  return {};
}

Status CheckConditions(const std::vector<SizeCheck>& conditions, size_t dimensions) {
  for (const SizeCheck& check : conditions)
    if (!check.left.IsOver(dimensions) || !check.right.IsOver(dimensions))
      return Damaged("a condition is of other sizes");
  return {};
}

Status CheckListed(const SizedForm& form) {
  for (const ListedSizes& listed : form.listed) {
    const Sizes& sizes = listed.sizes;
    const bool ascending =
        std::ranges::adjacent_find(sizes, std::ranges::greater_equal()) == sizes.end();
    if (sizes.empty() || !ascending || sizes.front() < 1 || sizes.back() > kMostSize ||
        listed.step < 1 || listed.step > kMostSize)
      return Damaged("a dimension has no list of sizes");
  }
  return {};
}

Status CheckForm(const SizedForm& form) {
  const size_t dimensions = form.dimensions.size();
  if (dimensions < 1 || dimensions > kMostDimensions || form.separable.size() != dimensions ||
      form.listed.size() != dimensions)
    return Damaged("it has {} dimensions", dimensions);
  TUNEC_RETURN_IF_ERROR(CheckAxes(form));
  TUNEC_RETURN_IF_ERROR(CheckOutputExtents(form));
  TUNEC_RETURN_IF_ERROR(CheckConditions(form.conditions, dimensions));
  return CheckListed(form);
}

Status CheckSizedPlan(const SizedForm& form, const StoredSizedPlan& plan) {
  const size_t dimensions = form.dimensions.size();
  for (const SizedParameter& parameter : plan.code.parameters)
    if (!parameter.value.IsOver(dimensions)) return Damaged("a parameter is of other sizes");
  TUNEC_RETURN_IF_ERROR(CheckConditions(plan.code.conditions, dimensions));
  Status checked = CheckCode(form, plan.code, plan.plan.inputs, plan.plan.outputs);
  if (!checked) return Damaged("{}", checked.error().message);
  return {};
}

}  // namespace

Status CheckSizes(const StoredSizes& sizes, const std::vector<KernelContract>& kernels,
                  std::span<const std::byte> weights) {
  const PlanKernels contracts{.preprocessing = kernels, .steps = kernels};
  TUNEC_RETURN_IF_ERROR(CheckForm(sizes.form));
  if (sizes.plans.empty() || sizes.plans.size() > kMostSizedPlans)
    return Damaged("it has {} plans", sizes.plans.size());
  std::set<SizedKey> keys;
  for (const StoredSizedPlan& plan : sizes.plans) {
    TUNEC_RETURN_IF_ERROR(CheckSizedPlan(sizes.form, plan));
    if (!keys.insert(plan.code.key).second) return Damaged("two plans are for the same sizes");
  }
  for (const StoredSizedPlan& plan : sizes.plans)
    TUNEC_RETURN_IF_ERROR(CheckPlan(plan.plan, contracts, weights));
  return {};
}

}  // namespace tunec::bundle
