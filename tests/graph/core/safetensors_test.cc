// Tests of valid and damaged .safetensors files, and of random weights, which NumPy can reproduce.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "graph/text/weights.h"

namespace tunec {
namespace {

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / fmt::format("tunec_{}.safetensors", getpid());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Result<SafetensorsFile> OpenBytes(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return SafetensorsFile::Open(path_);
  }
  /// Returns the error of a file with this header and `data` bytes of data, without the path, or
  /// "no error".
  std::string ErrorOf(const std::string& header, size_t data) {
    return Message(OpenBytes(Size(header.size()) + header + std::string(data, '\1')));
  }
  std::string Message(const Result<SafetensorsFile>& file) {
    if (file) return "no error";
    const std::string prefix = path_.string() + ": ";
    EXPECT_TRUE(file.error().message.starts_with(prefix)) << file.error().message;
    return file.error().message.substr(prefix.size());
  }
  static std::string Size(uint64_t size) {
    return std::string(reinterpret_cast<const char*>(&size), sizeof size);
  }

  std::filesystem::path path_;
};

std::string Tensor(const std::string& name, const std::string& shape, const std::string& offsets,
                   const std::string& type = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST_F(Safetensors, ReadsWhatItWrote) {
  Array a(DataType::kF32, {2, 3}), b(DataType::kI64, {});
  for (int i = 0; i < 6; ++i) a.SetDouble(i, i * 0.5);
  b.SetInt(0, -7);
  ASSERT_TRUE(WriteSafetensors(path_, {{"a", a}, {"b", b}, {"c", Array(DataType::kF16, {0})}}));
  const auto file = SafetensorsFile::Open(path_);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 3U);
  EXPECT_EQ(file->Find("a")->shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file->Find("a")->GetDouble(5), 2.5);
  EXPECT_EQ(file->Find("b")->GetInt(0), -7);
  EXPECT_EQ(file->Find("z"), nullptr);
}

TEST_F(Safetensors, CopiesUnalignedTensors) {
  const std::string header = "{" + Tensor("a", "[1]", "[0,4]") + "}";
  const auto file = OpenBytes(Size(header.size()) + header + std::string("\0\0\x80\x3f", 4));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->Find("a")->GetDouble(0), 1.0);
}

TEST_F(Safetensors, RejectsBadSizes) {
  EXPECT_EQ(Message(OpenBytes("")), "file has 0 bytes, expected at least 8");
  EXPECT_EQ(Message(OpenBytes("1234567")), "file has 7 bytes, expected at least 8");
  EXPECT_EQ(Message(OpenBytes(Size(3) + "{}")), "header has 3 bytes, expected at most 2");
  EXPECT_EQ(Message(OpenBytes(Size(~uint64_t{0}) + "{}")),
            "header has 18446744073709551615 bytes, expected at most 2");
  EXPECT_EQ(ErrorOf("", 0), "header is not a JSON object");
  EXPECT_EQ(ErrorOf("{", 0), "header is not a JSON object");
  EXPECT_EQ(ErrorOf("[]", 0), "header is not a JSON object");
  EXPECT_EQ(ErrorOf("{\"a\":\"\xff\"}", 0), "header is not a JSON object");
  EXPECT_FALSE(SafetensorsFile::Open("/nonexistent/x.safetensors").has_value());
}

TEST_F(Safetensors, RejectsBadOffsets) {
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[2]", "[0,8]") + "}", 4),
            "tensor a has data_offsets [0, 8], expected two within 0 to 4");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[2]", "[8,0]") + "}", 8),
            "tensor a has data_offsets [8, 0], expected two within 0 to 8");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[2]", "[0,18446744073709551615]") + "}", 8),
            "tensor a has data_offsets [0, 18446744073709551615], expected two within 0 to 8");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[2]", "[-8,0]") + "}", 8),
            "tensor a has data_offsets -8, expected an integer of at least 0");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[3]", "[0,8]") + "}", 8),
            "tensor a has 8 bytes, expected 3 elements of f32");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[4294967296,4294967296]", "[0,0]") + "}", 0),
            "tensor a has 0 bytes, expected -1 elements of f32");
  EXPECT_EQ(
      ErrorOf("{" + Tensor("a", "[2]", "[0,8]") + "," + Tensor("b", "[2]", "[4,12]") + "}", 12),
      "tensor b begins at 4, expected 8: it overlaps another");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[1]", "[4,8]") + "}", 8),
            "tensor a begins at 4, expected 0: there is a gap");
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[1]", "[0,4]") + "}", 8), "tensors end at 4, the data at 8");
}

