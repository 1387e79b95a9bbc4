// Tests of the table of tile intrinsics. Every entry is interpreted in a separate nest, by the
// entry's definition and as equivalent loops. Rounding and rejections are also tested.
#include "ir/tile_intrinsic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "ir/interpret/interpret.h"
#include "ir/nest/loop_nest_names.h"
#include "tests/ir/small_arguments.h"

namespace tunec {

// Prints the name for GoogleTest, which would otherwise print bytes.
static void PrintTo(const TileIntrinsic& intrinsic, std::ostream* out) { *out << intrinsic.name; }

namespace {

using test::SmallArguments;
using testing::HasSubstr;

int64_t Extent(const TileIntrinsic& intrinsic, TileAxis axis) {
  return intrinsic.extents[static_cast<int>(axis)];
}

// Returns an operand's axes of extents above 1, from the outermost to the innermost. In this order
// they have the strides that the entry requires.
std::vector<TileAxis> StorageOrder(const TileIntrinsic& intrinsic, const TileOperand& operand) {
  std::vector<TileAxis> axes;
  for (int axis = 0; axis < kTileAxes; ++axis) {
    if (intrinsic.extents[axis] > 1 && operand.strides[axis] != kNotUsed) {
      axes.push_back(static_cast<TileAxis>(axis));
    }
  }
  const auto stride = [&](TileAxis axis) {
    const int64_t required = operand.strides[static_cast<int>(axis)];
    return required == kAnyStride ? INT64_MAX : required;
  };
  std::ranges::stable_sort(axes, std::greater<>(), stride);
  return axes;
}

constexpr const char* kVariables[] = {"m", "k", "g", "n"};

// The parts of a nest's text for one operand. The operand is copied from an input to a local
// tensor, which is in a scope that the entry can access.
struct OperandText {
  std::string tensors;
  std::string alloc;
  std::string copy;
  std::string element;  // element of the local tensor
};

std::string Indexed(const std::string& tensor, const std::vector<TileAxis>& axes) {
  std::string text;
  for (const TileAxis axis : axes) {
    text += (text.empty() ? "" : ", ") + std::string(kVariables[static_cast<int>(axis)]);
  }
  return tensor + "[" + text + "]";
}

OperandText TextOf(const TileIntrinsic& intrinsic, const TileOperand& operand,
                   const std::string& name) {
  const std::vector<TileAxis> axes = StorageOrder(intrinsic, operand);
  std::string shape, open, close;
  for (const TileAxis axis : axes) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(Extent(intrinsic, axis));
    open += fmt::format("for {} in 0 .. {} {{\n", kVariables[static_cast<int>(axis)],
                        Extent(intrinsic, axis));
    close += "}\n";
  }
  const auto is_plain = [](Scope scope) {
    return scope != Scope::kGlobal && scope != Scope::kRegister;
  };
  const Scope scope = *std::ranges::find_if(operand.scopes, is_plain);
  const std::string type(Name(operand.type));
  OperandText text;
  text.tensors =
      fmt::format("input {0}: {1}[{2}]\nlocal {3}: {1}[{2}]\n", name, type, shape, name + ".t");
  text.alloc = fmt::format("alloc {}: {} {{\n", name + ".t", Name(scope));
  text.element = Indexed(name + ".t", axes);
  text.copy = fmt::format("{}c: {} = {}\n{}", open, text.element, Indexed(name, axes), close);
  return text;
}

// Returns the text of loops in which each lane copies its elements of a 16 x 8 accumulator.
std::string CopyByLanes(const std::string& statement, const std::string& to,
                        const std::string& from) {
  const std::string index = "[8*u + floor(l/4), 2*(l mod 4) + v]";
  return "block.x for l in 0 .. 32 {\nfor u in 0 .. 2 {\nfor v in 0 .. 2 {\n" + statement + ": " +
         to + index + " = " + from + index + "\n}\n}\n}\n";
}

// Returns the text of a nest that computes C = S + A . B by one tile.
std::string NestOf(const TileIntrinsic& intrinsic) {
  const OperandText left = TextOf(intrinsic, intrinsic.left, "A");
  const OperandText right = TextOf(intrinsic, intrinsic.right, "B");
  const OperandText sum = TextOf(intrinsic, intrinsic.accumulator, "S");
  const std::vector<TileAxis> axes = StorageOrder(intrinsic, intrinsic.accumulator);
  std::string loops, close, out, out_close, shape;
  for (int axis = 0; axis < kTileAxes; ++axis) {
    if (intrinsic.extents[axis] == 1) continue;
    loops += fmt::format("for {} in 0 .. {} {{\n", kVariables[axis], intrinsic.extents[axis]);
    close += "}\n";
  }
  for (const TileAxis axis : axes) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(Extent(intrinsic, axis));
    out += fmt::format("for {} in 0 .. {} {{\n", kVariables[static_cast<int>(axis)],
                       Extent(intrinsic, axis));
    out_close += "}\n";
  }
  const bool of_warp = intrinsic.IsOfWarp();
  const std::string fill = of_warp ? CopyByLanes("c", "S.t", "S") + "barrier\n" : sum.copy;
  out = of_warp ? CopyByLanes("o", "C", "S.t")
                : fmt::format("{}o: {} = {}\n{}", out, Indexed("C", axes), sum.element, out_close);
  const std::string type(Name(intrinsic.accumulator.type));
  const bool converts = intrinsic.left.type != intrinsic.accumulator.type;
  const auto operand = [&](const std::string& element) {
    return converts ? type + "(" + element + ")" : element;
  };
  return "nest n {\n" + left.tensors + right.tensors + sum.tensors +
         fmt::format("output C: {}[{}]\nphase p {{\n", type, shape) + left.alloc + right.alloc +
         sum.alloc + left.copy + right.copy + fill +
         fmt::format("tile {} {{\n{}s: {} sum= {} * {}\n{}}}\n", intrinsic.name, loops, sum.element,
                     operand(left.element), operand(right.element), close) +
         out + "}\n}\n}\n}\n}\n";
}

