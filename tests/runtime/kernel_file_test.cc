// Tests of two file formats, for kernels and for the values of a kernel's inputs and outputs. A
// parsed file equals the written data, and damaged files are rejected.
#include "runtime/kernel_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/file_kernel.h"
#include "runtime/kernel_vectors.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

KernelFile Sample() {
  return {.arguments = {{"A", DataType::kF32, 12, false}, {"C", DataType::kBF16, 3, true}},
          .image = {.format = "cubin",
                    .bytes = std::string("\x7f\0\nimage\n", 9),
                    .phases = {{.symbol = "k", .registers = 40}},
                    .workspace_bytes = 64}};
}

TEST(KernelFile, ReadsBack) {
  const std::string text = Serialize(Sample());
  EXPECT_THAT(text,
              HasSubstr("tunec-kernel 1\nargument A f32 12 in\nargument C bf16 3 out\nimage\n"));
  const auto back = ParseKernelFile(text);
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(*back, Sample());
  EXPECT_EQ(back->arguments[1].bytes(), 6u);
}

TEST(KernelFile, DamagedOnesAreRejected) {
  EXPECT_EQ(ParseKernelFile("tunec-object 4").error().message,
            "no kernel file, which begins with 'tunec-kernel 1'");
  for (const char* const line :
       {"argument A f32 -1 in", "argument A f33 1 in", "argument A f32 1 inout", "argument A f32 1",
        "argument A f32 1 in more", "argument A f32 99999999999999 in", "A f32 1 in", ""}) {
    const auto rejected = ParseKernelFile(std::string("tunec-kernel 1\n") + line + "\nimage\n");
    ASSERT_FALSE(rejected) << line;
    EXPECT_EQ(rejected.error().code, ErrorCode::kParse);
    EXPECT_EQ(rejected.error().message, "the kernel file is damaged: '" + std::string(line) + "'");
  }
  std::string cut = Serialize(Sample());
  cut.pop_back();
  EXPECT_EQ(ParseKernelFile(cut).error().code, ErrorCode::kParse);
  EXPECT_EQ(ParseKernelFile("tunec-kernel 1\nargument A f32 1 in\n").error().code,
            ErrorCode::kParse);
}

KernelVectors Vectors() {
  return {.from = "a machine",
          .arguments = {{"A", DataType::kF32, std::string("\0\0\x80\x3f\x01\0\0\0", 8)},
                        {"C", DataType::kBF16, std::string("\x80\x3f\0\0\xff\xff", 6)},
                        {"none", DataType::kI8, ""}}};
}

TEST(KernelVectors, AreTextOfBits) {
  const std::string text = Print(Vectors());
  EXPECT_EQ(text,
            "tunec-vectors 1\nfrom a machine\nA f32 2\n3f800000 00000001\nC bf16 3\n3f80 0000 "
            "ffff\nnone i8 0\n");
  const auto back = ParseKernelVectors(text, "f");
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(*back, Vectors());
}

TEST(KernelVectors, HaveLinesThatPeopleCanRead) {
  const KernelVectors many{.from = "", .arguments = {{"A", DataType::kF64, std::string(200, 'x')}}};
  const std::string text = Print(many);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3 + 7);  // four elements per line
  EXPECT_EQ(*ParseKernelVectors(text, "f"), many);
}

TEST(KernelVectors, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    const auto parsed = ParseKernelVectors(text, "f");
    return parsed ? "none" : parsed.error().Format();
  };
  const std::string begin = "tunec-vectors 1\nfrom a machine\n";
  EXPECT_EQ(error(""), "f:1: error: expected 'tunec-vectors 1'");
  EXPECT_EQ(error("tunec-vectors 1\n"), "f:2: error: expected 'from ' and whose outputs they are");
  EXPECT_EQ(error(begin + "A f99 1\n"),
            "f:3: error: 'A f99 1' is not a name, a type and a number of elements");
  const std::string no_bound =
      "f:3: error: '{}' does not end in 'within BOUND', which elements of f32 may have";
  for (const std::string title :
       {"A f32 1 2", "A f32 1 within", "A f32 1 within -1", "A f32 1 within 0",
        "A f32 1 within inf", "A f32 1 within 1 2", "A f16 1 within 1"})
    EXPECT_EQ(error(begin + title + "\n"), fmt::format(fmt::runtime(no_bound), title));
  EXPECT_EQ(error(begin + "A f32 2\n3f800000\n"), "f:5: error: A has 1 elements, not 2");
  EXPECT_EQ(error(begin + "A f32 1\n3f800000 00000000\n"),
            "f:4: error: A has more than 1 elements");
  EXPECT_EQ(error(begin + "A f32 1\n3f80\n"), "f:4: error: '3f80' is no f32 in 8 digits");
  EXPECT_EQ(error(begin + "A i8 1\nxx\n"), "f:4: error: 'xx' is no i8 in 2 digits");
  EXPECT_EQ(error(begin + "A i8 0\nA i8 0\n"), "f:4: error: A is there twice");
}

