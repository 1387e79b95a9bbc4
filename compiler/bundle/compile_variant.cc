#include "compiler/bundle/compile_variant.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/compile_report.h"
#include "compiler/model_stages.h"
#include "compiler/report_json.h"
#include "jit/cpu/features_used.h"
#include "jit/cpu/link_image.h"
#include "runtime/cuda/cubin.h"
#include "runtime/prologue.h"
#include "support/check.h"

namespace tunec {
namespace {

using bundle::KernelContract;
using bundle::StoredPlan;
using bundle::StoredStep;

/// What a step's kernel is in the bundle.
using NumberOf = std::function<Result<int64_t>(const Step& step, const StepCode& code)>;

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

/// The kernels of the host; their code goes into one image, each object once.
class HostCodeWriter {
 public:
  Result<int64_t> NumberOf(const Step& step, const StepCode& code) {
    TUNEC_ASSIGN(KernelContract kernel, ContractOf(*code.image));
    kernel.arguments = code.arguments;
    kernel.in_place = step.in_place;
    for (size_t i = 0; i < kernels_.size(); ++i)
      if (kernels_[i] == kernel) return static_cast<int64_t>(i);
    kernels_.push_back(std::move(kernel));
    return static_cast<int64_t>(kernels_.size() - 1);
  }
  std::vector<KernelContract> TakeKernels() { return std::move(kernels_); }
  const std::string& image() const { return image_.bytes(); }

 private:
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

/// Those of a device; equal images stand there once.
class DeviceCodeWriter {
 public:
  Result<int64_t> NumberOf(const Step& step, const StepCode& code) {
    if (code.image->format != kCubinFormat)
      return Fail(ErrorCode::kUnsupported, "a bundle holds no code of format '{}'",
                  code.image->format);
    const KernelContract kernel{.workspace_bytes = code.image->workspace_bytes,
                                .arguments = code.arguments,
                                .in_place = step.in_place};
    const int64_t image = ImageNumber(*code.image);
    for (size_t i = 0; i < code_.kernels.size(); ++i)
      if (code_.kernels[i] == kernel && code_.image_of[i] == image) return static_cast<int64_t>(i);
    code_.kernels.push_back(kernel);
    code_.image_of.push_back(image);
    return static_cast<int64_t>(code_.kernels.size() - 1);
  }
  bundle::DeviceCodeTable Take() { return std::move(code_); }

 private:
  int64_t ImageNumber(const KernelImage& image) {
    const auto [known, is_new] =
        numbers_.emplace(Serialize(image), static_cast<int64_t>(code_.images.size()));
    if (is_new) code_.images.push_back(image);
    return known->second;
  }

  bundle::DeviceCodeTable code_;
  std::map<std::string, int64_t> numbers_;
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

Status StoreSteps(const AssembledPlan& assembled, const Target& target, BundleVariant& variant) {
  HostCodeWriter host;
  DeviceCodeWriter device;
  const auto of_host = [&](const Step& step, const StepCode& code) {
    return host.NumberOf(step, code);
  };
  const auto of_device = [&](const Step& step, const StepCode& code) {
    return device.NumberOf(step, code);
  };
  const ExecutablePlan& plan = assembled.plan;
  TUNEC_ASSIGN(variant.plan.prologue, WriteSteps(plan.prologue, assembled.prologue_code, of_host));
  TUNEC_ASSIGN(variant.plan.steps, target.device
                                       ? WriteSteps(plan.steps, assembled.step_code, of_device)
                                       : WriteSteps(plan.steps, assembled.step_code, of_host));
  variant.kernels = host.TakeKernels();
  variant.image = host.image();
  variant.device_code = device.Take();
  return {};
}

/// Whether all of the prologue is loaded.
bool CanPack(const ExecutablePlan& plan) {
  const auto is_loaded = [](const KernelPhase& phase) { return phase.function != nullptr; };
  return std::ranges::all_of(plan.prologue, [&](const Step& step) {
    return std::ranges::all_of(step.kernel.phases, is_loaded);
  });
}

/// Where a device runs the steps and nothing is left to pack, any processor will do.
bundle::VariantHead HeadOf(const ExecutablePlan& plan, const Target& target,
                           const std::string& cpu) {
  bundle::VariantHead head{.cpu = cpu};
  if (!target.device || !plan.prologue.empty()) head.features = FeaturesUsed(target.host);
  if (!target.device) return head;
  head.device = target.device->kind;
  head.arch = target.device->name;
  return head;
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
  TUNEC_ASSIGN(const StagedModel staged, RunStages(graph, database, options));
  const auto pool = std::make_shared<ThreadPool>(options.target.host.threads);
  TUNEC_ASSIGN(AssembledPlan assembled,
               Assemble(staged.front, staged.groups, options, *pool, CodeUse::kStore));
  ExecutablePlan& plan = assembled.plan;
  if (CanPack(plan)) {
    TUNEC_RETURN_IF_ERROR(Verify(plan));
    TUNEC_RETURN_IF_ERROR(RunPrologue(plan, *pool));
    assembled.prologue_code.clear();
  }
  DropUnnamed(plan);
  BundleVariant variant{.head = HeadOf(plan, options.target, cpu)};
  StoreData(plan, variant);
  TUNEC_RETURN_IF_ERROR(StoreSteps(assembled, options.target, variant));
  TUNEC_ASSIGN(variant.report, ReportOf(graph, staged, plan, options, pool));
  return variant;
}

}  // namespace tunec
