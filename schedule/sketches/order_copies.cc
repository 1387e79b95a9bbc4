#include "schedule/sketches/order_copies.h"

#include <fmt/format.h>

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
  if (!id) return false;  // another step makes the tensor
  const TensorRole role = compute.tensors[*id].role;
  return role == TensorRole::kInput || role == TensorRole::kWeight;
}

bool IsConstant(const Compute& compute, const std::string& name) {
  return IsArgument(compute, name) && compute.tensors[*compute.FindTensor(name)].constant;
}

// Returns true if `precision` makes this tensor from a constant.
bool IsRoundedConstant(const Compute& compute, std::string_view name) {
  constexpr std::string_view kRounded = ".bf16";
  if (!name.ends_with(kRounded)) return false;
  name.remove_suffix(kRounded.size());
  return IsConstant(compute, std::string(name));
}

// Returns the statement that needs a `storage_order` because of the step; nothing if there is none
// (order_copies.h).
std::optional<std::string> CopyOf(const Compute& compute, const ComputeStep& step) {
  const auto* pack = std::get_if<PackStep>(&step);
  if (pack != nullptr && IsArgument(compute, pack->tensor)) return pack->tensor + ".pack";
  if (pack != nullptr && IsRoundedConstant(compute, pack->tensor)) return pack->tensor;
  const auto* widen = std::get_if<WidenStep>(&step);
  if (widen != nullptr && IsConstant(compute, widen->tensor)) return widen->tensor + ".wide";
  return std::nullopt;
}

constexpr int64_t kBlockBytes = 32;  // bytes of a transposed block's row, which is one load
constexpr int64_t kFewestInBlock = 4;

// Returns the loop around the vectors of a copy at run time, if the argument is contiguous along
// this loop. If the loop is unrolled, the code reads blocks and transposes them in registers.
// Otherwise each element needs a load. Returns nothing for copies of constants, which are made
// once.
std::optional<std::string> LoopOfBlocks(const Compute& compute, const PackStep& pack) {
  if (!IsArgument(compute, pack.tensor) || IsConstant(compute, pack.tensor)) return std::nullopt;
  const Tensor& tensor = compute.tensors[*compute.FindTensor(pack.tensor)];
  // The first axis becomes tasks, and the last one becomes vectors.
  if (pack.axes.size() < 3 || !tensor.layout.IsRowMajor()) return std::nullopt;
  const PackStep::Axis& around = pack.axes[pack.axes.size() - 2];
  if (around.part != PackStep::Part::kWhole || around.dimension == pack.axes.back().dimension)
    return std::nullopt;
  int64_t stride = 1;
  for (auto d = static_cast<size_t>(around.dimension) + 1; d < tensor.shape.size(); ++d)
    stride *= tensor.shape[d];
  if (stride != 1) return std::nullopt;
  return fmt::format("{}.pack.d{}", pack.tensor, around.dimension);
}

// Adds the steps that split the loop of LoopOfBlocks into blocks, and unroll each block. Adds
// nothing if there is no such loop.
void AddBlocks(const Compute& compute, const PackStep& pack, std::vector<LoopStep>& steps) {
  const std::optional<std::string> loop = LoopOfBlocks(compute, pack);
  if (!loop) return;
  const Tensor& tensor = compute.tensors[*compute.FindTensor(pack.tensor)];
  const int64_t length = kBlockBytes / static_cast<int64_t>(SizeOf(tensor.type));
  const int64_t extent =
      tensor.shape[static_cast<size_t>(pack.axes[pack.axes.size() - 2].dimension)];
  if (length < kFewestInBlock || extent < length) return;
  steps.emplace_back(SplitStep{*loop, {length}});
  if (extent % length != 0) steps.emplace_back(IsolateStep{*loop + ".0"});
  steps.emplace_back(UnrollStep{*loop + ".1"});
}

// Returns the loop of a step if AddBlocks adds steps of this kind; otherwise an empty name.
std::string_view LoopShapedBy(const LoopStep& step) {
  if (const auto* split = std::get_if<SplitStep>(&step)) return split->loop;
  if (const auto* isolate = std::get_if<IsolateStep>(&step)) return isolate->loop;
  if (const auto* unroll = std::get_if<UnrollStep>(&step)) return unroll->loop;
  return {};
}

// Returns the statements for which the schedule has a `storage_order`.
std::vector<std::string> OrderedStatements(const Schedule& schedule) {
  std::vector<std::string> statements;
  for (const LoopStep& step : schedule.loop_steps)
    if (const auto* order = std::get_if<StorageOrderStep>(&step))
      statements.push_back(order->statement);
  return statements;
}

}  // namespace

void OrderCopies(const Compute& compute, Schedule& schedule) {
  std::vector<LoopStep> steps;
  for (const ComputeStep& step : schedule.compute_steps) {
    if (std::optional<std::string> copy = CopyOf(compute, step)) {
      steps.emplace_back(StorageOrderStep{*std::move(copy), kLongestVectorLoop});
      if (const auto* pack = std::get_if<PackStep>(&step)) AddBlocks(compute, *pack, steps);
    }
  }
  const std::vector<std::string> before = OrderedStatements(schedule);
  const auto shapes_copy = [&](const LoopStep& step) {
    const std::string_view loop = LoopShapedBy(step);
    return std::ranges::any_of(before, [&](const std::string& statement) {
      return loop.starts_with(statement) && loop.substr(statement.size()).starts_with('.');
    });
  };
  for (LoopStep& step : schedule.loop_steps) {
    if (!std::holds_alternative<StorageOrderStep>(step) && !shapes_copy(step))
      steps.push_back(std::move(step));
  }
  schedule.loop_steps = std::move(steps);
}

}  // namespace tunec
