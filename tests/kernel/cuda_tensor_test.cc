// Tests of the analytic schedules of products by tensor cores. The emulation checks the results of
// small kernels. For large kernels, the tests check the instructions, the predicted times, and that
// ptxas reports no spills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/code_generator.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/nvdisasm.h"
#include "kernel/loop_pipeline.h"
#include "schedule/sketch.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The instructions that copy 16 bytes to shared memory (kChunks), and 8 or 4 bytes (kNarrowChunks).
const std::string kChunks = "cp.async.cg.shared.global";
const std::string kNarrowChunks = "cp.async.ca.shared.global";

struct Multiplied {
  std::string name;
  std::string text;
  RoundingFreedom rounding;
  std::string mma;  // instruction in the PTX
  // The expected copy instruction if copies are pipelined. It is not checked if empty.
  std::string copy = kChunks;
};

void PrintTo(const Multiplied& product, std::ostream* out) { *out << product.name; }

std::string HalfProduct(const std::string& type, int rows, int columns, int length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .left = {.type = type},
                      .right = {.type = type, .index = "j, k"},
                      .result = type,
                      .value = type + "(acc[i, j])"});
}

std::string ByteProduct(int rows, int columns, int length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .left = {.type = "i8"},
                      .right = {.type = "i8", .index = "j, k", .weight = "constant"},
                      .sum = "i32",
                      .result = "i32",
                      .value = ""});
}

// Returns the text of a batch of products of inputs, with the sums stored directly into the output.
std::string Batched(int batch, int rows, int columns, int length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .batch = batch,
                      .left = {.type = "bf16"},
                      .right = {.type = "bf16"},
                      .value = ""});
}

const std::string kBf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const std::string kF16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
const std::string kTf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
const std::string kS8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";

// Returns products small enough to emulate.
std::vector<Multiplied> SmallProducts() {
  return {
      {"tf32", DenseLayerText(64, 96, 64), Tf32(), kTf32},
      {"rounded", DenseLayerText(128, 128, 128), RoundingWithBf16Parts(1), kBf16},
      {"bf16", HalfProduct("bf16", 64, 96, 128), AnyOrder(), kBf16},
      {"f16", HalfProduct("f16", 64, 96, 64), AnyOrder(), kF16},
      {"s8", ByteProduct(64, 96, 128), AnyOrder(), kS8},
      {"batched", Batched(3, 32, 64, 64), AnyOrder(), kBf16},
      // From here through `batched_odd`, neither tiles nor 16-byte copies divide the shapes.
      {"tf32_odd", DenseLayerText(100, 45, 27), Tf32(), kTf32},
      {"rounded_odd", DenseLayerText(101, 94, 66), RoundingWithBf16Parts(1), kBf16},
      {"bf16_odd", HalfProduct("bf16", 50, 61, 83), AnyOrder(), kBf16},
      {"bf16_of_8_bytes", HalfProduct("bf16", 50, 61, 84), AnyOrder(), kBf16},
      {"f16_of_4_bytes", HalfProduct("f16", 70, 45, 122), AnyOrder(), kF16},
      {"s8_odd", ByteProduct(37, 45, 100), AnyOrder(), kS8},
      {"s8_of_bytes", ByteProduct(37, 45, 101), AnyOrder(), kS8},
      {"batched_odd", Batched(3, 29, 42, 37), AnyOrder(), kBf16},
      {"three_terms", DenseLayerText(128, 128, 160), RoundingWithBf16Parts(3), kBf16},
      {"three_terms_one_piece", DenseLayerText(256, 128, 32), RoundingWithBf16Parts(3), kBf16},
      {"three_terms_small_pieces", DenseLayerText(128, 192, 80), RoundingWithBf16Parts(3), kBf16},
      {"two_terms", DenseLayerText(128, 128, 96), RoundingWithBf16Parts(2), kBf16},
      {"batched_three_terms", BatchedProductText(2, 128, 128, 96), RoundingWithBf16Parts(3), kBf16},
      {"batched_two_terms", BatchedProductText(2, 128, 128, 96), RoundingWithBf16Parts(2), kBf16}};
}

