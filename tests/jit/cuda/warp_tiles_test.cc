// Tests of the code for products by tensor cores, and of its emulation against the interpreter.
// Wrong owner maps, wrong orders of lanes and divergent lanes must be found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <tuple>

#include "ir/interpret/interpret.h"
#include "ir/tile_intrinsic.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_operation.h"
#include "jit/cuda/emulate/warp_requests.h"
#include "support/random.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/jit/nest_runner.h"
#include "tests/programs/replaced.h"

namespace tunec::jit_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The layout of an operand in shared memory. The reduced dimension is the last in kAlongReduced,
// and the first in kAcross and kPadded. kPadded has longer rows.
enum class OperandLayout { kAlongReduced, kAcross, kPadded };

struct ProductCase {
  std::string name;
  std::string tile;
  OperandLayout left = OperandLayout::kAlongReduced;
  OperandLayout right = OperandLayout::kAcross;
  std::vector<std::string> ptx;  // expected instructions
  std::string swizzle = {};      // swizzle of shared storage
};
void PrintTo(const ProductCase& product, std::ostream* out) { *out << product.name; }

struct OperandText {
  std::string shape;
  std::string element;  // index with "{0}" for rows or columns and "{1}" for the reduced dimension
};

OperandText TextOf(OperandLayout layout, int64_t across, int64_t reduced) {
  if (layout == OperandLayout::kAlongReduced)
    return {fmt::format("{}, {}", across, reduced), "{0}, {1}"};
  // The padding of one element misaligns rows, so ldmatrix cannot load some rows.
  const int64_t padding = layout == OperandLayout::kPadded ? 1 : 0;
  return {fmt::format("{}, {}", reduced, across + padding), "{1}, {0}"};
}

std::string At(const OperandText& operand, const std::string& across, const std::string& reduced) {
  return fmt::format(fmt::runtime(operand.element), across, reduced);
}

constexpr const char* kOwn = "[16*{0} + 8*u + floor(l/4), 8*j + 2*(l mod 4) + v]";

// Returns the text of a product by two warps. Each warp computes 16 rows and 16 columns, in two
// steps of the reduced dimension. `own` is the index of a lane's accumulators; {0} is the warp.
std::string Product(const ProductCase& of, const std::string& own = kOwn) {
  const TileIntrinsic& tile = *FindTileIntrinsic(of.tile);
  const int64_t step = tile.Extent(TileAxis::kReduced);
  const int64_t reduced = 2 * step;
  const OperandText left = TextOf(of.left, 32, reduced);
  const OperandText right = TextOf(of.right, 16, reduced);
  const std::string type(Name(tile.left.type));
  const std::string sum(Name(tile.accumulator.type));
  const auto cast = [&](const std::string& read) {
    return type == sum ? read : fmt::format("{}({})", sum, read);
  };
  const auto lanes = [&](const std::string& warp, const std::string& store) {
    return fmt::format(
        "block.y for {} in 0 .. 2 {{\nblock.x for l in 0 .. 32 {{\nunrolled for j in 0 .. 2 {{\n"
        "unrolled for u in 0 .. 2 {{\nunrolled for v in 0 .. 2 {{\n{}\n}}\n}}\n}}\n}}\n}}\n",
        warp, store);
  };
  std::string text = fmt::format(
      "nest product {{\ninput A: {0}[32, {1}]\ninput B: {0}[{1}, 16]\noutput C: {2}[32, 16]\n"
      "local a: {0}[{3}]\nlocal b: {0}[{4}]\nlocal acc: {2}[32, 16]\nphase main {{\n"
      "grid.x for g in 0 .. 1 {{\nalloc acc: fragment {{\n",
      type, reduced, sum, left.shape, right.shape);
  const std::string init = fmt::format(fmt::runtime(own), "w0");
  text += lanes(
      "w0", fmt::format("init: acc{} = {}", init, IsFloat(tile.accumulator.type) ? "0.0" : "0i32"));
  text += fmt::format("alloc a: shared{0} {{\nalloc b: shared{0} {{\n", of.swizzle);
  text += fmt::format(
      "block.y for w1 in 0 .. 2 {{\nblock.x for x in 0 .. 16 {{\nfor k in 0 .. {0} {{\n"
      "copy_a: a[{1}] = A[16*w1 + x, k]\n}}\n}}\n}}\n"
      "block.x for y in 0 .. 16 {{\nfor k in 0 .. {0} {{\n copy_b: b[{2}] = B[k, y]\n}}\n}}\n"
      "barrier\n",
      reduced, At(left, "16*w1 + x", "k"), At(right, "y", "k"));
  text += fmt::format(
      "block.y for w2 in 0 .. 2 {{\nfor step in 0 .. 2 {{\nunrolled for j in 0 .. 2 {{\ntile {} "
      "{{\n"
      "unrolled for m in 0 .. 16 {{\nunrolled for r in 0 .. {} {{\nvector for n in 0 .. 8 {{\n"
      "s: acc[16*w2 + m, 8*j + n] sum= {} * {}\n}}\n}}\n}}\n}}\n}}\n}}\n}}\n}}\n}}\n",
      of.tile, step,
      cast(fmt::format("a[{}]", At(left, "16*w2 + m", fmt::format("{}*step + r", step)))),
      cast(fmt::format("b[{}]", At(right, "8*j + n", fmt::format("{}*step + r", step)))));
  const std::string out = fmt::format(fmt::runtime(own), "w3");
  text += lanes("w3", fmt::format("out: C{0} = acc{0}", out));
  return text + "}\n}\n}\n}\n";
}

