// Files that are damaged or mean harm: an error each, never a crash or a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "graph/reference.h"
#include "support/random.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

Result<Graph> ImportText(const std::string& bytes) {
  return ImportOnnxBytes(std::as_bytes(std::span(bytes)), "bad.onnx", {});
}

Model Small() {
  Model model(17);
  model.Input("x", {1, 2, 4, 4}).Constant("w", Counting({3, 2, 3, 3}));
  model.Constant("shape", Ints({2}, {0, -1}));
  model.Node("Conv", {"x", "w"}, {"a"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.Node("Reshape", {"a", "shape"}, {"y"}).Output("y");
  return model;
}

TEST(OnnxHostile, TruncatedAnywhere) {
  const std::string bytes = Small().Bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto graph = ImportText(bytes.substr(0, size));
    EXPECT_TRUE(graph || !graph.error().message.empty());
  }
  EXPECT_TRUE(ImportText(bytes));
}

TEST(OnnxHostile, FlippedBytes) {
  const std::string bytes = Small().Bytes();
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    }
    (void)ImportText(damaged);
  }
}

TEST(OnnxHostile, Garbage) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random.Below(300), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    EXPECT_FALSE(ImportText(bytes));
  }
  EXPECT_THAT(ImportText("").error().message, HasSubstr("empty"));
  EXPECT_THAT(ImportText("not a model").error().message, HasSubstr("not an ONNX model"));
}

TEST(OnnxHostile, DeepNesting) {
  onnx::GraphProto graph;
  graph.set_name("leaf");
  for (int i = 0; i < 60; ++i) {
    onnx::GraphProto outer;
    AddNode(*outer.mutable_node(), "If", {"c"}, {"y"}, {{"then_branch", graph}});
    graph = outer;
  }
  Model model(17);
  model.graph().MergeFrom(graph);
  EXPECT_THAT(ImportText(model.Bytes()).error().message, HasSubstr("nested deeper"));
}

TEST(OnnxHostile, TensorSizes) {
  const auto message = [](auto change) {
    Model model = Small();
    change(*model.graph().mutable_initializer(0));
    const auto graph = model.Import();
    return graph ? std::string() : graph.error().message;
  };
  EXPECT_THAT(message([](auto& t) { t.mutable_raw_data()->resize(3); }),
              HasSubstr("raw data has 3 bytes, wanted 216"));
  EXPECT_THAT(message([](auto& t) { t.clear_raw_data(); }),
              HasSubstr("data field has 0 elements, wanted 54"));
  EXPECT_THAT(message([](auto& t) { t.set_dims(0, -3); }), HasSubstr("negative dimension"));
  EXPECT_THAT(message([](auto& t) { t.set_dims(0, int64_t{1} << 62); }),
              HasSubstr("too many elements"));
  EXPECT_THAT(message([](auto& t) { t.set_data_type(8); }), HasSubstr("string"));
  EXPECT_THAT(message([](auto& t) { t.set_data_type(99); }), HasSubstr("element type 99"));
}

TEST(OnnxHostile, TypedFields) {
  Model model(17);
  auto& halves = *model.graph().add_initializer();
  halves.set_name("h");
  halves.set_data_type(onnx::TensorProto::FLOAT16);
  halves.add_dims(2);
  halves.add_int32_data(0x3c00);
  halves.add_int32_data(0xc000);
  auto& flags = *model.graph().add_initializer();
  flags.set_name("b");
  flags.set_data_type(onnx::TensorProto::BOOL);
  flags.add_dims(2);
  flags.add_int32_data(256);  // non-zero, though its low byte is 0
  flags.add_int32_data(0);
  model.Input("x", {1}).Output("h").Output("b");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto outputs = RunReference(*graph, std::vector<Array>{Counting({1})});
  ASSERT_TRUE(outputs);
  EXPECT_THAT(Values(outputs->at(0)), ElementsAre(1, -2));
  EXPECT_THAT(Values(outputs->at(1)), ElementsAre(1, 0));
}

