// Models in memory: which reader takes them, and what each refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compiler.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRelu =
    "graph g {\n"
    "  input x: f32[4]\n"
    "  weight w: f32[4]\n"
    "  s = add(x, w)\n"
    "  output y = s\n"
    "}\n";

Result<Graph> Load(std::string_view text, std::string_view format,
                   const ModelOptions& options = {}) {
  return LoadModelBytes(std::as_bytes(std::span(text)), format, options);
}

TEST(LoadModelBytes, TakesATextForWhatBeginsAsOne) {
  ModelOptions random;
  random.random_weights = 1;
  for (const char* before : {"", "\n\n \t", "# a comment\n", "// another\r\n\n# and one\n"}) {
    const auto graph = Load(std::string(before) + std::string(kRelu), "", random);
    ASSERT_TRUE(graph) << graph.error().Format();
    EXPECT_EQ(graph->name(), "g");
  }
  // What does not is taken for an ONNX model, whatever it is.
  for (const char* text : {"# graph", "// graph g {}", " ", "grape", "\b\b"}) {
    const auto graph = Load(text, "");
    ASSERT_FALSE(graph) << text;
    EXPECT_EQ(graph.error().code, ErrorCode::kParse) << text;
    EXPECT_EQ(graph.error().where->line, 0) << text;
  }
}

TEST(LoadModelBytes, NamesThePlaceInATextWithoutAFile) {
  const auto wrong = Load("graph g {\n  y = nosuch(x)\n}\n", "graph");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().Format(), HasSubstr("<memory>:2:"));
}

TEST(LoadModelBytes, HasNoWeightsButRandomOnes) {
  const auto without = Load(kRelu, "graph");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(without.error().Format(), HasSubstr("<memory>:3:"));
  EXPECT_THAT(without.error().message, HasSubstr("weight w has no bytes: wanted random weights"));
  ModelOptions random;
  random.random_weights = 1;
  EXPECT_TRUE(Load(kRelu, "graph", random));
  const auto onnx = Load("\b\b", "onnx", random);
  ASSERT_FALSE(onnx);
  EXPECT_EQ(onnx.error().message, "<memory>: an ONNX model has its own weights");
}

TEST(LoadModelBytes, RefusesWhatIsNoModel) {
  EXPECT_EQ(Load("", "").error().message, "the model has no bytes");
  EXPECT_EQ(Load(kRelu, ".graph").error().message,
            "the format of the model is '.graph', wanted onnx or graph");
  ModelOptions shaped;
  shaped.dims = {{"n", {{1}}}};
  shaped.random_weights = 1;
  EXPECT_EQ(Load(kRelu, "", shaped).error().message,
            "<memory>: a size is given for the dimension 'n', which the text does not name");
  shaped = {};
  shaped.shapes = {{"x", {1, 2}}};
  EXPECT_EQ(Load(kRelu, "", shaped).error().message,
            "<memory>: a .graph file states its shapes itself; its named dimensions may be given "
            "sizes");
}

}  // namespace
}  // namespace tunec