std::vector<ProductCase> PlainCases() {
  const std::string by_rows = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
  const std::string left_turned = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";
  const std::string right_by_rows = "ldmatrix.sync.aligned.m8n8.x2.shared.b16";
  const std::string right_turned = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16";
  const std::string bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
  const std::string f16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  const std::string tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
  const std::string s8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
  using enum OperandLayout;
  return {
      {"bf16", "mma.m16n8k16.bf16", kAlongReduced, kAcross, {bf16, by_rows, right_turned}},
      {"bf16_turned",
       "mma.m16n8k16.bf16",
       kAcross,
       kAlongReduced,
       {bf16, left_turned, right_by_rows}},
      {"bf16_padded", "mma.m16n8k16.bf16", kPadded, kPadded, {bf16, "ld.shared.b16"}},
      {"f16", "mma.m16n8k16.f16", kAlongReduced, kAcross, {f16, by_rows, right_turned}},
      {"tf32",
       "mma.m16n8k8.tf32",
       kAlongReduced,
       kAcross,
       {tf32, by_rows, "ld.shared.b32", "cvt.rna.tf32.f32"}},
      {"s8", "mma.m16n8k32.s8", kAlongReduced, kAlongReduced, {s8, by_rows, right_by_rows}},
      {"s8_turned", "mma.m16n8k32.s8", kAcross, kAcross, {s8, "ld.shared.b8"}},
  };
}

// Returns the plain cases, and the same with swizzled chunks of 16 bytes. A swizzle does not change
// the expected instructions.
std::vector<ProductCase> Cases() {
  std::vector<ProductCase> cases = PlainCases();
  for (ProductCase of : PlainCases()) {
    of.name += "_swizzled";
    of.swizzle = " swizzle 4 of 128";
    cases.push_back(of);
  }
  return cases;
}

class WarpTiles : public testing::TestWithParam<ProductCase> {};

TEST_P(WarpTiles, AreAsInterpreted) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const LoopNest nest = Parse(Product(GetParam()));
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(*ParseLoopNest(Print(nest), "again"), nest);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const std::vector<Array> arguments = RandomArguments(nest, seed);
    const auto expected = Interpret(nest, arguments, Precision::kNative);
    ASSERT_TRUE(expected) << expected.error().message;
    ExpectStagesRetainResults(nest, arguments, *expected);
    const auto actual = RunEmulated(nest, arguments);
    ASSERT_TRUE(actual) << actual.error().message;
    const Array& reference = expected->front();
    for (int64_t i = 0; i < reference.size(); ++i) {
      if (IsFloat(reference.type())) {
        ASSERT_EQ(actual->front().GetDouble(i), reference.GetDouble(i)) << i;
      } else {
        ASSERT_EQ(actual->front().GetInt(i), reference.GetInt(i)) << i;
      }
    }
  }
}

