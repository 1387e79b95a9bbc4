#include "compiler/bundle/plan_writer.h"

#include <algorithm>

#include "runtime/executable_plan.h"
#include "runtime/preprocess_weights.h"
#include "support/check.h"

namespace tunec {

using bundle::KernelContract;
using bundle::StoredPlan;
using bundle::StoredStep;

namespace {

/// Returns whether all kernels of the preprocessing are loaded.
bool CanPack(const ExecutablePlan& plan) {
  const auto is_loaded = [](const KernelPhase& phase) { return phase.function != nullptr; };
  return std::ranges::all_of(plan.preprocessing, [&](const Step& step) {
    return std::ranges::all_of(step.kernel.phases, is_loaded);
  });
}

/// Removes constants that no step uses, and renumbers the others.
void DropUnnamed(ExecutablePlan& plan) {
  std::vector<int32_t> number(plan.constants.size(), -1);
  std::vector<Constant> remaining;
  for (auto* const steps : {&plan.preprocessing, &plan.steps}) {
    for (Step& step : *steps) {
      for (ValueRef& ref : step.arguments) {
        if (ref.kind != ValueRef::Kind::kConstant) continue;
        int32_t& renumbered = number[ref.index];
        if (renumbered < 0) {
          renumbered = static_cast<int32_t>(remaining.size());
          remaining.push_back(std::move(plan.constants[ref.index]));
        }
        ref.index = renumbered;
      }
    }
  }
  plan.constants = std::move(remaining);
}

}  // namespace

Status PackWeights(AssembledPlan& assembled, ThreadPool& pool) {
  ExecutablePlan& plan = assembled.plan;
  if (CanPack(plan)) {
    TUNEC_RETURN_IF_ERROR(Verify(plan));
    TUNEC_RETURN_IF_ERROR(PreprocessWeights(plan, pool));
    assembled.preprocessing_code.clear();
  }
  DropUnnamed(plan);
  return {};
}

PlanWithData StoreData(const ExecutablePlan& plan) {
  PlanWithData result;
  StoredPlan& stored = result.plan;
  stored.inputs = plan.inputs;
  stored.outputs = plan.outputs;
  stored.index_checks = plan.index_checks;
  stored.arena_bytes = plan.arena_bytes;
  stored.threads = plan.threads;
  for (const Constant& constant : plan.constants) {
    stored.constants.push_back({.name = constant.name, .bytes = constant.bytes});
    result.constants.push_back(constant.data);
  }
  return result;
}

Result<std::vector<StoredStep>> WriteSteps(const std::vector<Step>& steps,
                                           const std::vector<StepCode>& codes,
                                           const NumberOf& number_of) {
  TUNEC_CHECK(steps.size() == codes.size(), "{} steps have code for {}", steps.size(),
              codes.size());
  std::vector<StoredStep> stored;
  for (size_t i = 0; i < steps.size(); ++i) {
    stored.push_back({.name = steps[i].name,
                      .arguments = steps[i].arguments,
                      .copy_bytes = steps[i].copy_bytes});
    if (codes[i].image == nullptr) continue;
    TUNEC_ASSIGN(stored.back().kernel, number_of(steps[i], codes[i]));
  }
  return stored;
}

Result<int64_t> HostCodeWriter::NumberOf(const Step& step, const StepCode& code) {
  TUNEC_ASSIGN(KernelContract kernel, ContractOf(*code.image));
  kernel.arguments = code.arguments;
  kernel.in_place = step.in_place;
  for (size_t i = 0; i < kernels_.size(); ++i)
    if (kernels_[i] == kernel) return static_cast<int64_t>(i);
  kernels_.push_back(std::move(kernel));
  return static_cast<int64_t>(kernels_.size() - 1);
}

// Returns a kernel's contract without arguments and in-place pairs. Links code that is not linked.
Result<KernelContract> HostCodeWriter::ContractOf(const KernelImage& image) {
  const auto known = linked_.find(image.bytes);
  if (known == linked_.end()) {
    TUNEC_ASSIGN(linked_[image.bytes], image_.Add(image.bytes));
  }
  const FunctionOffsets& functions = linked_.at(image.bytes);
  KernelContract kernel{.workspace_bytes = image.workspace_bytes,
                        .scratch_bytes = image.scratch_bytes};
  for (const PhaseLaunch& phase : image.phases) {
    const auto function = functions.find(phase.symbol);
    if (function == functions.end())
      return Fail(ErrorCode::kNotFound, "object code has no function '{}'", phase.symbol);
    kernel.phases.push_back(
        {.entry = function->second, .tasks = phase.Blocks(), .waves = phase.waves});
  }
  return kernel;
}

}  // namespace tunec
