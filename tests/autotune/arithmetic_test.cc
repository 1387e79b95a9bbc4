// Tests the table of multiply-add instructions, and ArithmeticOf, which finds a kernel's main
// instruction and the number of its multiply-adds per multiply-add of the lowering.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "autotune/measure/kernel_arithmetic.h"
#include "ir/nest/visit_loop_nest.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/examples.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

using test::MustParse;
using ::testing::ElementsAre;

// Returns text such as "amx.bf16 x 6" or "none", or the error of steps that cannot be parsed.
std::string ArithmeticText(const Compute& compute, const std::string& steps = "") {
  const Result<Schedule> schedule = ParseSchedule("lower direct\n" + steps, "test");
  if (!schedule) return schedule.error().Format();
  const std::optional<KernelArithmetic> arithmetic = ArithmeticOf(compute, *schedule, Target{});
  return arithmetic ? fmt::format("{} x {:g}", arithmetic->by->name, arithmetic->work) : "none";
}

// Returns a product of matrices of these types, followed by another statement.
Compute Product(const std::string& left, const std::string& right, const std::string& sum,
                const std::string& out = "f32(acc[i, j])") {
  return MustParse(test::ProductText({.left = {.type = left},
                                      .right = {.type = right, .weight = "constant"},
                                      .sum = sum,
                                      .value = out}));
}

Compute Float32Product() { return Product("f32", "f32", "f32", "max(acc[i, j], 0.0)"); }

TEST(MacInstructions, AreThePlainOnesAndTheTilesOfCpus) {
  std::vector<std::string> names;
  for (const MacInstruction& by : MacInstructions()) names.push_back(by.name);
  EXPECT_THAT(names, ElementsAre("fma.f32", "fma.f64", "dpbf16.avx512", "vnni.avx512", "amx.bf16",
                                 "amx.int8"));
  for (const TileIntrinsic& intrinsic : TileIntrinsics()) {
    const MacInstruction* by = MacOf(intrinsic);
    ASSERT_EQ(by != nullptr, intrinsic.target == "cpu") << intrinsic.name;
    const bool plain = by == &Float32Fma();
    EXPECT_EQ(plain, intrinsic.name.starts_with("fma.")) << intrinsic.name;
    if (by != nullptr && !plain) {
      EXPECT_EQ(by->name, intrinsic.name);
    }
  }
  EXPECT_EQ(PlainMac(DataType::kF16), &Float32Fma());
  EXPECT_EQ(PlainMac(DataType::kBF16), &Float32Fma());
  EXPECT_EQ(PlainMac(DataType::kF64)->name, "fma.f64");
  EXPECT_EQ(PlainMac(DataType::kI32), nullptr);
}

TEST(MacInstructions, ATargetHasThoseOfItsFeatures) {
  const auto names = [](const char* cpu) {
    std::vector<std::string> of_cpu;
    for (const MacInstruction* by : MacInstructionsOf(*ParseCpu(cpu, 1))) {
      of_cpu.push_back(by->name);
    }
    return of_cpu;
  };
  EXPECT_THAT(names("haswell"), ElementsAre("fma.f32", "fma.f64"));
  EXPECT_THAT(names("cascadelake"), ElementsAre("fma.f32", "fma.f64", "vnni.avx512"));
  EXPECT_THAT(names("sapphirerapids"), ElementsAre("fma.f32", "fma.f64", "dpbf16.avx512",
                                                   "vnni.avx512", "amx.bf16", "amx.int8"));
  EXPECT_EQ(Describe(*FindMac("fma.f64")), "f64 multiply-adds");
  EXPECT_EQ(Describe(*FindMac("amx.int8")), "u8 multiply-adds (amx.int8)");
}

TEST(MacInstructions, ADeviceHasNoneOfThem) {
  const Target device{.device = Accelerator{.kind = "paper", .name = "a4"}};
  EXPECT_TRUE(MacInstructionsOf(device).empty());
  EXPECT_THAT(MissingFeatures(Float32Fma(), device), ElementsAre("a cpu"));
  EXPECT_EQ(ArithmeticOf(Float32Product(), {}, device), std::nullopt);
}

