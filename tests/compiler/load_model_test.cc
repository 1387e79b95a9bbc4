// Tests that models are read from memory in the right format, and that invalid models are rejected.
// Also tests the list of files from which a model was read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "compiler/compiler.h"
#include "compiler/sized/load_sized.h"
#include "graph/text/safetensors.h"
#include "support/file.h"
#include "tests/api/models.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
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
  // Any other non-empty text is read as an ONNX model.
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
  EXPECT_THAT(without.error().message, HasSubstr("weight w has no data, expected random weights"));
  ModelOptions random;
  random.random_weights = 1;
  EXPECT_TRUE(Load(kRelu, "graph", random));
  const auto onnx = Load("\b\b", "onnx", random);
  ASSERT_FALSE(onnx);
  EXPECT_EQ(onnx.error().message, "<memory>: an ONNX model has its own weights");
}

TEST(LoadModelBytes, RejectsWhatIsNoModel) {
  EXPECT_EQ(Load("", "").error().message, "the model has no bytes");
  EXPECT_EQ(Load(kRelu, ".graph").error().message,
            "the format of the model is '.graph', expected onnx or graph");
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

class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() { std::filesystem::create_directories(folder_); }
  ~ModelFiles() override { std::filesystem::remove_all(folder_); }

  std::string Write(const char* name, std::string_view bytes) const {
    const std::filesystem::path path = folder_ / name;
    EXPECT_TRUE(WriteFileAtomically(path, bytes));
    return path.string();
  }
  std::string WriteWeight(float value) const {
    Array weight(DataType::kF32, {4});
    for (int64_t i = 0; i < 4; ++i) weight.SetDouble(i, value);
    const std::filesystem::path path = folder_ / "m.safetensors";
    EXPECT_TRUE(WriteSafetensors(path, {{"w", weight}}));
    return path.string();
  }
  /// Returns the paths of the files that a model was read from. Checks the stamps of the files.
  static std::vector<std::string> FilesOf(const std::string& path, const ModelOptions& options) {
    const auto loaded = LoadModelOfFiles(path, options);
    EXPECT_TRUE(loaded) << loaded.error().Format();
    std::vector<std::string> files;
    for (const FileStamp& file : loaded ? loaded->files : std::vector<FileStamp>()) {
      files.push_back(file.path.string());
      EXPECT_EQ(file, StampOf(file.path));
      EXPECT_NE(file, StampOf(file.path.string() + ".none"));
    }
    return files;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("tunec_load_model_{}", getpid());
};

TEST_F(ModelFiles, AreTheModelsItsWeightsAndTheConstants) {
  const std::string_view external(reinterpret_cast<const char*>(kExternalOnnx),
                                  sizeof kExternalOnnx);
  const std::string onnx = Write("m.onnx", external);
  const std::string weights = Write("f", std::string(16, '\0'));
  const std::string x =
      Write("x.npy", std::string("\x93NUMPY\x01\0\x3a\0", 10) +
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }" + "\n" +
                         std::string(16, '\0'));
  EXPECT_THAT(FilesOf(onnx, {}), ElementsAre(onnx, weights));
  ModelOptions constant;
  constant.constants = {{"x", x}};
  EXPECT_THAT(FilesOf(onnx, constant), ElementsAre(x, onnx, weights));
  const std::string graph = Write("m.graph", kRelu);
  const std::string tensors = WriteWeight(2);
  EXPECT_THAT(FilesOf(graph, {}), ElementsAre(graph, tensors));
  ModelOptions random;
  random.random_weights = 1;
  EXPECT_THAT(FilesOf(graph, random), ElementsAre(graph));
}

// The files of a model of several sizes are opened once. Replacing the files later has no effect.
TEST_F(ModelFiles, AreReadOnceForAllSizes) {
  const std::string text =
      "graph g {\n  input x: f32[n, 4]\n  weight w: f32[4]\n  y = add(x, w)\n  output y\n}\n";
  const std::string path = Write("m.graph", text);
  WriteWeight(2);
  ModelOptions options;
  options.dims = {{"n", {{3, 5}}}};
  const auto source = LoadSizedModel(path, options);
  ASSERT_TRUE(source) << source.error().Format();
  const auto before = source->graph_at({3});
  ASSERT_TRUE(before);
  WriteWeight(7);
  Write("m.graph", "no graph");
  const auto after = source->graph_at({5});
  ASSERT_TRUE(after) << after.error().Format();
  const auto weight_of = [](const Graph& graph) { return graph.nodes()[1].constant.GetDouble(0); };
  EXPECT_EQ(weight_of(*before), 2);
  EXPECT_EQ(weight_of(*after), 2);
}

}  // namespace
}  // namespace tunec
