// Tests of the generated header of a one-model library. tests/api/shared_library_test.py compiles
// such a header.
#include "compiler/bundle/model_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/bundle/write_library.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ModelHeader, SaysWhatGoesInAndComesOut) {
  const std::vector<TensorSpec> inputs = {{"x", DataType::kBF16, {2, 3}},
                                          {"flags", DataType::kBool, {-1}}};
  const std::vector<TensorSpec> outputs = {{"y", DataType::kI8, {}}};
  const std::string text = ModelHeader("net", "libnet.so", {inputs, outputs});
  for (const char* line :
       {"#define NET_NUM_INPUTS 2\n", "#define NET_INPUT_0_TYPE {4, 16, 1}", "{6, 8, 1}",
        "#define NET_INPUT_0_SHAPE {2, 3}\n", "#define NET_INPUT_0_BYTES 12\n",
        "#define NET_INPUT_1_SHAPE {-1}\n", "#define NET_INPUT_1_BYTES 0\n",
        "#define NET_OUTPUT_0_TYPE {0, 8, 1}", "#define NET_OUTPUT_0_NDIM 0\n",
        "#define NET_OUTPUT_0_SHAPE {0}\n", "int net_run(net_model* model"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("@")));
  EXPECT_THAT(text, Not(HasSubstr("$")));
}

// Tensor names may contain any characters.
TEST(ModelHeader, QuotesNames) {
  const std::vector<TensorSpec> inputs = {{"a\"b\\c\n*/?$@\xe4", DataType::kF32, {1}}};
  const std::string text = ModelHeader("net", "net.so", {inputs, {}});
  EXPECT_THAT(text, HasSubstr(R"(#define NET_INPUT_0_NAME "a\042b\134c\012*/\077$@\344")"));
}

TEST(ModelNameOf, IsAWord) {
  EXPECT_EQ(ModelNameOf("out/libresnet50.so"), "resnet50");
  EXPECT_EQ(ModelNameOf("resnet50.so.1"), "resnet50");
  EXPECT_EQ(ModelNameOf("bert-base uncased.so"), "bert_base_uncased");
  EXPECT_EQ(ModelNameOf("3d.so"), "model_3d");
  EXPECT_EQ(ModelNameOf("lib.so"), "lib");
  EXPECT_EQ(ModelNameOf(".so"), "model_");
}

TEST(WriteLibrary, RejectsWhatIsNoTemplate) {
  for (const std::string& bytes : {std::string(), std::string(64, 'x'), std::string(4096, '\0')}) {
    const Status written =
        WriteLibrary("/nowhere/x.so", std::as_bytes(std::span(bytes)), "x", BundleParts{});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kInternal);
  }
}

}  // namespace
}  // namespace tunec
