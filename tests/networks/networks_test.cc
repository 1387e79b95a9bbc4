// Tests of .graph files. The reference execution of networks must agree with PyTorch's outputs for
// the same weights. Printed networks must parse again, and the examples must be valid.
#include <gtest/gtest.h>

#include <filesystem>

#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/networks/load_npz.h"

namespace tunec {
namespace {

constexpr uint64_t kSeed = 7;  // the seed of expected_outputs.py

class Networks : public ::testing::TestWithParam<std::string> {
 protected:
  std::string Path(const std::string& extension) const {
    return std::string(TUNEC_TEST_DATA) + "/networks/" + GetParam() + extension;
  }
};

TEST_P(Networks, ReferenceAgreesWithPyTorch) {
  const auto graph = ReadGraphFile(Path(".graph"), kSeed);
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto arrays = LoadNpz(Path(".npz"));
  ASSERT_TRUE(arrays) << arrays.error().Format();
  const auto inputs = InputsByName(*graph, *arrays);
  ASSERT_TRUE(inputs) << inputs.error().Format();
  const auto outputs = RunReference(*graph, *inputs);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string& name = graph->output_names()[i];
    const double error = RelativeError((*outputs)[i], arrays->at(name));
    RecordProperty("relative_error_" + name, fmt::format("{:.2e}", error));
    EXPECT_LT(error, 1e-5) << name;
  }
}

TEST_P(Networks, TextRoundTrips) {
  const auto graph = ReadGraphFile(Path(".graph"), kSeed);
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto again = ParseGraph(Print(*graph), "again.graph", RandomWeights(kSeed));
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(Print(*graph), Print(*again));
}

INSTANTIATE_TEST_SUITE_P(All, Networks,
                         ::testing::Values("resnet18_64", "mobilenet_v2_64", "unet_48", "bert_2x32",
                                           "gpt_2x32", "mixer_48"),
                         [](const auto& info) { return info.param; });

TEST(Examples, Parse) {
  const std::filesystem::path folder = std::string(TUNEC_TEST_DATA) + "/../examples";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".graph") continue;
    const auto graph = ReadGraphFile(entry.path(), 0);
    ASSERT_TRUE(graph) << graph.error().Format();
    EXPECT_TRUE(Verify(*graph));
    ++count;
  }
  EXPECT_GE(count, 6);
}

}  // namespace
}  // namespace tunec