/// Tensors of 64 KiB and more take another way: past protobuf.
TEST(OnnxHostile, LargeTensors) {
  Model model(17);
  model.Input("x", {1}).Constant("small", Floats({1}, {5})).Constant("w", Counting({300, 300}));
  model.Constant("last", Floats({1}, {6}));
  model.Node("Add", {"x", "w"}, {"y"}).Output("y").Output("small").Output("last");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto outputs = RunReference(*graph, std::vector<Array>{Floats({1}, {1})});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->at(0).GetDouble(89999), 90000);
  EXPECT_EQ(outputs->at(1).GetDouble(0), 5);
  EXPECT_EQ(outputs->at(2).GetDouble(0), 6);

  const std::string bytes = model.Bytes();
  for (size_t size = 0; size < bytes.size(); size += 997) {
    EXPECT_FALSE(ImportText(bytes.substr(0, size))) << size;
  }
  // Protobuf's rule for a field that stands twice: a graph is merged with the one before.
  onnx::ModelProto again;
  *again.mutable_graph()->mutable_doc_string() = "more";
  EXPECT_TRUE(ImportText(bytes + again.SerializePartialAsString()));
  model.graph().mutable_initializer(1)->set_dims(0, 299);
  EXPECT_THAT(ImportText(model.Bytes()).error().message,
              HasSubstr("tensor 'w': raw data has 360000 bytes, wanted 358800"));
  model.graph().mutable_initializer(1)->set_dims(0, 0);
  EXPECT_THAT(ImportText(model.Bytes()).error().message, HasSubstr("wanted 0 for 0 elements"));
}

class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / fmt::format("tunec_onnx_{}", getpid());
    fs::remove_all(root_);
    fs::create_directories(root_ / "model" / "data");
    const std::vector<float> values = {1, 2, 3, 4};
    for (const char* name : {"model/w.bin", "model/data/w.bin", "secret.bin"}) {
      std::ofstream(root_ / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(values.data()), 16);
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  Result<Graph> Import(std::map<std::string, std::string> entries) {
    Model model(17);
    auto& tensor = *model.graph().add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    model.Input("x", {2}).Node("Add", {"x", "w"}, {"y"}).Output("y");
    const std::string path = root_ / "model" / "m.onnx";
    std::ofstream(path, std::ios::binary) << model.Bytes();
    return ImportOnnx(path, {});
  }
  std::string Message(std::map<std::string, std::string> entries) {
    const auto graph = Import(std::move(entries));
    return graph ? "" : graph.error().Format();
  }

  fs::path root_;
};

TEST_F(OnnxExternal, IsReadAtItsOffset) {
  for (const char* offset : {"0", "8", "1"}) {
    const auto graph = Import({{"location", "./data/w.bin"}, {"offset", offset}, {"length", "8"}});
    ASSERT_TRUE(graph) << graph.error().Format();
    const auto outputs = RunReference(*graph, std::vector<Array>{Floats({2}, {10, 10})});
    ASSERT_TRUE(outputs);
    if (std::string(offset) == "8") {
      EXPECT_THAT(Values(outputs->front()), ElementsAre(13, 14));
    }
  }
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  EXPECT_THAT(Message({{"location", "../secret.bin"}}), HasSubstr("contains '..'"));
  EXPECT_THAT(Message({{"location", "data/../../secret.bin"}}), HasSubstr("contains '..'"));
  EXPECT_THAT(Message({{"location", (root_ / "secret.bin").string()}}), HasSubstr("is absolute"));
  EXPECT_THAT(Message({}), HasSubstr("is empty"));
  EXPECT_THAT(Message({{"location", std::string("w.bin\0x", 7)}}), HasSubstr("zero byte"));
  fs::create_symlink(root_ / "secret.bin", root_ / "model" / "link.bin");
  EXPECT_THAT(Message({{"location", "link.bin"}}), HasSubstr("is a link"));
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_THAT(Message({{"location", "up/secret.bin"}}), HasSubstr("is a link"));
  fs::create_hard_link(root_ / "secret.bin", root_ / "model" / "hard.bin");
  EXPECT_THAT(Message({{"location", "hard.bin"}}), HasSubstr("2 hard links"));
  mkfifo((root_ / "model" / "pipe").c_str(), 0600);
  EXPECT_THAT(Message({{"location", "pipe"}}), HasSubstr("not a regular file"));
  EXPECT_THAT(Message({{"location", "data"}}), HasSubstr("not a regular file"));
  EXPECT_THAT(Message({{"location", "missing.bin"}}), HasSubstr("No such file"));
}

TEST_F(OnnxExternal, SizesAreChecked) {
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "9"}}), HasSubstr("lies outside"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "18446744073709551615"}}),
              HasSubstr("lies outside"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "-1"}}), HasSubstr("non-negative number"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"length", "9"}}),
              HasSubstr("wanted 8 for 2 elements"));
}

TEST_F(OnnxExternal, FilesThatAreNoModels) {
  EXPECT_THAT(ImportOnnx(root_ / "missing.onnx", {}).error().Format(), HasSubstr("No such file"));
  EXPECT_THAT(ImportOnnx(root_, {}).error().Format(), HasSubstr("not a regular file"));
  mkfifo((root_ / "pipe.onnx").c_str(), 0600);
  EXPECT_THAT(ImportOnnx(root_ / "pipe.onnx", {}).error().Format(),
              HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace tunec::onnx_test
