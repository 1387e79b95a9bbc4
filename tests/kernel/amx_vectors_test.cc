// Tests of the AMX products in the table of tile intrinsics. Results must equal the stored test
// vectors bit for bit, except for the bits of NaNs. With TUNEC_BLESS=1, vectors that the table
// computed are rewritten, but not those of a processor. bench/gpu_day/cpu16.sh records a
// processor's vectors.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/tile_intrinsic.h"
#include "runtime/kernel_vectors.h"
#include "support/check.h"
#include "support/file.h"
#include "support/random.h"
#include "tests/golden/golden_file.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = "the table";
constexpr int64_t kRows = 16, kColumns = 16, kReduced = 16, kTiles = 4;

/// An instruction and the types of its operands.
struct Instruction {
  std::string name;
  DataType left, right, sum;
};

std::vector<Instruction> Instructions() {
  return {{"amx.bf16", DataType::kBF16, DataType::kBF16, DataType::kF32},
          {"amx.int8", DataType::kU8, DataType::kI8, DataType::kI32}};
}

Scalar NumberOf(uint64_t bits, DataType type) {
  switch (type) {
    case DataType::kBF16:
      return Scalar::Real(std::bit_cast<float>(static_cast<uint32_t>(bits << 16)));
    case DataType::kF32:
      return Scalar::Real(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DataType::kI8:
      return Scalar::Integer(static_cast<int8_t>(bits));
    case DataType::kI32:
      return Scalar::Integer(static_cast<int32_t>(bits));
    default:
      return Scalar::Integer(static_cast<int64_t>(bits));
  }
}

uint64_t BitsOf(const Scalar& number, DataType type) {
  if (type == DataType::kI32) return static_cast<uint32_t>(number.integer);
  return std::bit_cast<uint32_t>(static_cast<float>(number.real));
}

uint64_t BitsAt(const KernelVector& vector, int64_t element) {
  const size_t size = SizeOf(vector.type);
  uint64_t bits = 0;
  std::memcpy(&bits, vector.bytes.data() + static_cast<size_t>(element) * size, size);
  return bits;
}

void Append(KernelVector& vector, uint64_t bits) {
  std::string bytes(SizeOf(vector.type), '\0');
  std::memcpy(bytes.data(), &bits, bytes.size());
  vector.bytes += bytes;
}

// Returns the bits of an f32 with a biased exponent from `low` to `high`.
uint32_t FloatWith(uint32_t low, uint32_t high, Random& random) {
  const uint32_t bits = static_cast<uint32_t>(random.Next());
  const uint32_t exponent = low + (bits >> 9) % (high - low + 1);
  return (bits & 0x807fffff) | (exponent << 23);
}

// Returns the bits of a random number for the tile. Tiles have numbers of similar magnitude,
// numbers far apart, very small numbers, or some special numbers.
uint32_t FloatOfTile(int64_t tile, Random& random) {
  constexpr uint32_t kSpecial[] = {0x7f800000, 0xff800000, 0x7fc00000, 0,
                                   0x80000000, 0x7f7f0000, 0x00010000, 0x3f800000};
  if (tile == 0) return FloatWith(122, 130, random);
  if (tile == 1) return FloatWith(60, 190, random);
  if (tile == 2) return FloatWith(0, 80, random);
  return random.Below(16) == 0 ? kSpecial[random.Below(std::size(kSpecial))]
                               : FloatWith(126, 128, random);
}

KernelVector RandomArgument(std::string name, DataType type, Random& random) {
  KernelVector vector{.name = std::move(name), .type = type};
  const int64_t bytes_of_tile = 1024;
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    for (int64_t i = 0; i < bytes_of_tile / static_cast<int64_t>(SizeOf(type)); ++i) {
      const uint32_t bits =
          IsFloat(type) ? FloatOfTile(tile, random) : static_cast<uint32_t>(random.Next());
      Append(vector, type == DataType::kBF16 ? bits >> 16 : bits);
    }
  }
  return vector;
}

KernelVectors RandomVectors(const Instruction& instruction) {
  Random random(7);
  KernelVectors vectors{.from = kTable, .arguments = {}};
  vectors.arguments.push_back(RandomArgument("A", instruction.left, random));
  vectors.arguments.push_back(RandomArgument("B", instruction.right, random));
  vectors.arguments.push_back(RandomArgument("C", instruction.sum, random));
  return vectors;
}