TEST_P(WarpTiles, AreInstructionsOfTensorCores) {
  const LoopNest nest = *MakeCudaGenerator()->MapThreads(Parse(Product(GetParam())));
  const auto ptx =
      MakeCudaGenerator()->Show(nest, {.device = *CudaAccelerator("sm_80")}, CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message;
  for (const std::string& instruction : GetParam().ptx) EXPECT_THAT(*ptx, HasSubstr(instruction));
  EXPECT_THAT(*ptx, Not(HasSubstr(".local")));  // fragments are in registers
}

TEST_P(WarpTiles, AreAssembled) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const LoopNest nest = *MakeCudaGenerator()->MapThreads(Parse(Product(GetParam())));
  for (const std::string arch : {"sm_80", "sm_86", "sm_90a", "sm_100"}) {
    const auto image = MakeCudaGenerator()->Compile(nest, {.device = *CudaAccelerator(arch)});
    ASSERT_TRUE(image) << arch << ": " << image.error().message;
    EXPECT_EQ(image->phases[0].spilled_bytes, 0) << arch;
    EXPECT_EQ(image->phases[0].block, (std::array<int64_t, 3>{32, 2, 1}));
  }
}

INSTANTIATE_TEST_SUITE_P(Products, WarpTiles, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

int64_t ConflictsOf(const std::string& swizzle) {
  ProductCase of = Cases().front();
  of.swizzle = swizzle;
  const LoopNest nest = Parse(Product(of));
  const CountedRun counted;
  const auto results = RunEmulated(nest, RandomArguments(nest, 1));
  EXPECT_TRUE(results) << results.error().message;
  return counted.Of("product_phase0").bank_conflicts;
}

TEST(SwizzledWarpTiles, HaveFewerBankConflicts) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  EXPECT_LT(ConflictsOf(" swizzle 4 of 128"), ConflictsOf(""));
}

// --- Rejections ---

std::string Rejection(const std::string& text) {
  const auto nest = ParseLoopNest(text, "n");
  if (!nest) return nest.error().Format();
  const Status status = Verify(*nest);
  return status ? "" : status.error().message;
}

TEST(RejectedWarpTiles, HaveLanesInAnotherOrder) {
  const ProductCase bf16 = Cases().front();
  EXPECT_EQ(Rejection(Product(bf16)), "");
  // With this index, eight lanes own the elements of a row instead of four.
  EXPECT_THAT(Rejection(Product(bf16, "[16*{0} + 4*j + floor(l/8), 4*u + 2*v + (l mod 8)]")),
              HasSubstr("store init: fragment acc: lane "));
  // A lane has columns 4 apart instead of adjacent ones.
  EXPECT_THAT(Rejection(Product(bf16, "[16*{0} + 8*u + floor(l/4), 8*j + (l mod 4) + 4*v]")),
              HasSubstr("fragment acc: lane"));
  // The access is outside a loop over lanes.
  const std::string outside = test::ReplacedOnce(Product(bf16), "alloc a: shared {\n",
                                                 "alloc a: shared {\nagain: acc[0, 0] = 0.0\n");
  EXPECT_THAT(Rejection(outside), HasSubstr("access outside a loop over block.x"));
}

// Returns the text of a product in which lanes 0 and 1 of each warp compute one step each.
std::string Apart(const ProductCase& of) {
  return test::ReplacedOnce(Product(of), "for step in 0 .. 2 {\nunrolled for j",
                            "block.x for step in 0 .. 2 {\nunrolled for j");
}

TEST(RejectedWarpTiles, TellLanesApart) {
  const ProductCase bf16 = Cases().front();
  EXPECT_THAT(Rejection(Apart(bf16)), HasSubstr("loop step separates lanes"));
  const std::string half = test::ReplacedOnce(Product(bf16), "block.y for w2 in 0 .. 2 {\n",
                                              "block.y for w2 in 0 .. 2 {\nmore: C[0, 0] = 1.0\n");
  EXPECT_THAT(Rejection(half),
              HasSubstr("loop w2 is over warps because a tile is inside, so it may "
                        "contain only tiles"));
}