TEST_F(Safetensors, RejectsBadEntries) {
  EXPECT_EQ(ErrorOf("{\"a\":1}", 0), "tensor a is not an object");
  EXPECT_EQ(ErrorOf("{\"a\":{}}", 0), "tensor a has no dtype");
  EXPECT_EQ(ErrorOf("{\"a\":{\"dtype\":\"F32\"}}", 0), "tensor a has no list shape");
  EXPECT_TRUE(ErrorOf("{" + Tensor("a", "[1]", "[0,1]", "F8_E4M3") + "}", 1)
                  .starts_with("tensor a has dtype F8_E4M3"));
  EXPECT_EQ(ErrorOf("{" + Tensor("a", "[1]", "[0,4]") + "," + Tensor("a", "[1]", "[0,4]") + "}", 4),
            "header names tensor a twice");
  EXPECT_EQ(ErrorOf("{\"a\":" + std::string(100000, '[') + "}", 0), "header nests deeper than 3");
  const std::string flag = "{" + Tensor("a", "[1]", "[0,1]", "BOOL") + "}";
  EXPECT_EQ(Message(OpenBytes(Size(flag.size()) + flag + "\2")),
            "tensor a holds 2, expected 0 or 1");
}

TEST_F(Safetensors, RejectsAWeightOfAnotherShape) {
  ASSERT_TRUE(WriteSafetensors(path_, {{"a", Array(DataType::kF32, {2, 3})}}));
  const SafetensorsWeights weights(std::move(*SafetensorsFile::Open(path_)));
  EXPECT_TRUE(weights.Load({"a", DataType::kF32, {2, 3}, ""}).has_value());
  EXPECT_EQ(weights.Load({"a", DataType::kF32, {3, 2}, ""}).error().message,
            path_.string() + ": tensor a is f32[2, 3], expected f32[3, 2]");
  EXPECT_EQ(weights.Load({"b", DataType::kF32, {3, 2}, ""}).error().message,
            path_.string() + " has no tensor b");
}

/// The numbers equal those of the NumPy code in docs/reference/graph_format.md.
TEST(RandomWeights, AreWhatNumpyRepeats) {
  const auto w0 = RandomWeights(42).Load({"w0", DataType::kF32, {3}, "uniform(-0.03, 0.03)"});
  EXPECT_EQ(w0->GetDouble(0), -0.002915260847657919);
  EXPECT_EQ(w0->GetDouble(1), 0.025878939777612686);
  EXPECT_EQ(w0->GetDouble(2), 0.02903403714299202);
  const auto fc = RandomWeights(42).Load({"fc.weight", DataType::kF32, {3}, "normal(0.05)"});
  EXPECT_EQ(fc->GetDouble(0), -0.030357668176293373);
  EXPECT_EQ(fc->GetDouble(1), 0.013262070715427399);
  EXPECT_EQ(fc->GetDouble(2), 0.013609612360596657);
  const auto h = RandomWeights(7).Load({"h", DataType::kF16, {3}, "uniform(-1.0, 1.0)"});
  EXPECT_EQ(h->GetDouble(0), 0.7685546875);
  EXPECT_EQ(h->GetDouble(1), -0.4833984375);
  EXPECT_EQ(h->GetDouble(2), -0.77734375);
  const auto i = RandomWeights(7).Load({"i", DataType::kI64, {3}, "uniform(0.0, 100.0)"});
  EXPECT_EQ(i->GetDouble(0), 86.0);
  EXPECT_EQ(i->GetDouble(1), 83.0);
  EXPECT_EQ(i->GetDouble(2), 43.0);
}

TEST(RandomWeights, RejectABadDistribution) {
  EXPECT_FALSE(RandomWeights(1).Load({"w", DataType::kF32, {2}, "gamma(1)"}).has_value());
  EXPECT_FALSE(RandomWeights(1).Load({"w", DataType::kF32, {2}, "uniform(1)"}).has_value());
}

}  // namespace
}  // namespace tunec