// Returns C + A . B for each tile. A row of A has the reduced elements, in groups. A row of B has
// one group per column.
KernelVector ProductsOf(const KernelVectors& vectors, const TileIntrinsic& intrinsic) {
  const KernelVector &a = vectors.arguments[0], &b = vectors.arguments[1],
                     &c = vectors.arguments[2];
  const int64_t group = intrinsic.Extent(TileAxis::kGroup);
  const int64_t operand = kRows * kReduced * group;
  KernelVector sums{.name = "D", .type = c.type};
  for (int64_t at = 0; at < kTiles * kRows * kColumns; ++at) {
    const int64_t tile = at / (kRows * kColumns), row = at / kColumns % kRows;
    const int64_t column = at % kColumns;
    std::vector<Scalar> left, right;
    for (int64_t k = 0; k < kReduced * group; ++k) {
      const int64_t in_right = (k / group * kColumns + column) * group + k % group;
      left.push_back(NumberOf(BitsAt(a, tile * operand + row * kReduced * group + k), a.type));
      right.push_back(NumberOf(BitsAt(b, tile * operand + in_right), b.type));
    }
    Append(sums, BitsOf(intrinsic.meaning(NumberOf(BitsAt(c, at), c.type), left, right), c.type));
  }
  return sums;
}

// Returns the vector with the same NaN in place of every NaN.
KernelVector WithOneNan(KernelVector vector) {
  if (!IsFloat(vector.type)) return vector;
  constexpr uint64_t kNan = 0x7fc00000;
  KernelVector changed{.name = vector.name, .type = vector.type};
  for (size_t i = 0; i < vector.elements(); ++i) {
    const uint64_t bits = BitsAt(vector, static_cast<int64_t>(i));
    Append(changed, std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits))) ? kNan : bits);
  }
  return changed;
}

class AmxVectors : public testing::TestWithParam<Instruction> {
 protected:
  fs::path Path() const {
    return fs::path(TUNEC_TEST_DATA) / "amx_vectors" / (GetParam().name.substr(4) + ".vectors");
  }
  KernelVectors Vectors() const {
    if (!fs::exists(Path())) return RandomVectors(GetParam());
    auto vectors = ParseKernelVectors(*ReadFile(Path()), Path().string());
    TUNEC_CHECK(vectors, "{}", vectors.error().message);
    return *std::move(vectors);
  }
};

TEST_P(AmxVectors, GoldenAreWhatTheTableSays) {
  KernelVectors vectors = Vectors();
  const KernelVector sums = WithOneNan(ProductsOf(vectors, *FindTileIntrinsic(GetParam().name)));
  if (test::RewritesGoldens() && vectors.from == kTable) {
    vectors.arguments.resize(3);
    vectors.SetOutputs(kTable, {sums});
    std::ofstream(Path()) << Print(vectors);
    return;
  }
  ASSERT_NE(vectors.Find("D"), nullptr);
  vectors.arguments[3] = WithOneNan(vectors.arguments[3]);
  const auto difference = CompareWith(vectors, sums);
  ASSERT_TRUE(difference) << difference.error().message;
  EXPECT_EQ(*difference, "") << vectors.from;
}

// A wrong definition, which adds all products one after the other, gives other results.
TEST(AmxVectorsOfOtherMeanings, Differ) {
  TileIntrinsic wrong = *FindTileIntrinsic("amx.bf16");
  wrong.meaning = FindTileIntrinsic("dpbf16.avx512")->meaning;
  const KernelVectors vectors = RandomVectors(Instructions()[0]);
  const KernelVector right = ProductsOf(vectors, *FindTileIntrinsic("amx.bf16"));
  EXPECT_NE(WithOneNan(ProductsOf(vectors, wrong)).bytes, WithOneNan(right).bytes);
}

INSTANTIATE_TEST_SUITE_P(Instructions, AmxVectors, testing::ValuesIn(Instructions()),
                         [](const auto& info) { return info.param.name.substr(4); });

}  // namespace
}  // namespace tunec