TEST(KernelVectors, AreComparedBitByBit) {
  KernelVector output = Vectors().arguments[1];
  EXPECT_EQ(*CompareWith(Vectors(), output), "");
  output.bytes[2] = '\x01';
  output.bytes[5] = '\x00';
  EXPECT_EQ(*CompareWith(Vectors(), output),
            "2 of 3 elements differ, the first at 1: 0001, not 0000");
  output.bytes += "12";
  EXPECT_EQ(CompareWith(Vectors(), output).error().message,
            "there is no vector of 4 elements of bf16 for C");
  output.name = "D";
  EXPECT_FALSE(CompareWith(Vectors(), output));
}

KernelVector Floats(const std::vector<float>& values, double within) {
  return {"C", DataType::kF32,
          std::string(reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size()),
          within};
}

TEST(KernelVectors, MayBeApartByTheirBound) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const KernelVectors right{.from = "a machine", .arguments = {Floats({1, -2, 3}, 0.125)}};
  EXPECT_EQ(Print(right),
            "tunec-vectors 1\nfrom a machine\nC f32 3 within 0.125\n3f800000 c0000000 40400000\n");
  EXPECT_EQ(*ParseKernelVectors(Print(right), "f"), right);
  EXPECT_EQ(*CompareWith(right, Floats({1.125, -2.125, 3}, 0)), "");
  EXPECT_EQ(*CompareWith(right, Floats({1, -2.25, 3.25}, 0)),
            "2 of 3 elements differ by more than 0.125, the first at 1: c0100000, not c0000000");
  EXPECT_EQ(*CompareWith(right, Floats({kNan, -2, 3}, 0)),
            "1 of 3 elements differ by more than 0.125, the first at 0: 7fc00000, not 3f800000");
}

TEST(KernelVectors, KeepTheirBoundForOutputsOfAnother) {
  KernelVectors vectors{.from = "a machine", .arguments = {Floats({1}, 0.5)}};
  vectors.SetOutputs("another", {Floats({2}, 0)});
  EXPECT_EQ(vectors.arguments, std::vector{Floats({2}, 0.5)});
}

TEST(KernelVectors, OutputsTakeThePlaceOfOlderOnes) {
  KernelVectors vectors = Vectors();
  const KernelVector other{"C", DataType::kBF16, "ab"};
  vectors.SetOutputs("another", {other});
  EXPECT_EQ(vectors.from, "another");
  EXPECT_EQ(vectors.arguments.size(), 3u);
  EXPECT_EQ(*vectors.Find("C"), other);
  EXPECT_EQ(vectors.Find("D"), nullptr);
}

// Floating-point numbers are not zero, infinite or NaN. Integers are 0, which is a valid index.
TEST(RandomInputs, AreOrdinaryNumbers) {
  std::vector<KernelArgument> arguments;
  for (const DataType type : {DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16,
                              DataType::kI32, DataType::kU8, DataType::kBool})
    arguments.push_back({std::string(Name(type)), type, 64, false});
  arguments.push_back({"out", DataType::kF32, 64, true});
  const KernelVectors inputs = RandomInputs(arguments, 3);
  ASSERT_EQ(inputs.arguments.size(), 7u);
  EXPECT_EQ(inputs, RandomInputs(arguments, 3));
  EXPECT_NE(inputs, RandomInputs(arguments, 4));
  const auto words = [&](std::string_view name) {
    std::vector<uint64_t> all;
    const KernelVector& vector = *inputs.Find(name);
    const size_t size = SizeOf(vector.type);
    for (size_t at = 0; at < vector.bytes.size(); at += size) {
      uint64_t bits = 0;
      std::memcpy(&bits, vector.bytes.data() + at, size);
      all.push_back(bits);
    }
    return all;
  };
  for (const uint64_t bits : words("f32")) EXPECT_EQ(bits >> 23 & 0xff, 126u);
  for (const uint64_t bits : words("f64")) EXPECT_EQ(bits >> 52 & 0x7ff, 1022u);
  for (const uint64_t bits : words("f16")) EXPECT_EQ(bits >> 10 & 0x1f, 14u);
  for (const uint64_t bits : words("bf16")) EXPECT_EQ(bits >> 7 & 0xff, 126u);
  for (const uint64_t bits : words("bool")) EXPECT_LE(bits, 1u);
  EXPECT_THAT(words("i32"), ::testing::Each(0u));
  EXPECT_THAT(words("u8"), ::testing::Each(0u));
}

}  // namespace
}  // namespace tunec
