#include "schedule/sketches/order_copies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tunec {
namespace {

bool IsArgument(const Compute& compute, const std::string& name) {
  const std::optional<TensorId> id = compute.FindTensor(name);
  if (!id) return false;  // made by another step
  const TensorRole role = compute.tensors[*id].role;
  return role == TensorRole::kInput || role == TensorRole::kWeight;
}

bool IsConstant(const Compute& compute, const std::string& name) {
  return IsArgument(compute, name) && compute.tensors[*compute.FindTensor(name)].constant;
}

// What `precision` makes of a constant.
bool IsRoundedConstant(const Compute& compute, std::string_view name) {
  constexpr std::string_view kRounded = ".bf16";
  if (!name.ends_with(kRounded)) return false;
  name.remove_suffix(kRounded.size());
  return IsConstant(compute, std::string(name));
}

// The statement that the step makes, where it is such a copy.
std::optional<std::string> CopyOf(const Compute& compute, const ComputeStep& step) {
  const auto* pack = std::get_if<PackStep>(&step);
  if (pack != nullptr && IsArgument(compute, pack->tensor)) return pack->tensor + ".pack";
  if (pack != nullptr && IsRoundedConstant(compute, pack->tensor)) return pack->tensor;
  const auto* widen = std::get_if<WidenStep>(&step);
  if (widen != nullptr && IsConstant(compute, widen->tensor)) return widen->tensor + ".wide";
  return std::nullopt;
}

}  // namespace

void OrderCopies(const Compute& compute, Schedule& schedule) {
  std::vector<LoopStep> steps;
  for (const ComputeStep& step : schedule.compute_steps) {
    if (std::optional<std::string> copy = CopyOf(compute, step)) {
      steps.emplace_back(StorageOrderStep{*std::move(copy), kLongestVectorLoop});
    }
  }
  for (LoopStep& step : schedule.loop_steps) {
    if (!std::holds_alternative<StorageOrderStep>(step)) steps.push_back(std::move(step));
  }
  schedule.loop_steps = std::move(steps);
}

}  // namespace tunec