// Returns products of real sizes, which are only compiled.
std::vector<Multiplied> LargeProducts() {
  return {{"tf32_512", DenseLayerText(512, 512, 512), Tf32(), kTf32},
          {"rounded_512", DenseLayerText(512, 512, 512), RoundingWithBf16Parts(1), kBf16},
          {"any_512", DenseLayerText(512, 512, 512), AnyRounding(), "mma.sync.aligned"},
          {"any_1024", DenseLayerText(1024, 1024, 1024), AnyRounding(), "mma.sync.aligned"},
          {"any_wide", DenseLayerText(128, 3072, 768), AnyRounding(), "mma.sync.aligned"},
          {"bf16_1024", HalfProduct("bf16", 1024, 1024, 1024), AnyOrder(), kBf16},
          {"bf16_4096", HalfProduct("bf16", 4096, 4096, 4096), AnyOrder(), kBf16},
          {"f16_768", HalfProduct("f16", 512, 768, 768), AnyOrder(), kF16},
          {"s8_1024", ByteProduct(1024, 1024, 1024), AnyOrder(), kS8},
          {"batched", Batched(12, 512, 512, 64), AnyOrder(), kBf16},
          {"tf32_odd", DenseLayerText(509, 401, 307), Tf32(), kTf32, kNarrowChunks},
          {"any_odd", DenseLayerText(509, 401, 307), AnyRounding(), "mma.sync.aligned", ""},
          {"bf16_1000", HalfProduct("bf16", 1000, 1000, 1000), AnyOrder(), kBf16},
          {"bf16_odd", HalfProduct("bf16", 1021, 1011, 509), AnyOrder(), kBf16, ""},
          {"s8_1000", ByteProduct(1000, 1000, 1000), AnyOrder(), kS8, kNarrowChunks},
          {"batched_197", Batched(12, 197, 197, 64), AnyOrder(), kBf16}};
}

// Returns float32 products with operands of two or three bfloat16 parts. Tensor cores compute such
// products only on GPUs where tensor cores are several times as fast as threads.
std::vector<Multiplied> LargeSplitProducts() {
  return {{"product_1024", DenseLayerText(1024, 1024, 1024), RoundingWithBf16Parts(3), kBf16},
          {"product_4096", DenseLayerText(4096, 4096, 4096), RoundingWithBf16Parts(3), kBf16},
          {"wide", DenseLayerText(1024, 3072, 768), RoundingWithBf16Parts(3), kBf16},
          {"two_terms", DenseLayerText(1024, 1024, 1024), RoundingWithBf16Parts(2), kBf16},
          {"batched", BatchedProductText(12, 1024, 1024, 1024), RoundingWithBf16Parts(3), kBf16}};
}

Sketch FirstSketch(const Multiplied& product, const Target& target) {
  return SketchesFor({{{"direct", MustParse(product.text)}}, target, product.rounding})[0];
}

class SmallTensorProduct : public testing::TestWithParam<Multiplied> {};