class EveryTile : public testing::TestWithParam<TileIntrinsic> {};

TEST_P(EveryTile, MeansWhatItsLoopsDo) {
  const std::string text = NestOf(GetParam());
  const auto nest = ParseLoopNest(text, "n");
  ASSERT_TRUE(nest) << nest.error().Format() << text;
  EXPECT_EQ(*ParseLoopNest(Print(*nest), "again"), *nest);
  ASSERT_TRUE(Verify(*nest)) << Verify(*nest).error().message << text;
  const std::vector<Array> arguments = SmallArguments(*nest, 8);
  // The numbers have few bits, so results are exact in any order.
  const auto by_meaning = Interpret(*nest, arguments, Precision::kNative);
  const auto by_loops = Interpret(*nest, arguments, Precision::kFloat64);
  ASSERT_TRUE(by_meaning) << by_meaning.error().message;
  ASSERT_TRUE(by_loops) << by_loops.error().message;
  int64_t different = 0;
  for (int64_t i = 0; i < by_loops->front().size(); ++i) {
    const bool integer = !IsFloat(GetParam().accumulator.type);
    const bool same = integer ? by_meaning->front().GetInt(i) == by_loops->front().GetInt(i)
                              : by_meaning->front().GetDouble(i) == by_loops->front().GetDouble(i);
    EXPECT_TRUE(same) << "element " << i;
    different += by_loops->front().GetDouble(i) != arguments[2].GetDouble(i) ? 1 : 0;
  }
  EXPECT_GT(different, 0) << "the tile adds nothing";
}

std::vector<TileIntrinsic> Entries() {
  const auto table = TileIntrinsics();
  return {table.begin(), table.end()};
}
INSTANTIATE_TEST_SUITE_P(Table, EveryTile, testing::ValuesIn(Entries()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '.', '_');
  return name;
});

