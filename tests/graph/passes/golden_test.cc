// Tests of the golden files of tests/golden/passes, without the command-line program. A file names
// its passes in the line `# command: opt %input --passes a,b`. The passes must change the input to
// the expected text, or fail with the expected error. `tools/dev bless` rewrites the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/passes/pipeline.h"
#include "graph/text/graph_text.h"
#include "tests/golden/golden_file.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

struct Golden {
  std::string header;
  std::string input;
  std::string expected;
  std::vector<std::string> passes;
};

Golden ReadGolden(const fs::path& path) {
  std::ifstream file(path);
  Golden golden;
  std::string line;
  enum { kHeader, kInput, kExpected } part = kHeader;
  while (std::getline(file, line)) {
    if (part == kHeader && !line.starts_with("#")) part = kInput;
    if (part == kInput && line == "----") {
      part = kExpected;
      continue;
    }
    std::string& text = part == kHeader  ? golden.header
                        : part == kInput ? golden.input
                                         : golden.expected;
    text += line + "\n";
    const size_t at = part == kHeader ? line.find("--passes ") : std::string::npos;
    if (at == std::string::npos) continue;
    std::stringstream names(line.substr(at + 9));
    for (std::string name; std::getline(names, name, ',');) golden.passes.push_back(name);
  }
  return golden;
}

TEST(GoldenPasses, AllFiles) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNEC_TEST_DATA) / "golden/passes"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_GE(files.size(), 10U);
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename().string());
    const Golden golden = ReadGolden(path);
    const auto graph = ParseGraph(golden.input, "input.graph", NoWeights());
    ASSERT_TRUE(graph) << graph.error().Format();
    PipelineOptions options;
    options.names = golden.passes;
    const auto result = RunPipeline(*graph, options);
    if (!result) {
      EXPECT_EQ("---- stderr\nerror: " + result.error().message + "\n", golden.expected);
      continue;
    }
    const std::string text = Print(result->graph);
    if (test::RewritesGoldens())
      std::ofstream(path) << golden.header << golden.input << "----\n" << text;
    else
      EXPECT_EQ(text, golden.expected);
  }
}

}  // namespace
}  // namespace tunec
