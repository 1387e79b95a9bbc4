// Tests of the reader and writer of protobuf's wire format. Some tests compare with libprotobuf.
#include "graph/onnx/file/wire_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>

#include "graph/onnx/export/export.h"
#include "graph/onnx/file/model.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using onnx_import::Bytes;
using onnx_import::OnnxModel;
using onnx_import::RepeatedNumbers;
using onnx_import::WireReader;
using onnx_import::WireType;
using onnx_import::WireWriter;
using ::testing::ElementsAre;
using ::testing::Optional;

Bytes AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

OnnxModel Parse(const std::string& bytes) {
  auto model = onnx_import::ParseModel(AsBytes(bytes), std::nullopt);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? std::move(*model) : OnnxModel();
}

TEST(WireFormat, FieldsComeBack) {
  WireWriter writer;
  writer.Varint(1, -1);
  writer.Varint(536870911, 300);
  writer.Float(2, 1.5F);
  writer.Text(3, "name");
  const std::string bytes = std::move(writer).Take();
  WireReader reader(AsBytes(bytes));
  auto field = reader.Next();
  EXPECT_EQ(field->tag, onnx_import::VarintTag(1));
  EXPECT_EQ(field->Signed(), -1);
  field = reader.Next();
  EXPECT_EQ(field->tag, onnx_import::VarintTag(536870911));
  EXPECT_EQ(field->number, 300u);
  EXPECT_EQ(reader.Next()->number, 0x3fc00000u);
  EXPECT_EQ(reader.Next()->Text(), "name");
  EXPECT_FALSE(reader.Next().has_value());
  EXPECT_FALSE(reader.Malformed());
}

TEST(WireFormat, WhatIsNoFieldIsMalformed) {
  const std::string wrong[] = {
      std::string("\x00\x01", 2),                                // field number 0
      std::string(10, '\xff') + "\x01",                          // unterminated tag
      "\x08",                                                    // missing value
      "\x08" + std::string(10, '\x80'),                          // unterminated value
      "\x0d\x01\x02\x03",                                        // 3 of 4 bytes
      "\x09" + std::string(7, '\1'),                             // 7 of 8 bytes
      "\x0a\x05name",                                            // 4 of 5 bytes
      "\x0a" + std::string(9, '\xff') + std::string("\x01", 1),  // length 2^64 - 1
      "\x0b\x0c",                                                // a group
      "\x0e",                                                    // wire type 6
      "\x80\x80\x80\x80\x10\x01",                                // field number 2^29
  };
  for (const std::string& bytes : wrong) {
    WireReader reader(AsBytes(bytes));
    while (reader.Next()) {
    }
    EXPECT_TRUE(reader.Malformed()) << testing::PrintToString(bytes);
    EXPECT_FALSE(reader.Next().has_value());
  }
}

TEST(WireFormat, RepeatedNumbersMayBePacked) {
  const std::string packed("\x0a\x04\x01\xac\x02\x03", 6);
  EXPECT_THAT(RepeatedNumbers(*WireReader(AsBytes(packed)).Next(), WireType::kVarint),
              Optional(ElementsAre(1, 300, 3)));
  const std::string single("\x08\x07", 2);
  EXPECT_THAT(RepeatedNumbers(*WireReader(AsBytes(single)).Next(), WireType::kVarint),
              Optional(ElementsAre(7)));
  const std::string torn("\x0a\x05\x01\x02\x03\x04\x05", 7);
  EXPECT_FALSE(RepeatedNumbers(*WireReader(AsBytes(torn)).Next(), WireType::kFixed32));
}

// libprotobuf writes each number of an attribute as a separate field. Other writers may pack all
// numbers into one field.
TEST(WireFormat, AttributesReadEitherForm) {
  Model model(17);
  model.Input("x", {1, 1, 4, 4});
  model.Node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}).Output("y");
  std::string bytes = model.Bytes();
  const std::string single("\x40\x02\x40\x02", 4);
  const std::string packed("\x42\x02\x02\x02", 4);
  const size_t at = bytes.find(single);
  ASSERT_NE(at, std::string::npos);
  const auto of = [](const std::string& text) {
    return std::get<std::vector<int64_t>>(
        Parse(text).graph.nodes.at(0).attributes.find("kernel_shape")->second);
  };
  EXPECT_THAT(of(bytes), ElementsAre(2, 2));
  bytes.replace(at, single.size(), packed);
  EXPECT_THAT(of(bytes), ElementsAre(2, 2));
}

// By protobuf's rule, the concatenated bytes of two messages are the merged message.
TEST(WireFormat, AMessageInPiecesIsMerged) {
  Model whole(17);
  whole.Input("x", {2, 3}).Node("Relu", {"x"}, {"t"}).Node("Neg", {"t"}, {"y"}).Output("y");
  onnx::ModelProto first = whole.proto();
  onnx::ModelProto second;
  second.mutable_graph()->add_node()->CopyFrom(first.graph().node(1));
  second.mutable_graph()->set_name("later");
  first.mutable_graph()->mutable_node()->RemoveLast();
  const OnnxModel model = Parse(first.SerializeAsString() + second.SerializeAsString());
  EXPECT_EQ(model.graph.name, "later");
  ASSERT_EQ(model.graph.nodes.size(), 2u);
  EXPECT_EQ(model.graph.nodes[1].op_type, "Neg");
}

TEST(WireFormat, UnknownFieldsArePassedOver) {
  Model model(17);
  model.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("y");
  model.proto().set_doc_string("words");
  auto* unknown = model.proto().GetReflection()->MutableUnknownFields(&model.proto());
  unknown->AddVarint(1000, 1);
  unknown->AddFixed32(1001, 2);
  unknown->AddFixed64(1002, 3);
  unknown->AddLengthDelimited(7000, "more");
  unknown->AddLengthDelimited(1, "a known number, but not its wire type");
  EXPECT_TRUE(model.Import().has_value());
}

TEST(WireFormat, WhatWeWriteIsWhatLibprotobufWrites) {
  Model model(17);
  model.Input("x", {1, 2, 8, 8}).Constant("w", Counting({3, 2, 3, 3}));
  model.Node("Conv", {"x", "w"}, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.Node("LeakyRelu", {"c"}, {"l"}, {{"alpha", 0.25}});
  model.Node("ReduceSum", {"l"}, {"y"}, {{"keepdims", 0}}).Output("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto bytes = ExportOnnxBytes(*graph);
  ASSERT_TRUE(bytes.has_value());
  onnx::ModelProto read;
  ASSERT_TRUE(read.ParseFromString(*bytes));
  EXPECT_TRUE(read.SerializeAsString() == *bytes);
  EXPECT_EQ(read.graph().node(0).op_type(), "Conv");
}

}  // namespace
}  // namespace tunec::onnx_test