Scalar Accumulate(std::string_view name, double accumulator, std::vector<double> left,
                  std::vector<double> right) {
  std::vector<Scalar> a, b;
  for (const double value : left) a.push_back(Scalar::Real(value));
  for (const double value : right) b.push_back(Scalar::Real(value));
  return FindTileIntrinsic(name)->meaning(Scalar::Real(accumulator), a, b);
}

TEST(TileMeaning, RoundsAsTheInstructionDoes) {
  // fma rounds a product and its addition together, once.
  EXPECT_EQ(Accumulate("fma.avx512", 1, {0x1p-24}, {1}).real, 1);
  EXPECT_EQ(Accumulate("fma.avx512", 1, {0x1.8p-24}, {1}).real, 1 + 0x1p-23);
  // dpbf16 adds the product of element 1 before that of element 0.
  EXPECT_EQ(Accumulate("dpbf16.avx512", 0, {1, 0x1p30}, {1, 1}).real, 0x1p30);
  EXPECT_EQ(Accumulate("dpbf16.avx512", -0x1p30, {1, 0x1p30}, {1, 1}).real, 1);
  // dpbf16 flushes denormals to zero, fma does not.
  EXPECT_EQ(Accumulate("dpbf16.avx512", 0x1p-130, {0x1p-128, 0}, {0x1p20, 0}).real, 0);
  EXPECT_EQ(Accumulate("dpbf16.avx512", 0, {0x1p-70, 0}, {0x1p-70, 0}).real, 0);
  EXPECT_EQ(Accumulate("fma.avx2", 0, {0x1p-70}, {0x1p-70}).real, 0x1p-140);
  // amx.bf16 sums odd and even products separately.
  EXPECT_EQ(Accumulate("amx.bf16", 0, {0x1p30, 1, -0x1p30, 1}, {1, 1, 1, 1}).real, 2);
  // mma rounds operands of tf32 to ten bits of fraction, and ties away from 0.
  EXPECT_EQ(Accumulate("mma.m16n8k8.tf32", 0, {1 + 0x1p-12}, {1}).real, 1);
  EXPECT_EQ(Accumulate("mma.m16n8k8.tf32", 0, {-1 - 0x1p-11}, {1}).real, -1 - 0x1p-10);
  EXPECT_EQ(Accumulate("mma.m16n8k8.tf32", 0, {1 + 0x1p-10}, {1}).real, 1 + 0x1p-10);
}

TEST(TileMeaning, IntegersWrap) {
  const std::vector<Scalar> left = {Scalar::Integer(255)};
  const std::vector<Scalar> right = {Scalar::Integer(127)};
  EXPECT_EQ(
      FindTileIntrinsic("vnni.avx512")->meaning(Scalar::Integer(INT32_MAX), left, right).integer,
      int64_t{INT32_MAX} + 255 * 127 - (int64_t{1} << 32));
}

TEST(TileIntrinsics, SayWhatATargetLacks) {
  Target target;
  target.host.features = {"avx2", "fma", "avx512f"};
  EXPECT_TRUE(MissingFeatures(*FindTileIntrinsic("fma.avx512"), target).empty());
  EXPECT_EQ(MissingFeatures(*FindTileIntrinsic("dpbf16.avx512"), target),
            std::vector<std::string>{"avx512bf16"});
  EXPECT_EQ(MissingFeatures(*FindTileIntrinsic("wgmma.m64n128k16.bf16"), target),
            std::vector<std::string>{"a cuda"});
  target.device = Accelerator{.kind = "cuda", .name = "sm_80", .features = {"sm_80"}};
  EXPECT_TRUE(MissingFeatures(*FindTileIntrinsic("mma.m16n8k16.bf16"), target).empty());
  EXPECT_EQ(MissingFeatures(*FindTileIntrinsic("wgmma.m64n128k16.bf16"), target),
            std::vector<std::string>{"sm_90a"});
  EXPECT_EQ(MissingFeatures(*FindTileIntrinsic("fma.avx512"), target),
            std::vector<std::string>{"a cpu"});
  EXPECT_EQ(FindTileIntrinsic("fma"), nullptr);
}

