#include "runtime/bundle/load_bundle.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "runtime/bundle/check_plan.h"
#include "runtime/bundle/mapped_code.h"
#include "runtime/machine_features.h"
#include "runtime/shared_pool.h"
#include "runtime/tile_permission.h"
#include "support/processors.h"

namespace tunec {
namespace bundle {
namespace {

// What is parsed lies in memory of its own: a file that changes under the reader's hands could say
// one thing when it is checked, and another when it is used.
Result<std::vector<std::byte>> Copy(const BundleFile& file, SectionKind kind, uint32_t variant) {
  TUNEC_ASSIGN(const auto bytes, file.Section(kind, variant));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

// Step by step, from the checked plan.
class PlanBuilder {
 public:
  PlanBuilder(const StoredPlan& stored, const std::vector<Kernel>& kernels,
              std::span<const std::byte> weights, std::shared_ptr<const void> owner)
      : stored_(stored), kernels_(kernels), weights_(weights), owner_(std::move(owner)) {}

  ExecutablePlan Run() const {
    ExecutablePlan plan{.inputs = stored_.inputs,
                        .outputs = stored_.outputs,
                        .arena_bytes = stored_.arena_bytes,
                        .threads = static_cast<int>(stored_.threads)};
    for (const StoredConstant& constant : stored_.constants)
      plan.constants.push_back(ConstantOf(constant));
    for (const StoredStep& step : stored_.prologue) plan.prologue.push_back(StepOf(step));
    for (const StoredStep& step : stored_.steps) plan.steps.push_back(StepOf(step));
    for (const StoredIndexCheck& check : stored_.index_checks)
      plan.index_checks.push_back({.node = check.node,
                                   .extent = check.extent,
                                   .indices = check.indices,
                                   .type = check.type,
                                   .count = check.count});
    return plan;
  }

 private:
  Constant ConstantOf(const StoredConstant& stored) const {
    Constant constant{.name = stored.name, .bytes = stored.bytes};
    if (stored.place == kNothing) return constant;
    const void* const data = weights_.data() + stored.place;
    constant.data = std::shared_ptr<const void>(owner_, data);
    return constant;
  }
  Step StepOf(const StoredStep& stored) const {
    Step step{.name = stored.name, .arguments = stored.arguments, .copy_bytes = stored.copy_bytes};
    if (stored.kernel != kNothing) step.kernel = kernels_[stored.kernel];
    return step;
  }

  const StoredPlan& stored_;
  const std::vector<Kernel>& kernels_;
  std::span<const std::byte> weights_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

Result<std::vector<VariantHead>> ReadHeads(const BundleFile& file) {
  std::vector<VariantHead> heads;
  for (uint32_t variant = 0; variant < file.Variants(); ++variant) {
    TUNEC_ASSIGN(const auto bytes, Copy(file, SectionKind::kVariant, variant));
    TUNEC_ASSIGN(heads.emplace_back(), ParseHead(bytes));
  }
  return heads;
}

Result<ExecutablePlan> ReadPlan(const BundleFile& file, uint32_t variant,
                                const KernelsOf& kernels_of) {
  TUNEC_ASSIGN(const auto plan_bytes, Copy(file, SectionKind::kPlan, variant));
  TUNEC_ASSIGN(const StoredPlan stored, ParsePlan(plan_bytes));
  TUNEC_ASSIGN(const auto code, file.Section(SectionKind::kCode, variant));
  TUNEC_ASSIGN(const CodeParts parts, ParseCodeSection(code));
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  TUNEC_RETURN_IF_ERROR(CheckPlan(stored, parts.kernels, weights));
  TUNEC_ASSIGN(const std::vector<Kernel> kernels, kernels_of(parts.kernels, code, parts));
  return PlanBuilder(stored, kernels, weights, file.file()).Run();
}

}  // namespace bundle

namespace {

using bundle::BundleFile;
using bundle::VariantHead;

// The first that runs here; kDevice with what each lacks.
Result<uint32_t> ChooseVariant(const std::vector<VariantHead>& heads) {
  std::string lacking;
  for (uint32_t variant = 0; variant < heads.size(); ++variant) {
    const std::vector<std::string> missing = MissingHere(heads[variant].features);
    if (missing.empty()) return variant;
    lacking += fmt::format("{}for cpu {} it has no {}", lacking.empty() ? "" : "; ",
                           heads[variant].cpu, fmt::join(missing, ", "));
  }
  return Fail(ErrorCode::kDevice, "this machine cannot run the bundle: {}", lacking);
}

Result<uint32_t> ChooseVariant(const std::vector<VariantHead>& heads, uint32_t wanted) {
  if (wanted >= heads.size())
    return Fail(ErrorCode::kInvalidArgument, "the bundle has no variant {}, only {}", wanted,
                heads.size());
  TUNEC_RETURN_IF_ERROR(ChooseVariant({heads[wanted]}));
  return wanted;
}

std::shared_ptr<ThreadPool> PoolFor(int threads, const BundleOptions& options) {
  return options.share_threads ? SharedPool(threads) : std::make_shared<ThreadPool>(threads);
}

Result<std::string> ReportOf(const BundleFile& file, uint32_t variant) {
  for (const bundle::SectionEntry& section : file.sections()) {
    if (section.kind != bundle::SectionKind::kReport || section.variant != variant) continue;
    TUNEC_ASSIGN(const auto bytes, file.Section(section.kind, variant));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return std::string();
}

}  // namespace

Result<LoadedBundle> LoadBundle(const std::filesystem::path& path, const BundleOptions& options) {
  ThreadPool readers(UsableProcessors());
  TUNEC_ASSIGN(const BundleFile file, BundleFile::Open(path, readers));
  TUNEC_ASSIGN(const std::vector<VariantHead> heads, bundle::ReadHeads(file));
  LoadedBundle loaded;
  TUNEC_ASSIGN(loaded.variant,
               options.variant ? ChooseVariant(heads, *options.variant) : ChooseVariant(heads));
  RequestTileData();  // what the code may use, in this process, too
  const auto in_file = [&](const std::vector<bundle::KernelContract>& kernels,
                           std::span<const std::byte> section, const bundle::CodeParts& parts) {
    return bundle::KernelsIn(file.file(), section.subspan(parts.image_offset, parts.image_bytes),
                             kernels);
  };
  TUNEC_ASSIGN(ExecutablePlan plan, bundle::ReadPlan(file, loaded.variant, in_file));
  const int threads =
      options.threads > 0 ? options.threads : std::min(plan.threads, UsableProcessors());
  TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(plan), PoolFor(threads, options)));
  loaded.executable = std::make_shared<const Executable>(std::move(executable));
  TUNEC_ASSIGN(loaded.report, ReportOf(file, loaded.variant));
  return loaded;
}

}  // namespace tunec
