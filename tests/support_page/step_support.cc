#include "tests/support_page/step_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "ir/compute.h"
#include "kernel/compile_kernel.h"
#include "schedule/steps/step_text.h"
#include "tests/golden/golden_file.h"
#include "tests/support_page/operator_support.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

std::string FirstWord(const std::string& line) { return line.substr(0, line.find(' ')); }

std::set<std::string> StepNames(const Schedule& schedule) {
  std::set<std::string> names;
  for (const ComputeStep& step : schedule.compute_steps) names.insert(FirstWord(Print(step)));
  for (const LoopStep& step : schedule.loop_steps) names.insert(FirstWord(Print(step)));
  return names;
}

// The names of a golden file's steps, and whether code is generated for CPUs and for GPUs.
struct Example {
  std::set<std::string> steps;
  bool on_cpu = false;
  bool on_cuda = false;
};

std::vector<Example> FindExamples() {
  std::vector<Example> examples;
  const fs::path folder = fs::path(TUNEC_TEST_DATA) / "schedule/golden";
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::map<std::string, std::string> sections = test::ReadSections(entry.path());
    const auto compute = ParseCompute(sections["compute"], entry.path().string());
    const auto schedule = ParseSchedule(sections["schedule"], entry.path().string());
    if (!compute || !schedule) continue;
    // Some examples split operands into fewer bfloat16 parts than a contract permits by default.
    LoopPipelineOptions options;
    options.rounding.min_bf16_parts = 1;
    const auto loops = RunLoopPipeline(*compute, *schedule, options);
    if (!loops) continue;
    const auto generates = [&](const Target& target) {
      return EmitText(loops->nest, target, CodeText::kLlvmIr).has_value();
    };
    examples.push_back({.steps = StepNames(*schedule),
                        .on_cpu = generates(SupportedCpu()),
                        .on_cuda = generates(SupportedCuda())});
  }
  return examples;
}

}  // namespace

std::vector<StepSupport> FindStepSupport() {
  std::vector<StepSupport> steps;
  for (const std::string& form : ComputeStepForms()) steps.push_back({.form = form});
  for (const std::string& form : LoopStepForms()) steps.push_back({.form = form});
  for (const Example& example : FindExamples()) {
    for (StepSupport& step : steps) {
      if (!example.steps.contains(FirstWord(step.form))) continue;
      ++step.examples;
      step.on_cpu |= example.on_cpu;
      step.on_cuda |= example.on_cuda;
    }
  }
  return steps;
}

}  // namespace tunec
