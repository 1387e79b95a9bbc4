#include "tools/commands/doctor_bundle.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/bundle/check_plan.h"
#include "runtime/bundle/choose_variant.h"
#include "runtime/bundle/device_code.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/stored_sizes.h"
#include "runtime/machine_features.h"
#include "support/processors.h"
#include "tools/commands/commands.h"

namespace tunec {
namespace {

using bundle::BundleFile;
using bundle::LocalMachine;
using bundle::SectionKind;
using bundle::VariantHead;
using Json = nlohmann::ordered_json;

/// The reported facts about one variant of a bundle.
struct VariantFacts {
  VariantHead head;
  std::string lacking;  // why the variant cannot run here; empty if it can
  size_t steps = 0;
  size_t kernels = 0;
  size_t code_bytes = 0;
  bool packs = false;  // loading preprocesses weights
  int64_t threads = 1;
  std::string problem;            // error of the plan; may be empty
  std::optional<SizedForm> form;  // for dynamic shapes, if the plan has no error
  size_t plans = 1;
};

/// Examines the plans of a variant with several sizes, and sets the fields of `facts` about plans.
/// `steps` is the number of steps of the longest plan.
Status ExamineSizes(const BundleFile& file, const bundle::CodeParts& parts, uint32_t variant,
                    VariantFacts& facts) {
  TUNEC_ASSIGN(const auto bytes, file.Section(SectionKind::kSizes, variant));
  TUNEC_ASSIGN(bundle::StoredSizes stored, bundle::ParseSizes(bytes));
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  facts.plans = stored.plans.size();
  for (const bundle::StoredSizedPlan& plan : stored.plans) {
    facts.steps = std::max(facts.steps, plan.plan.steps.size());
    facts.packs = facts.packs || !plan.plan.preprocessing.empty();
    facts.threads = plan.plan.threads;
  }
  const Status checked = bundle::CheckSizes(stored, parts.kernels, weights);
  if (!checked) {
    facts.problem = checked.error().message;
    return {};
  }
  facts.form = std::move(stored.form);  // CheckSizes has found the form's lists consistent
  return {};
}

Result<VariantFacts> ExamineVariant(const BundleFile& file, LocalMachine& machine,
                                    const VariantHead& head, uint32_t variant) {
  VariantFacts facts{.head = head};
  if (const Status here = machine.Check(head); !here) facts.lacking = here.error().message;
  TUNEC_ASSIGN(const auto code, file.Section(SectionKind::kCode, variant));
  TUNEC_ASSIGN(const bundle::CodeParts parts, bundle::ParseCodeSection(code));
  facts.kernels = parts.kernels.size();
  facts.code_bytes = parts.image_bytes;
  if (file.Has(SectionKind::kSizes, variant)) {
    TUNEC_RETURN_IF_ERROR(ExamineSizes(file, parts, variant, facts));
    return facts;
  }
  TUNEC_ASSIGN(const auto plan_bytes, file.Section(SectionKind::kPlan, variant));
  TUNEC_ASSIGN(const bundle::StoredPlan plan, bundle::ParsePlan(plan_bytes));
  facts.steps = plan.steps.size();
  facts.packs = !plan.preprocessing.empty();
  facts.threads = plan.threads;
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  bundle::DeviceCodeTable device_code;
  if (file.Has(SectionKind::kDeviceCode, variant)) {
    TUNEC_ASSIGN(const auto bytes, file.Section(SectionKind::kDeviceCode, variant));
    TUNEC_ASSIGN(device_code, bundle::ParseDeviceCode(bytes));
    facts.kernels += device_code.kernels.size();
    for (const KernelImage& image : device_code.images) facts.code_bytes += image.bytes.size();
  }
  const bool on_device = !head.device.empty();
  if (on_device != file.Has(SectionKind::kDeviceCode, variant))
    facts.problem = "the code is not of its device";
  const bundle::PlanKernels kernels{.preprocessing = parts.kernels,
                                    .steps = on_device ? device_code.kernels : parts.kernels};
  if (const Status checked = bundle::CheckPlan(plan, kernels, weights); !checked)
    facts.problem = checked.error().message;
  return facts;
}

std::string StateOf(const VariantFacts& facts) {
  if (!facts.problem.empty()) return facts.problem;
  return facts.lacking.empty() ? "runs here" : "does not run here: " + facts.lacking;
}

/// Returns a text such as "batch 1, 8 (cut where larger); seq up to 512, rounded up to one of 21".
std::string SizesText(const SizedForm& form) {
  std::string text;
  for (size_t d = 0; d < form.dimensions.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    text += fmt::format("{}{} ", d == 0 ? "" : "; ", form.dimensions[d]);
    text += listed.exact ? fmt::format("{}", fmt::join(listed.sizes, ", "))
                         : fmt::format("up to {}, rounded up to one of {}", listed.sizes.back(),
                                       listed.sizes.size());
    if (form.separable[d]) text += " (cut where larger)";
  }
  return text;
}

void PrintSizes(const VariantFacts& facts) {
  if (!facts.form) return;
  fmt::print("  {}: {}{}\n", CountText(static_cast<int64_t>(facts.plans), "executable"),
             SizesText(*facts.form),
             facts.form->output_extents ? "" : "; no other sizes, for they cannot be padded");
}

Json SizesJson(const SizedForm& form) {
  Json sizes = Json::object();
  for (size_t d = 0; d < form.dimensions.size(); ++d)
    sizes[form.dimensions[d]] = {{"sizes", form.listed[d].sizes},
                                 {"exact", form.listed[d].exact},
                                 {"cut", static_cast<bool>(form.separable[d])}};
  return sizes;
}

void PrintFacts(const std::string& path, const BundleFile& file,
                const std::vector<VariantFacts>& variants, size_t weights) {
  fmt::print("{}: {}, {} of weights, hashes right\n", path,
             BytesText(static_cast<double>(file.bytes().size())),
             BytesText(static_cast<double>(weights)));
  for (const VariantFacts& facts : variants) {
    fmt::print("{}: {}; {}, {}, {} of code, {}{}\n", Name(facts.head), StateOf(facts),
               CountText(static_cast<int64_t>(facts.steps), "step"),
               CountText(static_cast<int64_t>(facts.kernels), "kernel"),
               BytesText(static_cast<double>(facts.code_bytes)), CountText(facts.threads, "thread"),
               facts.packs ? ", packs weights when it is loaded" : "");
    PrintSizes(facts);
  }
}

void PrintFactsJson(const std::string& path, const BundleFile& file,
                    const std::vector<VariantFacts>& variants, size_t weights) {
  Json rows = Json::array();
  for (const VariantFacts& facts : variants) {
    rows.push_back({{"cpu", facts.head.cpu},
                    {"features", facts.head.features},
                    {"device", facts.head.device},
                    {"arch", facts.head.arch},
                    {"missing", FindMissingFeatures(facts.head.features)},
                    {"lacking", facts.lacking},
                    {"problem", facts.problem},
                    {"steps", facts.steps},
                    {"kernels", facts.kernels},
                    {"code_bytes", facts.code_bytes},
                    {"threads", facts.threads},
                    {"packs", facts.packs}});
    if (!facts.form) continue;
    rows.back()["executables"] = facts.plans;
    rows.back()["padded"] = facts.form->output_extents.has_value();
    rows.back()["dimensions"] = SizesJson(*facts.form);
  }
  PrintJson({{"bundle", path},
             {"bytes", file.bytes().size()},
             {"weight_bytes", weights},
             {"variants", std::move(rows)}});
}

}  // namespace

Result<int> DiagnoseBundle(const std::string& path, OutputForm form) {
  ThreadPool pool(UsableProcessors());
  TUNEC_ASSIGN(const BundleFile file, BundleFile::Open(path, pool));
  TUNEC_ASSIGN(const std::vector<VariantHead> heads, bundle::ReadHeads(file));
  std::vector<VariantFacts> variants;
  LocalMachine machine;
  for (uint32_t i = 0; i < heads.size(); ++i) {
    TUNEC_ASSIGN(variants.emplace_back(), ExamineVariant(file, machine, heads[i], i));
  }
  TUNEC_ASSIGN(const auto weights, file.Section(SectionKind::kWeights, 0));
  (form == OutputForm::kJson ? PrintFactsJson : PrintFacts)(path, file, variants, weights.size());
  for (const VariantFacts& facts : variants)
    if (facts.problem.empty() && facts.lacking.empty()) return kExitOk;
  return Fail(ErrorCode::kDevice, "no variant of the bundle runs on this machine");
}

}  // namespace tunec
