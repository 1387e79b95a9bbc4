#include "schedule/sketches/wide_operands.h"

#include <algorithm>
#include <utility>

#include "ir/array.h"
#include "schedule/access_analysis.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Least number of instances of the reduction for which the separate pass comes first. For smaller
// reductions, the pass costs more than casts in the loop.
constexpr double kWorthAPass = 1 << 20;
// Least number of uses of each element for which a copy pays. The first value is for copies at run
// time. The second one is for constants, of which the loop then reads twice the bytes.
constexpr double kWorthCopying = 16;
constexpr double kWorthTheBytes = 32;

bool IsWorthIt(const Tensor& tensor, double instances) {
  const auto elements = static_cast<double>(std::max<int64_t>(ElementCount(tensor.shape), 1));
  return instances / elements >= (tensor.constant ? kWorthTheBytes : kWorthCopying);
}

}  // namespace

std::vector<WideLowering> WideLowerings(const NamedCompute& lowering) {
  const WideLowering plain{lowering, {}};
  const auto is_reduction = [](const Statement& statement) {
    return statement.reducer.has_value();
  };
  const auto& statements = lowering.compute.statements;
  const auto reduction = std::ranges::find_if(statements, is_reduction);
  if (reduction == statements.end()) return {plain};
  const double instances = ProductOfExtents(*reduction);
  WideLowering wide = plain;
  for (const Read& read : reduction->reads) {
    const Tensor& tensor = lowering.compute.tensors[read.tensor];
    if (!IsWorthIt(tensor, instances)) continue;
    const WidenStep step{tensor.name, reduction->name};
    Result<Compute> widened = Apply(wide.lowering.compute, step);
    if (!widened) continue;  // most operands are not cast
    wide.lowering.compute = std::move(*widened);
    wide.steps.push_back(step);
  }
  if (wide.steps.empty()) return {plain};
  if (instances < kWorthAPass) return {plain, std::move(wide)};
  return {std::move(wide), plain};
}

}  // namespace tunec