TEST(RejectedWarpTiles, HaveOtherShapes) {
  const ProductCase bf16 = Cases().front();
  std::string narrow = Product(bf16);
  for (size_t at = 0; (at = narrow.find("l in 0 .. 32", at)) != std::string::npos; ++at)
    narrow.replace(at, 12, "l in 0 .. 16");
  EXPECT_THAT(Rejection(narrow), HasSubstr("16 threads along x, expected 32 for a warp's tile"));
  EXPECT_THAT(Rejection(test::ReplacedOnce(Product(bf16), "s: acc[16*w2 + m, 8*j + n]",
                                           "s: acc[8*w2 + m, 8*j + n]")),
              HasSubstr("rows of acc are not aligned to a tile"));
}

// Each warp adds to the rows of the other warp. The verifier does not find this race.
TEST(WrongWarpTiles, HaveFragmentsOfAnotherWarp) {
  const LoopNest nest = Parse(
      test::ReplacedOnce(Product(Cases().front()), "s: acc[16*w2 + m", "s: acc[-16*w2 + m + 16"));
  const auto result = Interpret(nest, RandomArguments(nest, 1), Precision::kNative);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("race: "));
  EXPECT_FALSE(RunEmulated(nest, RandomArguments(nest, 1)));
}

TEST(WrongWarpTilesDeathTest, LackABarrier) {
  const LoopNest nest = Parse(test::ReplacedOnce(Product(Cases().front()), "barrier\n", ""));
  const auto result = Interpret(nest, RandomArguments(nest, 1), Precision::kNative);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("race: "));
  if (!kEmulates) return;
  EXPECT_DEATH(std::ignore = RunEmulated(nest, RandomArguments(nest, 1)),
               "s reads 16 bytes of a at shared memory \\+ [0-9]+: a race at shared memory");
}

// Returns a nest in which only lanes 0 to 7 reach the tiles. The verifier rejects such nests.
LoopNest OfEightLanes(const std::string& before_end = "") {
  std::string text =
      test::ReplacedOnce(Product(Cases().front()), "unrolled for j in 0 .. 2 {\ntile",
                         "unrolled for j in 0 .. 2 {\nblock.x for x in 0 .. 8 {\ntile");
  text = test::ReplacedOnce(text, "s: acc[16*w2 + m, 8*j + n]",
                            "s: acc[16*w2 + m + floor(x/4), 8*j + n + 2*(x mod 4)]");
  const auto nest = ParseLoopNest(
      test::ReplacedOnce(text, "block.y for w3", "}\n" + before_end + "block.y for w3"), "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  return *nest;
}

TEST(WrongWarpTilesDeathTest, HaveLanesThatGoApart) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const LoopNest nest = OfEightLanes();
  EXPECT_DEATH(std::ignore = RunEmulated(nest, RandomArguments(nest, 1)),
               "product_phase0, block 0, warp of thread 0: lane 8 is at its end, but lane 0 at "
               "ldmatrix [0-9]+: all lanes of a warp must come together");
}

// The other lanes wait at a barrier, which lanes 0 to 7 cannot reach.
TEST(WrongWarpTilesDeathTest, WaitForEver) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const LoopNest nest = OfEightLanes("barrier\n");
  EXPECT_DEATH(std::ignore = RunEmulated(nest, RandomArguments(nest, 1)),
               "lane 8 is at barrier [0-9]+, but lane 0 at ldmatrix [0-9]+");
}

// --- Operations of the emulation ---

struct Warp {
  std::vector<std::array<uint32_t, 16>> registers = std::vector<std::array<uint32_t, 16>>(32);
  std::vector<LaneRegisters> lanes;
  Warp() {
    for (auto& lane : registers) lanes.push_back(lane.data());
  }
};

