#include "runtime/bundle/load_bundle.h"

#include <algorithm>
#include <utility>

#include "runtime/bundle/choose_variant.h"
#include "runtime/bundle/mapped_code.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/bundle/read_sizes.h"
#include "runtime/shared_pool.h"
#include "runtime/tile_permission.h"
#include "support/processors.h"

namespace tunec {
namespace bundle {

Result<std::vector<VariantHead>> ReadHeads(const BundleFile& file) {
  std::vector<VariantHead> heads;
  for (uint32_t variant = 0; variant < file.Variants(); ++variant) {
    TUNEC_ASSIGN(const auto bytes, file.Copy(SectionKind::kVariant, variant));
    TUNEC_ASSIGN(heads.emplace_back(), ParseHead(bytes));
  }
  return heads;
}

}  // namespace bundle

namespace {

using bundle::BundleFile;
using bundle::LocalMachine;
using bundle::VariantHead;

std::shared_ptr<ThreadPool> PoolFor(int built_for, const BundleOptions& options) {
  const int threads =
      options.threads > 0 ? options.threads : std::min(built_for, UsableProcessors());
  return options.share_threads ? SharedPool(threads) : std::make_shared<ThreadPool>(threads);
}

Result<std::string> ReportOf(const BundleFile& file, uint32_t variant) {
  if (!file.Has(bundle::SectionKind::kReport, variant)) return std::string();
  TUNEC_ASSIGN(const auto bytes, file.Section(bundle::SectionKind::kReport, variant));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// The chosen variant. `sized` is set for a dynamic-shape model, `plan` for any other model.
/// `passed_over` has the reasons why earlier variants were skipped.
struct ChosenPlan {
  uint32_t variant = 0;
  ExecutablePlan plan = {};
  std::optional<bundle::SizedPlans> sized = std::nullopt;
  std::string passed_over = {};
};

// Reads the plan or plans of a variant. `device` runs the variant's steps; null: the host.
Result<ChosenPlan> PlanOf(const BundleFile& file, uint32_t variant,
                          std::shared_ptr<Device> device) {
  RequestTileData();  // the code may use AMX tiles in this process
  const auto in_file = [&](const std::vector<bundle::KernelContract>& kernels,
                           std::span<const std::byte> section, const bundle::CodeParts& parts) {
    return bundle::KernelsIn(file.owner(), section.subspan(parts.image_offset, parts.image_bytes),
                             kernels);
  };
  ChosenPlan chosen{.variant = variant};
  if (file.Has(bundle::SectionKind::kSizes, variant)) {
    TUNEC_ASSIGN(chosen.sized, bundle::ReadSizedPlans(file, variant, in_file));
    return chosen;
  }
  TUNEC_ASSIGN(chosen.plan, bundle::ReadPlan(file, variant, in_file, std::move(device)));
  return chosen;
}

// Returns the first variant of `order` that this machine runs, with the code loaded. Variants that
// fail with kDevice are skipped, for example if a cubin is too new for the driver. Fails with
// kDevice and all reasons if all variants are skipped. Any other error ends the search.
Result<ChosenPlan> ChoosePlan(const BundleFile& file, const std::vector<VariantHead>& heads,
                              const std::vector<size_t>& order, const BundleOptions& options) {
  LocalMachine machine(options.device);
  std::string lacking;
  for (const size_t number : order) {
    const auto variant = static_cast<uint32_t>(number);
    Result<std::shared_ptr<Device>> device = machine.Open(heads[number]);
    Result<ChosenPlan> plan = device ? PlanOf(file, variant, *std::move(device))
                                     : std::unexpected(std::move(device.error()));
    if (plan) {
      plan->passed_over = std::move(lacking);
      return plan;
    }
    if (plan.error().code != ErrorCode::kDevice) return std::unexpected(std::move(plan.error()));
    lacking += fmt::format("{}for {}: {}", lacking.empty() ? "" : "; ", Name(heads[number]),
                           plan.error().message);
  }
  return Fail(ErrorCode::kDevice, "this machine cannot run the bundle: {}", lacking);
}

Result<LoadedBundle> Load(const BundleFile& file, const BundleOptions& options) {
  TUNEC_ASSIGN(const std::vector<VariantHead> heads, bundle::ReadHeads(file));
  if (options.variant && *options.variant >= heads.size())
    return Fail(ErrorCode::kInvalidArgument, "the bundle has no variant {}, only {}",
                *options.variant, heads.size());
  const std::vector<size_t> order =
      options.variant ? std::vector<size_t>{*options.variant} : bundle::OrderOfChoice(heads);
  TUNEC_ASSIGN(ChosenPlan chosen, ChoosePlan(file, heads, order, options));
  LoadedBundle loaded{
      .variant = chosen.variant, .passed_over = std::move(chosen.passed_over), .file = file.file()};
  TUNEC_ASSIGN(loaded.report, ReportOf(file, loaded.variant));
  if (chosen.sized) {
    auto& [form, plans] = *chosen.sized;
    auto pool = PoolFor(plans[0].plan.threads, options);
    loaded.sized = std::make_shared<const SizedBundle>(std::move(form), std::move(plans),
                                                       std::move(pool), loaded.report);
    return loaded;
  }
  auto pool = PoolFor(chosen.plan.threads, options);
  TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(chosen.plan), std::move(pool)));
  loaded.executable = std::make_shared<const Executable>(std::move(executable));
  return loaded;
}

}  // namespace

Result<LoadedBundle> LoadBundle(const std::filesystem::path& path, const BundleOptions& options) {
  ThreadPool readers(UsableProcessors());
  TUNEC_ASSIGN(const BundleFile file, BundleFile::Open(path, readers));
  return Load(file, options);
}

Result<LoadedBundle> LoadBundle(bundle::BundleBytes bytes, const BundleOptions& options) {
  ThreadPool readers(UsableProcessors());
  TUNEC_ASSIGN(const BundleFile file, BundleFile::Read(std::move(bytes), readers));
  return Load(file, options);
}

}  // namespace tunec
