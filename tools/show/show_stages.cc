#include "tools/show/show_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/code_generator.h"
#include "support/suggest.h"

namespace tunec {
namespace {

std::vector<std::string_view> NamesOf(const std::vector<LoopStage>& stages) {
  std::vector<std::string_view> names;
  for (const LoopStage& stage : stages) names.push_back(stage.name);
  return names;
}

Result<std::string> CodeOf(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  return generator->Show(nest, target, CodeText::kLlvmIr);
}

}  // namespace

std::string LoopStageNames() {
  std::vector<std::string> names;
  for (const LoopStage& stage : LoopStages()) {
    names.emplace_back(stage.name);
    if (!stage.target.empty()) names.back() += fmt::format(" ({})", stage.target);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Status CheckLoopStage(const std::string& stage, const Target& target) {
  const std::vector<std::string_view> names = NamesOf(LoopStages(target.Kind()));
  if (std::ranges::find(names, stage) != names.end()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--after: no stage for {} is called '{}', expected one of {}{}", target.Kind(), stage,
              fmt::join(names, ", "), DidYouMean(stage, names));
}

Result<std::string> TextAfterStage(const Compute& compute, const Schedule& schedule,
                                   KernelOptions options, const std::string& stage) {
  std::string text;
  Status emitted;
  options.loops.on_stage = [&](const StageRecord& record, const StageProduct& product) {
    if (record.stage != stage) return;
    text += fmt::format("# {}, after {} ({:.2f} ms)\n", record.name, stage, record.milliseconds);
    if (stage != "emit") {
      text += Print(product) + "\n";
      return;
    }
    Result<std::string> code = CodeOf(*std::get<const LoopNest*>(product), options.target);
    if (!code) emitted = std::unexpected(code.error());
    if (code) text += *code + "\n";
  };
  TUNEC_RETURN_IF_ERROR(CompileKernel(compute, schedule, options));
  TUNEC_RETURN_IF_ERROR(emitted);
  return text;
}

}  // namespace tunec
