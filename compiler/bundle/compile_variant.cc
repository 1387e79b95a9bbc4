#include "compiler/bundle/compile_variant.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/compile_report.h"
#include "compiler/model_stages.h"
#include "compiler/report_json.h"
#include "jit/cpu/features_used.h"
#include "jit/cpu/link_image.h"
#include "runtime/prologue.h"
#include "support/check.h"

namespace tunec {
namespace {

using bundle::KernelContract;
using bundle::StoredPlan;
using bundle::StoredStep;

/// Writes steps down; their code goes into one image, each object once.
class StepWriter {
 public:
  Result<std::vector<StoredStep>> Write(const std::vector<Step>& steps,
                                        const std::vector<StepCode>& codes) {
    TUNEC_CHECK(steps.size() == codes.size(), "{} steps have code for {}", steps.size(),
                codes.size());
    std::vector<StoredStep> stored;
    for (size_t i = 0; i < steps.size(); ++i) {
      stored.push_back({.name = steps[i].name,
                        .arguments = steps[i].arguments,
                        .copy_bytes = steps[i].copy_bytes});
      if (codes[i].image == nullptr) continue;
      TUNEC_ASSIGN(stored.back().kernel, NumberOf(codes[i]));
    }
    return stored;
  }
  std::vector<KernelContract> TakeKernels() { return std::move(kernels_); }
  const std::string& image() const { return image_.bytes(); }

 private:
  Result<int64_t> NumberOf(const StepCode& code) {
    TUNEC_ASSIGN(KernelContract kernel, ContractOf(*code.image));
    kernel.arguments = code.arguments;
    for (size_t i = 0; i < kernels_.size(); ++i)
      if (kernels_[i] == kernel) return static_cast<int64_t>(i);
    kernels_.push_back(std::move(kernel));
    return static_cast<int64_t>(kernels_.size() - 1);
  }

  /// But for its arguments.
  Result<KernelContract> ContractOf(const KernelImage& image) {
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

  CodeImage image_;
  std::map<std::string, FunctionOffsets> linked_;  // by the object's bytes
  std::vector<KernelContract> kernels_;
};

void StoreData(const ExecutablePlan& plan, BundleVariant& variant) {
  StoredPlan& stored = variant.plan;
  stored.inputs = plan.inputs;
  stored.outputs = plan.outputs;
  stored.arena_bytes = plan.arena_bytes;
  stored.threads = plan.threads;
  for (const Constant& constant : plan.constants) {
    stored.constants.push_back({.name = constant.name, .bytes = constant.bytes});
    variant.constants.push_back(constant.data);
  }
  for (const IndexCheck& check : plan.index_checks)
    stored.index_checks.push_back({.node = check.node,
                                   .extent = check.extent,
                                   .indices = check.indices,
                                   .type = check.type,
                                   .count = check.count});
}

/// Constants that only the prologue named are gone once it has run: those left are numbered anew.
void DropUnnamed(ExecutablePlan& plan) {
  std::vector<int32_t> number(plan.constants.size(), -1);
  std::vector<Constant> kept;
  for (auto* const steps : {&plan.prologue, &plan.steps}) {
    for (Step& step : *steps) {
      for (ValueRef& ref : step.arguments) {
        if (ref.kind != ValueRef::Kind::kConstant) continue;
        int32_t& renumbered = number[ref.index];
        if (renumbered < 0) {
          renumbered = static_cast<int32_t>(kept.size());
          kept.push_back(std::move(plan.constants[ref.index]));
        }
        ref.index = renumbered;
      }
    }
  }
  plan.constants = std::move(kept);
}

Result<std::string> ReportOf(const Graph& graph, const StagedModel& staged,
                             const ExecutablePlan& plan, const CompileOptions& options,
                             std::shared_ptr<ThreadPool> pool) {
  CompiledModel model;
  TUNEC_ASSIGN(model.report, MakeReport(graph, staged, plan, options));
  model.report.compile_ms = staged.build_ms;
  TUNEC_ASSIGN(Executable executable, Executable::Make(plan, std::move(pool)));
  model.executable = std::make_shared<const Executable>(std::move(executable));
  return ReportJson(model, options).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<BundleVariant> CompileVariant(const Graph& graph, Database* database,
                                     const CompileOptions& options, const std::string& cpu) {
  if (options.target.device)
    return Fail(ErrorCode::kUnsupported, "a bundle is for processors, not for {}",
                options.target.device->name);
  TUNEC_ASSIGN(const StagedModel staged, RunStages(graph, database, options));
  const auto pool = std::make_shared<ThreadPool>(options.target.host.threads);
  TUNEC_ASSIGN(AssembledPlan assembled, Assemble(staged.front, staged.groups, options, *pool));
  ExecutablePlan& plan = assembled.plan;
  if (!plan.refusal) {
    TUNEC_RETURN_IF_ERROR(Verify(plan));
    TUNEC_RETURN_IF_ERROR(RunPrologue(plan, *pool));
    assembled.prologue_code.clear();
  }
  DropUnnamed(plan);
  BundleVariant variant{.head = {.cpu = cpu, .features = FeaturesUsed(options.target.host)}};
  StoreData(plan, variant);
  StepWriter writer;
  TUNEC_ASSIGN(variant.plan.prologue, writer.Write(plan.prologue, assembled.prologue_code));
  TUNEC_ASSIGN(variant.plan.steps, writer.Write(plan.steps, assembled.step_code));
  variant.kernels = writer.TakeKernels();
  variant.image = writer.image();
  TUNEC_ASSIGN(variant.report, ReportOf(graph, staged, plan, options, pool));
  return variant;
}

}  // namespace tunec
