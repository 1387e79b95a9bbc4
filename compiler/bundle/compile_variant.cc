#include "compiler/bundle/compile_variant.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/bundle/plan_writer.h"
#include "compiler/model_stages.h"
#include "compiler/report/compile_report.h"
#include "compiler/report/report_json.h"
#include "jit/cpu/features_used.h"
#include "runtime/cuda/cubin.h"

namespace tunec {
namespace {

using bundle::KernelContract;

/// A writer of a device's kernels to a variant. Equal images are stored once.
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
  TUNEC_ASSIGN(variant.plan.preprocessing,
               WriteSteps(plan.preprocessing, assembled.preprocessing_code, of_host));
  TUNEC_ASSIGN(variant.plan.steps, target.device
                                       ? WriteSteps(plan.steps, assembled.step_code, of_device)
                                       : WriteSteps(plan.steps, assembled.step_code, of_host));
  variant.kernels = host.TakeKernels();
  variant.image = host.image();
  variant.device_code = device.Take();
  return {};
}

/// Returns the head of a variant. The head lists the features of the host's code. If a device runs
/// all steps and no weight is left to pack, the variant has no code for the host, so every
/// processor is suitable.
bundle::VariantHead HeadOf(const ExecutablePlan& plan, const Target& target,
                           const std::string& cpu) {
  bundle::VariantHead head{.cpu = cpu};
  if (!target.device || !plan.preprocessing.empty()) head.features = FeaturesUsed(target.host);
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
  TUNEC_RETURN_IF_ERROR(PackWeights(assembled, *pool));
  const ExecutablePlan& plan = assembled.plan;
  BundleVariant variant{.head = HeadOf(plan, options.target, cpu)};
  PlanWithData stored = StoreData(plan);
  variant.plan = std::move(stored.plan);
  variant.constants = std::move(stored.constants);
  TUNEC_RETURN_IF_ERROR(StoreSteps(assembled, options.target, variant));
  TUNEC_ASSIGN(variant.report, ReportOf(graph, staged, plan, options, pool));
  return variant;
}

}  // namespace tunec