TEST(WarpOperations, LoadMatricesAsDescribed) {
  for (const bool transposed : {false, true}) {
    Warp warp;
    // Element (row, column) of matrix m is 100*m + 10*row + column.
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t pair = 0; pair < 4; ++pair) {
        const uint32_t first = 100 * (lane / 8) + 10 * (lane % 8) + 2 * pair;
        warp.registers[lane].at(pair) = first | (first + 1) << 16;
      }
    MatrixLoad(4, transposed).Run(warp.lanes);
    const uint32_t step = transposed ? 10 : 1;
    // Lane 13 gets elements 2 and 3 of row 3, or of column 3 if transposed.
    const uint32_t first = transposed ? 200 + 10 * 2 + 3 : 200 + 10 * 3 + 2;
    EXPECT_EQ(warp.registers[13][2], first | (first + step) << 16);
    EXPECT_EQ(warp.registers[0][3], 300U | (300U + step) << 16);
  }
}

// Returns the number of wrong sums of a product by `computed`. The operands are 16 x 16 and 16 x 8
// small integers, so sums are exact in any order.
int64_t WrongSums(const TileIntrinsic& computed) {
  const TileIntrinsic& tile = *FindTileIntrinsic("mma.m16n8k16.bf16");
  Random random(7);
  std::array<std::array<float, 16>, 16> a;
  std::array<std::array<float, 8>, 16> b;
  for (auto& row : a)
    for (float& value : row) value = static_cast<float>(random.Below(9)) - 4;
  for (auto& row : b)
    for (float& value : row) value = static_cast<float>(random.Below(9)) - 4;
  Warp warp;
  const auto put = [&](const OwnerMap& map, const auto& matrix, size_t first) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t e = 0; e < ElementsOfLane(map); ++e) {
        const auto [row, column] = Locate(map, {lane, e});
        const auto bits = std::bit_cast<uint32_t>(matrix.at(row).at(column)) >> 16;
        warp.registers[lane].at(first + e / 2) |= bits << (16 * (e % 2));
      }
    }
  };
  put(*tile.left.owners, a, 0);
  put(*tile.right.owners, b, 4);
  TileProduct(computed).Run(warp.lanes);
  int64_t wrong = 0;
  for (int64_t lane = 0; lane < 32; ++lane) {
    for (int64_t e = 0; e < 4; ++e) {
      const auto [row, column] = Locate(*tile.accumulator.owners, {lane, e});
      float sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += a.at(row)[k] * b[k].at(column);
      wrong += std::bit_cast<float>(warp.registers[lane].at(e)) != sum ? 1 : 0;
    }
  }
  return wrong;
}

TEST(WarpOperations, MultiplyFragments) {
  EXPECT_EQ(WrongSums(*FindTileIntrinsic("mma.m16n8k16.bf16")), 0);
}

TEST(WarpOperations, AreWrongWithAWrongMap) {
  const TileIntrinsic& right = *FindTileIntrinsic("mma.m16n8k16.bf16");
  const auto planted = [&](TileOperand TileIntrinsic::*operand, auto change) {
    TileIntrinsic wrong = right;
    change(*(wrong.*operand).owners);
    return WrongSums(wrong);
  };
  // Each element still has one owner. Two digits of the number of an element, or of the number of a
  // lane, are exchanged.
  const auto registers = [](OwnerMap& map) { std::swap(map.element[1], map.element.back()); };
  const auto pairs = [](OwnerMap& map) { std::swap(map.element[0], map.element[1]); };
  const auto lanes = [](OwnerMap& map) { std::swap(map.lane[0], map.lane[1]); };
  EXPECT_GT(planted(&TileIntrinsic::left, registers), 0);
  EXPECT_GT(planted(&TileIntrinsic::left, pairs), 0);
  EXPECT_GT(planted(&TileIntrinsic::left, lanes), 0);
  EXPECT_GT(planted(&TileIntrinsic::right, pairs), 0);
  EXPECT_GT(planted(&TileIntrinsic::right, lanes), 0);
  EXPECT_GT(planted(&TileIntrinsic::accumulator, pairs), 0);
  EXPECT_GT(planted(&TileIntrinsic::accumulator, lanes), 0);
}

}  // namespace
}  // namespace tunec::jit_test
