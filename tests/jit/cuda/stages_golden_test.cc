// Tests of the loops after each stage of the code generator for GPUs (`tunec show --after`). Each
// file of golden/ has a nest and the expected text after each stage, in sections that begin with a
// line `== name`. `unchanged` stands for an equal nest. `tools/dev bless` rewrites these texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "jit/cuda/cuda_stages.h"
#include "support/file.h"
#include "tests/golden/golden_file.h"
#include "tests/jit/nest_runner.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnchanged = "unchanged\n";

// Returns the text before the first `== after`, or the whole text if there is none.
std::string InputOf(const std::string& text) { return text.substr(0, text.find("== after")); }

LoopNest NestOf(const std::string& input) {
  const std::string header = "== nest\n";
  return jit_test::Parse(input.substr(input.find(header) + header.size()));
}

std::string AfterEachStage(LoopNest nest) {
  std::string text;
  for (const NestStage& stage : CudaStages()) {
    const auto next = stage.rewrite(nest);
    text += fmt::format("== after {}\n", stage.name);
    if (!next) return text + next.error().message + "\n";
    EXPECT_TRUE(Verify(*next)) << stage.name << ": " << Verify(*next).error().message;
    text += *next == nest ? kUnchanged : Print(*next);
    nest = *next;
  }
  return text;
}

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNEC_TEST_DATA) / "jit/cuda/golden"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

class CudaStagesGolden : public testing::TestWithParam<fs::path> {};

TEST_P(CudaStagesGolden, MakeTheExpectedLoops) {
  const std::string input = InputOf(*ReadFile(GetParam()));
  test::ExpectGolden(GetParam(), input + AfterEachStage(NestOf(input)));
}

TEST_P(CudaStagesGolden, RetainTheResults) {
  const LoopNest nest = NestOf(InputOf(*ReadFile(GetParam())));
  const std::vector<Array> arguments = jit_test::RandomArguments(nest, 1);
  const auto expected = Interpret(nest, arguments, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().message;
  jit_test::ExpectStagesRetainResults(nest, arguments, *expected);
}

INSTANTIATE_TEST_SUITE_P(Files, CudaStagesGolden, testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace tunec