std::string Rejection(const std::string& body, const std::string& tensors = "") {
  const std::string text =
      "nest n {\n input A: f32[64]\n input B: f32[64, 16]\n input H: bf16[64]\n" + tensors +
      " output C: f32[64]\n phase p {\n" + body + "\n}\n}\n";
  const auto nest = ParseLoopNest(text, "n");
  if (!nest) return nest.error().Format();
  const Status status = Verify(*nest);
  return status ? "" : status.error().message;
}

TEST(TileIntrinsics, BodiesMustFit) {
  const auto fma = [](const std::string& statement) {
    return Rejection("tile fma.avx512 {\n vector for n in 0 .. 16 {\n s: " + statement + "\n}\n}");
  };
  EXPECT_EQ(fma("C[n] sum= A[0] * B[3, n]"), "");
  EXPECT_EQ(fma("C[n] sum= B[3, n] * A[0]"), "");  // the factors may be exchanged
  EXPECT_THAT(fma("C[n] sum= A[0] * B[n, 3]"),
              HasSubstr("right operand B: neighbours along columns are 16 apart, expected 1"));
  EXPECT_THAT(fma("C[n] sum= A[n] * B[0, n]"),
              HasSubstr("left operand A: neighbours along columns are 1 apart, expected 0"));
  EXPECT_THAT(fma("C[n] = A[0] * B[3, n]"), HasSubstr("expected a sum of products"));
  EXPECT_THAT(fma("C[n] sum= A[0] + B[3, n]"), HasSubstr("expected a sum of products"));
  EXPECT_THAT(fma("C[n] sum= A[0] * f32(H[n])"), HasSubstr("H of bf16, expected f32"));
  EXPECT_THAT(fma("C[0] sum= A[0] * B[3, n]"), HasSubstr("accumulator C: neighbours along"));
  EXPECT_THAT(fma("C[n] sum= A[0] * (B[3, n] where (7 - n >= 0) else 0.0)"),
              HasSubstr("an operand is guarded"));
  EXPECT_THAT(fma("C[n] sum= C[16] * A[n]"), HasSubstr("C is an operand and the accumulator"));
  EXPECT_THAT(
      Rejection("tile fma.avx512 {\n vector for n in 0 .. 8 {\n s: C[n] sum= A[0] * A[n]\n}\n}"),
      HasSubstr("expected a loop over columns of 16 iterations"));
  EXPECT_THAT(Rejection("tile fma.avx512 {\n s: C[0] sum= A[0] * A[1]\n}"),
              HasSubstr("expected a loop over columns of 16 iterations"));
  EXPECT_THAT(Rejection("alloc t: shared {\n tile fma.avx512 {\n vector for n in 0 .. 16 {\n"
                        " s: t[n] sum= A[0] * A[n]\n}\n}\n}",
                        " local t: f32[16]\n"),
              HasSubstr("t is in shared storage, which the tile cannot access"));
}

TEST(TileIntrinsics, ReadOnlyWhatIsWritten) {
  const auto nest = ParseLoopNest(
      "nest n {\n input A: f32[16]\n output C: f32[16]\n local t: f32[16]\n phase p {\n"
      " alloc t: packed {\n tile fma.avx512 {\n vector for n in 0 .. 16 {\n"
      " s: t[n] sum= A[0] * A[n]\n}\n}\n for i in 0 .. 16 {\n o: C[i] = t[i]\n}\n}\n}\n}\n",
      "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto result = Interpret(*nest, SmallArguments(*nest, 8), Precision::kNative);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("fma.avx512: read of t[0], which nothing wrote"));
}

}  // namespace
}  // namespace tunec
