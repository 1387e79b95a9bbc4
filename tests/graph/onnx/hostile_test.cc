// Tests of damaged and malicious files. Such a file may be rejected, but never causes a crash or a
// hang.
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
              HasSubstr("raw data has 3 bytes, expected 216"));
  EXPECT_THAT(message([](auto& t) { t.clear_raw_data(); }),
              HasSubstr("data field has 0 elements, expected 54"));
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
  flags.add_int32_data(256);  // is not zero, although its low byte is 0
  flags.add_int32_data(0);
  model.Input("x", {1}).Output("h").Output("b");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto outputs = RunReference(*graph, std::vector<Array>{Counting({1})});
  ASSERT_TRUE(outputs);
  EXPECT_THAT(Values(outputs->at(0)), ElementsAre(1, -2));
  EXPECT_THAT(Values(outputs->at(1)), ElementsAre(1, 0));
}

/// Tests a tensor above 64 KiB, whose data CopyToLargePages copies.
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
  // If a message field occurs twice, protobuf merges both occurrences. So a second graph is merged
  // with the first.
  onnx::ModelProto again;
  *again.mutable_graph()->mutable_doc_string() = "more";
  EXPECT_TRUE(ImportText(bytes + again.SerializePartialAsString()));
  model.graph().mutable_initializer(1)->set_dims(0, 299);
  EXPECT_THAT(ImportText(model.Bytes()).error().message,
              HasSubstr("tensor 'w': raw data has 360000 bytes, expected 358800"));
  model.graph().mutable_initializer(1)->set_dims(0, 0);
  EXPECT_THAT(ImportText(model.Bytes()).error().message, HasSubstr("expected 0 for 0 elements"));
}

}  // namespace
}  // namespace tunec::onnx_test
