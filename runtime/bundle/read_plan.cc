#include "runtime/bundle/read_plan.h"

#include <utility>

#include "runtime/bundle/check_plan.h"
#include "runtime/bundle/device_code.h"
#include "support/check.h"

namespace tunec::bundle {
namespace {

/// The members of a Step that describe its kernel. `code` is null for a kernel of the host.
struct LoadedKernel {
  Kernel kernel;
  std::shared_ptr<const DeviceCode> code;
  std::vector<std::pair<int32_t, int32_t>> in_place;
};

/// The kernels that the preprocessing steps and the run steps name by number.
struct PlanCode {
  std::vector<LoadedKernel> preprocessing;
  std::vector<LoadedKernel> steps;
};

// A converter of a checked stored plan to an ExecutablePlan.
class PlanBuilder {
 public:
  PlanBuilder(const StoredPlan& stored, const PlanCode& code, std::span<const std::byte> weights,
              std::shared_ptr<const void> owner)
      : stored_(stored), code_(code), weights_(weights), owner_(std::move(owner)) {}

  ExecutablePlan Run(std::shared_ptr<Device> device) const {
    ExecutablePlan plan{.device = std::move(device),
                        .inputs = stored_.inputs,
                        .outputs = stored_.outputs,
                        .index_checks = stored_.index_checks,
                        .arena_bytes = stored_.arena_bytes,
                        .threads = static_cast<int>(stored_.threads)};
    for (const StoredConstant& constant : stored_.constants)
      plan.constants.push_back(ConstantOf(constant));
    for (const StoredStep& step : stored_.preprocessing)
      plan.preprocessing.push_back(StepOf(step, code_.preprocessing));
    for (const StoredStep& step : stored_.steps) plan.steps.push_back(StepOf(step, code_.steps));
    return plan;
  }

 private:
  Constant ConstantOf(const StoredConstant& stored) const {
    Constant constant{.name = stored.name, .bytes = stored.bytes};
    if (stored.offset == kNothing) return constant;
    const void* const data = weights_.data() + stored.offset;
    constant.data = std::shared_ptr<const void>(owner_, data);
    return constant;
  }
  static Step StepOf(const StoredStep& stored, const std::vector<LoadedKernel>& kernels) {
    Step step{.name = stored.name, .arguments = stored.arguments, .copy_bytes = stored.copy_bytes};
    if (stored.kernel == kNothing) return step;
    const LoadedKernel& loaded = kernels[stored.kernel];
    step.kernel = loaded.kernel;
    step.code = loaded.code;
    step.in_place = loaded.in_place;
    return step;
  }

  const StoredPlan& stored_;
  const PlanCode& code_;
  std::span<const std::byte> weights_;
  std::shared_ptr<const void> owner_;
};

std::vector<LoadedKernel> WithContracts(std::vector<Kernel> kernels,
                                        const std::vector<KernelContract>& contracts) {
  TUNEC_CHECK(kernels.size() == contracts.size(), "{} kernels of {}", kernels.size(),
              contracts.size());
  std::vector<LoadedKernel> loaded;
  for (size_t i = 0; i < kernels.size(); ++i)
    loaded.push_back({.kernel = std::move(kernels[i]), .in_place = contracts[i].in_place});
  return loaded;
}

// Loads the kernels of a table; each image is loaded once.
Result<std::vector<LoadedKernel>> LoadOn(Device& device, const DeviceCodeTable& table) {
  std::vector<std::shared_ptr<const DeviceCode>> codes;
  for (const KernelImage& image : table.images) {
    TUNEC_ASSIGN(codes.emplace_back(), device.Load(image));
  }
  std::vector<LoadedKernel> loaded;
  for (size_t i = 0; i < table.kernels.size(); ++i) {
    const auto number = static_cast<size_t>(table.image_of[i]);
    const KernelImage& image = table.images[number];
    Kernel kernel{.workspace_bytes = image.workspace_bytes};
    for (const PhaseLaunch& phase : image.phases)
      kernel.phases.push_back({.tasks = phase.Blocks(), .waves = phase.waves});
    loaded.push_back({.kernel = std::move(kernel),
                      .code = codes[number],
                      .in_place = table.kernels[i].in_place});
  }
  return loaded;
}

}  // namespace

Result<ExecutablePlan> ReadPlan(const BundleFile& file, uint32_t variant,
                                const KernelsOf& kernels_of, std::shared_ptr<Device> device) {
  TUNEC_ASSIGN(const auto plan_bytes, file.Copy(SectionKind::kPlan, variant));
  TUNEC_ASSIGN(const StoredPlan stored, ParsePlan(plan_bytes));
  TUNEC_ASSIGN(const auto section, file.Section(SectionKind::kCode, variant));
  TUNEC_ASSIGN(const CodeParts parts, ParseCodeSection(section));
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  if (file.Has(SectionKind::kDeviceCode, variant) != (device != nullptr))
    return Fail(ErrorCode::kParse, "the bundle is damaged: variant {} is {}for a device", variant,
                device == nullptr ? "" : "not ");
  DeviceCodeTable table;
  if (device != nullptr) {
    TUNEC_ASSIGN(const auto bytes, file.Copy(SectionKind::kDeviceCode, variant));
    TUNEC_ASSIGN(table, ParseDeviceCode(bytes));
  }
  const PlanKernels contracts{.preprocessing = parts.kernels,
                              .steps = device != nullptr ? table.kernels : parts.kernels};
  TUNEC_RETURN_IF_ERROR(CheckPlan(stored, contracts, weights));
  PlanCode code;
  TUNEC_ASSIGN(std::vector<Kernel> kernels, kernels_of(parts.kernels, section, parts));
  code.preprocessing = WithContracts(std::move(kernels), parts.kernels);
  if (device == nullptr) {
    code.steps = code.preprocessing;
  } else {
    TUNEC_ASSIGN(code.steps, LoadOn(*device, table));
  }
  ExecutablePlan plan = PlanBuilder(stored, code, weights, file.owner()).Run(std::move(device));
  TUNEC_RETURN_IF_ERROR(VerifyRead(plan));
  return plan;
}

Status VerifyRead(const ExecutablePlan& plan) {
  const Status verified = Verify(plan);
  if (verified) return {};
  return Fail(ErrorCode::kParse, "the bundle's plan is damaged: {}", verified.error().message);
}

ExecutablePlan HostPlan(const StoredPlan& plan, const std::vector<KernelContract>& contracts,
                        const std::vector<Kernel>& kernels, std::span<const std::byte> weights,
                        std::shared_ptr<const void> owner) {
  PlanCode code{.preprocessing = WithContracts(kernels, contracts), .steps = {}};
  code.steps = code.preprocessing;
  return PlanBuilder(plan, code, weights, std::move(owner)).Run(nullptr);
}

}  // namespace tunec::bundle