TEST_P(SmallTensorProduct, IsComputedRight) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const ScheduleChecker checker(MustParse(GetParam().text));
  for (const int processors : {1, 132}) {
    Target target = Gpu("sm_90a");
    target.device->processors = processors;
    const Sketch sketch = FirstSketch(GetParam(), target);
    // On 132 processors, of which some may be idle, other kinds of sketches are also accepted.
    if (processors == 1) {
      EXPECT_EQ(sketch.Kind(), "cuda_tensor");
    }
    ExpectRightOn(target, checker, Analytic(sketch), GetParam().rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaTensor, SmallTensorProduct, testing::ValuesIn(SmallProducts()),
                         [](const auto& info) { return info.param.name; });

class LargeTensorProduct : public testing::TestWithParam<Multiplied> {};

LoopNest Mapped(const Multiplied& product, const Schedule& schedule, const Target& target) {
  const auto loops =
      RunLoopPipeline(MustParse(product.text), schedule, {.rounding = product.rounding});
  EXPECT_TRUE(loops) << loops.error().Format() << "\n" << Print(schedule);
  return loops ? *(*GeneratorFor(target))->MapThreads(loops->nest) : LoopNest{};
}

// Expects the matrix instruction in PTX and machine code, the copy instruction in PTX if copies are
// pipelined, and no spills. Checks spills and machine code only if NVIDIA's tools exist.
void ExpectAssembles(const Multiplied& product, const Schedule& schedule, const Target& target) {
  const std::string& arch = target.device->name;
  const LoopNest nest = Mapped(product, schedule, target);
  const CodeGenerator& generator = **GeneratorFor(target);
  const auto ptx = generator.Show(nest, target, CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message << "\n" << Print(schedule);
  EXPECT_THAT(*ptx, HasSubstr(product.mma));
  const bool in_pieces = Print(schedule).contains("pipeline ");
  if (in_pieces && !product.copy.empty()) {
    EXPECT_THAT(*ptx, HasSubstr(product.copy)) << Print(schedule);
  }
  if (!test::WhyNoPtxas().empty()) return;
  const auto image = generator.Compile(nest, target);
  ASSERT_TRUE(image) << arch << ": " << image.error().message << "\n" << Print(schedule);
  for (const PhaseLaunch& phase : image->phases) {
    EXPECT_EQ(phase.spilled_bytes, 0) << arch << "\n" << Print(schedule);
    EXPECT_EQ(phase.local_bytes, 0) << arch << "\n" << Print(schedule);
  }
  if (!FindNvdisasm()) return;
  const auto machine_code = generator.Show(nest, target, CodeText::kMachineCode);
  ASSERT_TRUE(machine_code) << machine_code.error().message;
  EXPECT_THAT(*machine_code, HasSubstr(product.mma == kS8 ? "IMMA." : "HMMA.")) << arch;
}

TEST_P(LargeTensorProduct, IsMultipliedByTensorCoresOfEveryArch) {
  for (const std::string arch : {"sm_80", "sm_86", "sm_90a", "sm_100"}) {
    const Target target = Gpu(arch);
    const Sketch sketch = FirstSketch(GetParam(), target);
    ASSERT_EQ(sketch.Kind(), "cuda_tensor") << arch;
    ExpectAssembles(GetParam(), Analytic(sketch), target);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaTensor, LargeTensorProduct, testing::ValuesIn(LargeProducts()),
                         [](const auto& info) { return info.param.name; });

class LargeSplitProduct : public testing::TestWithParam<Multiplied> {};

TEST_P(LargeSplitProduct, IsMultipliedByTensorCoresWhereTheyArePredictedToBeFaster) {
  for (const std::string arch : {"sm_80", "sm_86", "sm_90a", "sm_100"}) {
    Target target = Gpu(arch);
    // sm_86 gets the speed ratio of tensor cores to threads of sm_80. With the original ratio,
    // threads may be faster.
    if (arch == "sm_86") target.device->multiply_adds /= 4;
    const Sketch sketch = FirstSketch(GetParam(), target);
    ASSERT_EQ(sketch.Kind(), "cuda_tensor") << arch;
    ExpectAssembles(GetParam(), Analytic(sketch), target);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaTensor, LargeSplitProduct, testing::ValuesIn(LargeSplitProducts()),
                         [](const auto& info) { return info.param.name; });

double Predicted(const Multiplied& product, const Target& target) {
  return PredictedSeconds(MustParse(product.text), Analytic(FirstSketch(product, target)), target,
                          product.rounding);
}

double PredictedByThreads(const std::string& text, const Target& target) {
  const Sketch sketch = FirstSketch({"", text, AnyOrder(), "", ""}, WithoutTensorCores(target));
  return PredictedSeconds(MustParse(text), Analytic(sketch), target, AnyOrder());
}

// The schedules that the estimate selects are also faster than threads by the prediction.
TEST(CudaTensor, IsPredictedFasterThanThreads) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    for (const int extent : {512, 1024, 2048}) {
      const std::string text = DenseLayerText(extent, extent, extent);
      EXPECT_LT(Predicted({"", text, AnyRounding(), "", ""}, Gpu(arch)),
                PredictedByThreads(text, Gpu(arch)))
          << arch << ", " << extent;
    }
  }
}

const Sketch& Named(const std::vector<Sketch>& sketches, std::string_view name) {
  const auto found = std::ranges::find(sketches, name, &Sketch::name);
  EXPECT_NE(found, sketches.end()) << name;
  return found == sketches.end() ? sketches.back() : *found;
}

// A tuner gets the sketches with and without tensor cores if both apply. The first sketch has the
// smaller estimate.
TEST(CudaTensor, IsOfferedBesideThreads) {
  const Target target = Gpu("sm_90a");
  for (const auto& [text, first] : {std::pair(HalfProduct("bf16", 1024, 1024, 1024), "cuda_tensor"),
                                    std::pair(HalfProduct("bf16", 32, 64, 8192), "cuda_tile")}) {
    const auto sketches =
        SketchesFor({{{"direct", MustParse(text)}}, target, ReductionOrder::kAny});
    EXPECT_EQ(sketches[0].name, first);
    EXPECT_THAT(Print(Analytic(Named(sketches, "cuda_tensor"))), HasSubstr("\ntensorize "));
    EXPECT_THAT(Print(Analytic(Named(sketches, "cuda_tile"))), Not(HasSubstr("\ntensorize ")));
  }
}

// The sketch with tensor cores pads these products.
TEST(CudaTensor, OfOddExtentsIsPredictedFasterThanThreads) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    const Target target = Gpu(arch);
    for (const std::string& text :
         {HalfProduct("bf16", 1000, 1000, 1000), HalfProduct("bf16", 1021, 1011, 509)}) {
      const Compute compute = MustParse(text);
      const auto sketches = SketchesFor({{{"direct", compute}}, target, ReductionOrder::kAny});
      EXPECT_EQ(sketches[0].name, "cuda_tensor");
      const auto predicted = [&](std::string_view name) {
        return PredictedSeconds(compute, Analytic(Named(sketches, name)), target,
                                ReductionOrder::kAny);
      };
      EXPECT_LT(predicted("cuda_tensor"), predicted("cuda_tile"));
    }
  }
}

TEST(CudaTensor, SplitProductsArePredictedFasterThanThreads) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    for (const int extent : {512, 1024, 2048, 4096}) {
      const std::string text = DenseLayerText(extent, extent, extent);
      const Target target = Gpu(arch);
      const Sketch sketch = FirstSketch({"", text, RoundingWithBf16Parts(3), "", ""}, target);
      if (sketch.Kind() != "cuda_tensor") continue;
      EXPECT_LT(
          PredictedSeconds(MustParse(text), Analytic(sketch), target, RoundingWithBf16Parts(3)),
          PredictedByThreads(text, target))
          << arch << ", " << extent;
    }
  }
}

// Six products are not worthwhile if tensor cores are only four times as fast as threads.
TEST(CudaTensor, LeavesFloat32ToThreadsWhereTheyAreFaster) {
  for (const int extent : {512, 2048})
    EXPECT_EQ(
        FirstSketch({"", DenseLayerText(extent, extent, extent), RoundingWithBf16Parts(3), "", ""},
                    Gpu("sm_86"))
            .Kind(),
        "cuda_tile");
}

}  // namespace
}  // namespace tunec::test
