#include "numpy/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "numpy/npy_format.h"
#include "support/random.h"

namespace tunec {
namespace {

using testing::HasSubstr;

// A fixture with a folder that is removed after the test.
class NpzTest : public testing::Test {
 public:
  NpzTest() {
    std::string path = testing::TempDir() + "/tunec_npz_XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~NpzTest() override { std::filesystem::remove_all(folder_); }

 protected:
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Put(const std::string& bytes) const {
    std::ofstream(Path("given.npz"), std::ios::binary) << bytes;
    return Path("given.npz");
  }

 private:
  std::string folder_;
};

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

template <class T>
std::vector<T> Elements(const NamedArray& array) {
  std::vector<T> elements(array.bytes.size() / sizeof(T));
  std::memcpy(elements.data(), array.bytes.data(), array.bytes.size());
  return elements;
}

// The file that numpy 2.4.6 writes for savez_compressed(x=arange(6, dtype=float32).reshape(2, 3),
// flag=[True, False]), in hexadecimal.
constexpr std::string_view kCompressed =
    "504b03042d0000000800000021004fe9002affffffffffffffff05001400782e6e7079010010009800000000000000"
    "55"
    "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f9492"
    "0a"
    "12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e063068b007120e4004c40d40bcc00100504b03"
    "04"
    "2d000000080000002100ee19bb5dffffffffffffffff08001400666c61672e6e707901001000820000000000000046"
    "00"
    "0000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a"
    "12"
    "774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e460600504b01022d032d0000000800000021004fe900"
    "2a"
    "5500000098000000050000000000000000000000800100000000782e6e7079504b01022d032d000000080000002100"
    "ee"
    "19bb5d460000008200000008000000000000000000000080018c000000666c61672e6e7079504b0506000000000200"
    "02"
    "00690000000c0100000000";

// numpy's file for savez(f=asfortranarray(arange(6, dtype=int16).reshape(2, 3)), s=int64(-7)).
constexpr std::string_view kStored =
    "504b03042d00000000000000210068c6180fffffffffffffffff05001400662e6e7079010010008c00000000000000"
    "8c"
    "00000000000000934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f726465"
    "72"
    "273a20547275652c20277368617065273a2028322c2033292c207d2020202020202020202020202020202020202020"
    "20"
    "20202020202020202020202020202020202020202020202020202020202020202020202020200a0000030001000400"
    "02"
    "000500504b03042d000000000000002100c8b83ce4ffffffffffffffff05001400732e6e7079010010008800000000"
    "00"
    "00008800000000000000934e554d5059010076007b276465736372273a20273c6938272c2027666f727472616e5f6f"
    "72"
    "646572273a2046616c73652c20277368617065273a2028292c207d2020202020202020202020202020202020202020"
    "20"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020200af9ffffffff"
    "ff"
    "ffff504b01022d032d00000000000000210068c6180f8c0000008c0000000500000000000000000000008001000000"
    "00"
    "662e6e7079504b01022d032d000000000000002100c8b83ce488000000880000000500000000000000000000008001"
    "c3"
    "000000732e6e7079504b0506000000000200020066000000820100000000";

TEST_F(NpzTest, ReadsWhatNumPyCompressed) {
  const auto arrays = ReadNpz(Put(FromHex(kCompressed)));
  ASSERT_TRUE(arrays.has_value()) << arrays.error().Format();
  ASSERT_EQ(arrays->size(), 2U);
  const NamedArray& x = (*arrays)[0];
  EXPECT_EQ(x.spec, (TensorSpec{"x", DataType::kF32, {2, 3}}));
  EXPECT_EQ(Elements<float>(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x.bytes.data()) % 64, 0U);
  EXPECT_EQ((*arrays)[1].spec, (TensorSpec{"flag", DataType::kBool, {2}}));
  EXPECT_EQ(Elements<uint8_t>((*arrays)[1]), (std::vector<uint8_t>{1, 0}));
}

TEST_F(NpzTest, ReadsScalarsAndFortranOrder) {
  const auto arrays = ReadNpz(Put(FromHex(kStored)));
  ASSERT_TRUE(arrays.has_value()) << arrays.error().Format();
  ASSERT_EQ(arrays->size(), 2U);
  EXPECT_EQ((*arrays)[0].spec, (TensorSpec{"f", DataType::kI16, {2, 3}}));
  EXPECT_EQ(Elements<int16_t>((*arrays)[0]), (std::vector<int16_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((*arrays)[1].spec, (TensorSpec{"s", DataType::kI64, {}}));
  EXPECT_EQ(Elements<int64_t>((*arrays)[1]), (std::vector<int64_t>{-7}));
}

TEST_F(NpzTest, EveryTypeComesBack) {
  std::vector<std::vector<std::byte>> data;
  std::vector<NamedArrayView> views;
  data.reserve(13);
  for (int type = 0; type <= static_cast<int>(DataType::kBool); ++type) {
    const TensorSpec spec{"t/" + std::to_string(type), static_cast<DataType>(type), {2, 1, 3}};
    data.emplace_back(*ByteSize(spec));
    for (size_t i = 0; i < data.back().size(); ++i)
      data.back()[i] = std::byte(spec.type == DataType::kBool ? i % 2 : 7 * i + type);
    views.push_back({spec, data.back().data()});
  }
  ASSERT_TRUE(WriteNpz(Path("a.npz"), views).has_value());
  const auto arrays = ReadNpz(Path("a.npz"));
  ASSERT_TRUE(arrays.has_value()) << arrays.error().Format();
  ASSERT_EQ(arrays->size(), views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ((*arrays)[i].spec, views[i].spec);
    EXPECT_EQ(Elements<std::byte>((*arrays)[i]), data[i]);
  }
}

TEST_F(NpzTest, WritesTheHeaderThatNumPyWrites) {
  const TensorSpec spec{"", DataType::kF32, {2}};
  std::string expected = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.resize(127, ' ');
  expected += '\n';
  EXPECT_EQ(NpyHeader(spec), expected);
  const auto array = ReadNpy(Put(expected + std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8)));
  ASSERT_TRUE(array.has_value()) << array.error().Format();
  EXPECT_EQ(array->spec, spec);
  EXPECT_EQ(Elements<float>(*array), (std::vector<float>{1, 2}));
}

TEST_F(NpzTest, EmptyArraysAndArchivesAreFiles) {
  const NamedArrayView empty{{"e", DataType::kF32, {3, 0, 2}}, nullptr};
  ASSERT_TRUE(WriteNpz(Path("a.npz"), {&empty, 1}).has_value());
  const auto arrays = ReadNpz(Path("a.npz"));
  ASSERT_TRUE(arrays.has_value()) << arrays.error().Format();
  EXPECT_EQ((*arrays)[0].spec, empty.spec);
  ASSERT_TRUE(WriteNpz(Path("b.npz"), {}).has_value());
  EXPECT_TRUE(ReadNpz(Path("b.npz"))->empty());
}

TEST_F(NpzTest, WritingReplacesTheFileAndLeavesNoOther) {
  const int32_t value = 5;
  const NamedArrayView view{{"v", DataType::kI32, {}}, &value};
  ASSERT_TRUE(WriteNpz(Path("a.npz"), {&view, 1}).has_value());
  ASSERT_TRUE(WriteNpz(Path("a.npz"), {&view, 1}).has_value());
  const std::filesystem::directory_iterator files(Path(""));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(NpzTest, RejectsWrites) {
  const int32_t value = 5;
  const NamedArrayView view{{"v", DataType::kI32, {}}, &value};
  const NamedArrayView twice[] = {view, view};
  EXPECT_EQ(WriteNpz(Path("a.npz"), twice).error().message,
            Path("a.npz") + ": two arrays are called 'v'");
  EXPECT_EQ(WriteNpz(Path("no/a.npz"), {&view, 1}).error().code, ErrorCode::kNotFound);
  const NamedArrayView missing{{"v", DataType::kI32, {}}, nullptr};
  EXPECT_THAT(WriteNpz(Path("a.npz"), {&missing, 1}).error().message, HasSubstr("'v' has no data"));
  EXPECT_FALSE(std::filesystem::exists(Path("a.npz")));
}

TEST_F(NpzTest, BadFilesAreErrorsWithTheirPlace) {
  EXPECT_EQ(ReadNpz(Path("none.npz")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadNpz(Path("")).error().code, ErrorCode::kIo);
  EXPECT_THAT(ReadNpz(Put("")).error().message, HasSubstr("given.npz: not a zip file: only 0"));
  EXPECT_THAT(ReadNpz(Put(std::string(99999, 'x'))).error().message, HasSubstr("no end record"));

  std::string damaged = FromHex(kStored);
  damaged[180] ^= 1;
  EXPECT_THAT(ReadNpz(Put(damaged)).error().message,
              HasSubstr("given.npz: member 'f.npy' is damaged: wrong checksum"));
  damaged = FromHex(kCompressed);
  damaged[80] = static_cast<char>(~damaged[80]);
  EXPECT_THAT(ReadNpz(Put(damaged)).error().message, HasSubstr("member 'x.npy' is damaged"));
}

// Returns a .npy file with this header and this many zero bytes.
std::string Npy(const std::string& header, size_t bytes) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(bytes, '\0');
}

TEST_F(NpzTest, RejectsHeaders) {
  const std::string f4 = "'descr': '<f4', 'fortran_order': False, ";
  const struct {
    std::string file;
    const char* message;
  } cases[] = {
      {"\x93NUMPX", "not a .npy file"},
      {std::string("\x93NUMPY\x09\x00\x02\x00{}", 12), "version 9"},
      {std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "the header claims 65535 bytes"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "the header claims 4294967295 bytes"},
      {Npy("[]", 0), "not a dictionary"},
      {Npy("{}", 0), "incomplete"},
      {Npy("{ ", 0), "malformed"},
      {Npy("{" + f4 + "'shape': (2,)", 8), "malformed"},
      {Npy("{" + f4 + "'shape': (2,)} x", 8), "incomplete"},
      {Npy("{" + f4 + "'shape': (-2,)}", 8), "the shape is malformed"},
      {Npy("{" + f4 + "'shape': (2", 8), "the shape is malformed"},
      {Npy("{" + f4 + "'shape': (99999999999999999999,)}", 8), "the shape is malformed"},
      {Npy("{" + f4 + "'shape': (2,)}", 7), "7 bytes of elements do not fill f32[2]"},
      {Npy("{" + f4 + "'shape': (2,)}", 9), "9 bytes of elements do not fill f32[2]"},
      {Npy("{" + f4 + "'shape': (4611686018427387904, 4)}", 0), "do not fill"},
      {Npy("{" + f4 + "'color': 1, 'shape': (2,)}", 8), "unknown key 'color'"},
      {Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8), "structured"},
      {Npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8), "big-endian"},
      {Npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8), "type '<c8'"},
      {Npy("{'descr': '', 'fortran_order': False, 'shape': (1,)}", 8), "type ''"},
      {Npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", 4), "fortran_order"},
  };
  for (const auto& [file, message] : cases) {
    const auto array = ReadNpy(Put(file));
    ASSERT_FALSE(array.has_value()) << message;
    EXPECT_THAT(array.error().message, HasSubstr(message));
    EXPECT_THAT(array.error().message, HasSubstr("given.npz: "));
  }
}

TEST_F(NpzTest, AcceptsOtherSpellings) {
  const char* const headers[] = {
      "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
      "{'descr': 'f4', 'fortran_order': True, 'shape': ( 2 , ) , } \n",
      "{'descr': '=f4', 'fortran_order': False, 'shape': (2)}",
  };
  for (const char* header : headers)
    EXPECT_TRUE(ReadNpy(Put(Npy(header, 8))).has_value()) << header;
  const auto bf16 = ReadNpy(Put(Npy("{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}", 4)));
  EXPECT_EQ(bf16->spec.type, DataType::kBF16);
}

TEST_F(NpzTest, BoolsAreNormalised) {
  std::string file = Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", 2);
  file.back() = '\x80';
  EXPECT_EQ(Elements<uint8_t>(*ReadNpy(Put(file))), (std::vector<uint8_t>{0, 1}));
}

// A truncated file gives an error. A file with changed bytes gives arrays or an error, and no fault
// that a sanitizer finds.
TEST_F(NpzTest, SurvivesDamage) {
  Random random(1);
  for (const std::string_view hex : {kStored, kCompressed}) {
    const std::string good = FromHex(hex);
    for (size_t length = 0; length < good.size(); length += 3) {
      EXPECT_FALSE(ReadNpz(Put(good.substr(0, length))).has_value());
    }
    for (int round = 0; round < 500; ++round) {
      std::string bad = good;
      for (uint64_t change = 0; change <= random.Below(4); ++change)
        bad[random.Below(bad.size())] =
            static_cast<char>(random.Below(4) == 0 ? 0xff : random.Next());
      const auto arrays = ReadNpz(Put(bad));
      EXPECT_TRUE(arrays.has_value() || !arrays.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace tunec