TEST(KernelArithmetic, IsOfTheTypeThatIsComputedIn) {
  EXPECT_EQ(ArithmeticText(Float32Product()), "fma.f32 x 1");
  EXPECT_EQ(ArithmeticText(Float32Product(), "tensorize acc.j fma.avx512"), "fma.f32 x 1");
  EXPECT_EQ(ArithmeticText(Product("f64", "f64", "f64")), "fma.f64 x 1");
  EXPECT_EQ(ArithmeticText(Product("f32", "f64", "f64")), "fma.f64 x 1");
  EXPECT_EQ(ArithmeticText(Product("f16", "f16", "f32")), "fma.f32 x 1");
  EXPECT_EQ(ArithmeticText(Product("bf16", "bf16", "f32")), "fma.f32 x 1");
}

// These schedules may differ in the number of operations. Without bfloat16 parts, all operations
// count as useful.
TEST(KernelArithmetic, OfFloat32AloneIsExactlyOne) {
  for (const char* steps : {"", "pack B 0 1", "reduce_split acc k 4 inner", "cache_write acc",
                            "index_split acc i 1 36"}) {
    const Result<Schedule> schedule = ParseSchedule(steps, "test");
    ASSERT_TRUE(schedule) << schedule.error().Format();
    EXPECT_EQ(ArithmeticOf(Float32Product(), *schedule, Target{}),
              (KernelArithmetic{&Float32Fma(), 1}))
        << steps;
  }
}

TEST(KernelArithmetic, IsTheTilesInstruction) {
  const std::string dot = "tensorize acc.k.1 dpbf16.avx512";
  EXPECT_EQ(ArithmeticText(Product("bf16", "bf16", "f32"), dot), "dpbf16.avx512 x 1");
  EXPECT_EQ(ArithmeticText(Product("bf16", "bf16", "f32"), "tensorize acc.i.1 amx.bf16"),
            "amx.bf16 x 1");
  EXPECT_EQ(ArithmeticText(Product("u8", "i8", "i32"), "tensorize acc.k.1 vnni.avx512"),
            "vnni.avx512 x 1");
  EXPECT_EQ(ArithmeticText(Product("i8", "u8", "i32"), "tensorize acc.i.1 amx.int8"),
            "amx.int8 x 1");
  // The intrinsic does not multiply float32 operands.
  EXPECT_EQ(ArithmeticText(Float32Product(), dot), "fma.f32 x 1");
}

TEST(KernelArithmetic, OfSplitOperandsDoesSeveralForEachUsefulOne) {
  const auto split = [](int bf16_parts) {
    return fmt::format("precision acc bf16 {}\n", bf16_parts);
  };
  const std::string tile = "tensorize acc.i.1 amx.bf16";
  EXPECT_EQ(ArithmeticText(Float32Product(), split(1) + tile), "amx.bf16 x 1");
  EXPECT_EQ(ArithmeticText(Float32Product(), split(2) + tile), "amx.bf16 x 3");
  EXPECT_EQ(ArithmeticText(Float32Product(), split(3) + tile), "amx.bf16 x 6");
  // A later step on the sum does not change the result.
  EXPECT_EQ(ArithmeticText(Float32Product(), split(3) + "reduce_split acc term 2 outer\n" + tile),
            "amx.bf16 x 6");
  // Without tiles the splits are multiplied as float32.
  EXPECT_EQ(ArithmeticText(Float32Product(), split(3)), "fma.f32 x 6");
}

// Returns two products with sums of these lengths. The tests split the operands of the first
// product or of none.
Compute TwoProducts(int64_t first, int64_t second) {
  return MustParse(fmt::format(R"(
    compute two {{
      input A: f32[16, {0}]
      input B: f32[{0}, 16]
      input D: f32[16, {1}]
      input E: f32[{1}, 16]
      output C: f32[16, 16]
      output F: f32[16, 16]
      one[i: 16, j: 16, k: {0} reduction]:
        C[i, j] sum= A[i, k] * B[k, j]
      other[i: 16, j: 16, k: {1} reduction]:
        F[i, j] sum= D[i, k] * E[k, j]
    }})",
                               first, second));
}

