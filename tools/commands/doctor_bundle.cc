#include "tools/commands/doctor_bundle.h"

#include <nlohmann/json.hpp>

#include "runtime/bundle/check_plan.h"
#include "runtime/bundle/choose_variant.h"
#include "runtime/bundle/device_code.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/machine_features.h"
#include "support/processors.h"
#include "tools/commands/commands.h"

namespace tunec {
namespace {

using bundle::BundleFile;
using bundle::MachineHere;
using bundle::SectionKind;
using bundle::VariantHead;
using Json = nlohmann::ordered_json;

/// One variant, in numbers and words.
struct VariantFacts {
  VariantHead head;
  std::string lacking;  // what keeps it from running here; empty: nothing
  size_t steps = 0;
  size_t kernels = 0;
  size_t code_bytes = 0;
  bool packs = false;  // when it is loaded
  int64_t threads = 1;
  std::string problem;  // of its plan; empty: none
};

Result<VariantFacts> ExamineVariant(const BundleFile& file, MachineHere& machine,
                                    const VariantHead& head, uint32_t variant) {
  VariantFacts facts{.head = head};
  if (const Status here = machine.Check(head); !here) facts.lacking = here.error().message;
  TUNEC_ASSIGN(const auto code, file.Section(SectionKind::kCode, variant));
  TUNEC_ASSIGN(const bundle::CodeParts parts, bundle::ParseCodeSection(code));
  facts.kernels = parts.kernels.size();
  facts.code_bytes = parts.image_bytes;
  TUNEC_ASSIGN(const auto plan_bytes, file.Section(SectionKind::kPlan, variant));
  TUNEC_ASSIGN(const bundle::StoredPlan plan, bundle::ParsePlan(plan_bytes));
  facts.steps = plan.steps.size();
  facts.packs = !plan.prologue.empty();
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
  const bundle::PlanKernels kernels{.prologue = parts.kernels,
                                    .steps = on_device ? device_code.kernels : parts.kernels};
  if (const Status checked = bundle::CheckPlan(plan, kernels, weights); !checked)
    facts.problem = checked.error().message;
  return facts;
}

std::string StateOf(const VariantFacts& facts) {
  if (!facts.problem.empty()) return facts.problem;
  return facts.lacking.empty() ? "runs here" : "does not run here: " + facts.lacking;
}

void PrintFacts(const std::string& path, const BundleFile& file,
                const std::vector<VariantFacts>& variants, size_t weights) {
  fmt::print("{}: {}, {} of weights, hashes right\n", path,
             BytesText(static_cast<double>(file.bytes().size())),
             BytesText(static_cast<double>(weights)));
  for (const VariantFacts& facts : variants)
    fmt::print("{}: {}; {}, {}, {} of code, {}{}\n", Name(facts.head), StateOf(facts),
               CountText(static_cast<int64_t>(facts.steps), "step"),
               CountText(static_cast<int64_t>(facts.kernels), "kernel"),
               BytesText(static_cast<double>(facts.code_bytes)), CountText(facts.threads, "thread"),
               facts.packs ? ", packs weights when it is loaded" : "");
}

void PrintFactsJson(const std::string& path, const BundleFile& file,
                    const std::vector<VariantFacts>& variants, size_t weights) {
  Json rows = Json::array();
  for (const VariantFacts& facts : variants)
    rows.push_back({{"cpu", facts.head.cpu},
                    {"features", facts.head.features},
                    {"device", facts.head.device},
                    {"arch", facts.head.arch},
                    {"missing", MissingHere(facts.head.features)},
                    {"lacking", facts.lacking},
                    {"problem", facts.problem},
                    {"steps", facts.steps},
                    {"kernels", facts.kernels},
                    {"code_bytes", facts.code_bytes},
                    {"threads", facts.threads},
                    {"packs", facts.packs}});
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
  MachineHere machine;
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
