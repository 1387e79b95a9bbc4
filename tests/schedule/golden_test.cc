// Tests of the printed loops of schedules. Each file of golden/ has a Compute, a schedule and the
// expected loops or error, in sections that begin with a line `== name`. `tools/dev bless` rewrites
// the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/golden/golden_file.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

namespace fs = std::filesystem;

void WriteSections(const fs::path& path, std::map<std::string, std::string> sections) {
  std::ofstream file(path);
  file << sections[""];
  for (const char* name : {"compute", "schedule", "result"}) {
    file << "== " << name << "\n" << sections[name];
  }
}

std::string ResultOf(const std::string& compute_text, const std::string& schedule_text) {
  const Compute compute = MustParse(compute_text);
  const auto schedule = ParseSchedule(schedule_text, "golden");
  if (!schedule) return schedule.error().message + "\n";
  const auto kernel = LoopsOf(compute, *schedule, ReductionOrder::kAny);
  if (!kernel) return kernel.error().message + "\n";
  std::string text;
  for (const LoopNest& prepack : kernel->prepack) text += Print(prepack);
  return text + Print(kernel->nest);
}

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNEC_TEST_DATA) / "schedule/golden")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, PrintsTheExpectedLoops) {
  std::map<std::string, std::string> sections = ReadSections(GetParam());
  const std::string result = ResultOf(sections["compute"], sections["schedule"]);
  if (RewritesGoldens()) {
    sections["result"] = result;
    WriteSections(GetParam(), sections);
    return;
  }
  EXPECT_EQ(result, sections["result"]);
}

TEST_P(Golden, TextsRoundTripAndAgree) {
  std::map<std::string, std::string> sections = ReadSections(GetParam());
  const auto schedule = ParseSchedule(sections["schedule"], "golden");
  ASSERT_TRUE(schedule) << schedule.error().Format();
  EXPECT_EQ(*ParseSchedule(Print(*schedule), "again"), *schedule);
  const Compute compute = MustParse(sections["compute"]);
  const auto kernel = LoopsOf(compute, *schedule, ReductionOrder::kAny);
  if (!kernel) return;
  EXPECT_TRUE(*ParseLoopNest(Print(kernel->nest), "again") == kernel->nest);
  EXPECT_EQ(ScheduleChecker(compute).Disagreement(*kernel), "");
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace tunec::test