TEST(KernelArithmetic, OfAMixtureIsWhatDoesMost) {
  const std::string steps = "precision one bf16 1\ntensorize one.i.1 amx.bf16";
  EXPECT_EQ(ArithmeticText(TwoProducts(60, 20), steps), "amx.bf16 x 0.75");
  EXPECT_EQ(ArithmeticText(TwoProducts(20, 60), steps), "fma.f32 x 0.75");
  EXPECT_EQ(ArithmeticText(TwoProducts(20, 20), steps), "amx.bf16 x 0.5");  // the first product
  EXPECT_EQ(ArithmeticText(TwoProducts(20, 60)), "fma.f32 x 1");
}

TEST(KernelArithmetic, OfIntegersAloneIsNone) {
  EXPECT_EQ(ArithmeticText(Product("u8", "i8", "i32")), "none");
  EXPECT_EQ(ArithmeticText(Product("i32", "i32", "i32", "f32(acc[i, j])")), "none");
  // The statement after the product has another arithmetic, but fewer operations.
  EXPECT_EQ(ArithmeticText(Product("u8", "i8", "i32", "f32(acc[i, j]) * 0.5 + 1.0")), "none");
}

TEST(KernelArithmetic, WithoutMultiplyAddsIsOfTheFloatType) {
  const auto elementwise = [](const std::string& type, const std::string& value) {
    return MustParse(fmt::format(R"(
    compute elementwise {{
      input X: {0}[37, 13]
      output Y: {0}[13, 37]
      out[i: 37, j: 13]:
        Y[j, i] = {1}
    }})",
                                 type, value));
  };
  EXPECT_EQ(ArithmeticText(elementwise("f32", "max(X[i, j], 0.0)")), "fma.f32 x 1");
  EXPECT_EQ(ArithmeticText(elementwise("f32", "exp(X[i, j]) + 1.0")), "fma.f32 x 1");
  EXPECT_EQ(ArithmeticText(elementwise("f64", "exp(X[i, j])")), "fma.f64 x 1");
  EXPECT_EQ(ArithmeticText(elementwise("i32", "X[i, j] + 1i32")), "none");
  EXPECT_EQ(ArithmeticText(elementwise("f32", "X[i, j]")), "none");
  // The operations on integers do not count.
  EXPECT_EQ(ArithmeticText(elementwise("f32", "X[i, j] + f32(index_i64(i) * 3i64 + index_i64(j))")),
            "fma.f32 x 1");
}

TEST(KernelArithmetic, OfAScheduleThatDoesNotApplyIsTheLowerings) {
  EXPECT_EQ(
      ArithmeticText(Float32Product(), "precision nothing bf16 1\ntensorize acc.i.1 amx.bf16"),
      "fma.f32 x 1");
}

// The instruction is that of the tiles in the generated loops.
TEST(KernelArithmetic, IsWhatTheLoopsTilesSay) {
  const Compute compute = test::ExampleCompute("bfloat16_terms");
  const Result<Schedule> schedule =
      ParseSchedule(test::ReadExample("bfloat16_terms.sched"), "bfloat16_terms");
  ASSERT_TRUE(schedule) << schedule.error().Format();
  const auto loops = test::LoopsOf(compute, *schedule, ReductionOrder::kAny);
  ASSERT_TRUE(loops) << loops.error().Format();
  std::set<std::string> tiles;
  ForEach<Tile>(loops->nest, [&](const Tile& tile) { tiles.insert(tile.intrinsic); });
  const std::optional<KernelArithmetic> arithmetic = ArithmeticOf(compute, *schedule, Target{});
  ASSERT_TRUE(arithmetic);
  EXPECT_THAT(tiles, ElementsAre(arithmetic->by->name));
  EXPECT_EQ(arithmetic->work, 6);
}

}  // namespace
}  // namespace tunec
