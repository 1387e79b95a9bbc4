#include "autotune/checker/kernel_reference.h"
#include "ir/array_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autotune/checker/guarded_memory.h"
#include "autotune/checker/reference_compute.h"
#include "device/open_device.h"
#include "ir/interpret/interpret.h"
#include "schedule/steps/apply_compute_steps.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"
#include "tests/programs/rows.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

using test::MustParse;
using testing::MatmulRelu;
using testing::SoftmaxRows;

Compute PaddedConv() {
  return MustParse(R"(
    compute conv {
      input X: f32[1, 3, 9, 9]
      weight W: f32[5, 3, 3, 3] constant
      output Y: f32[1, 5, 5, 5]
      acc[n: 1, o: 5, y: 5, x: 5, c: 3 reduction, r: 3 reduction, s: 3 reduction]:
        Y[n, o, y, x] sum= (X[n, c, 2*y + r - 1, 2*x + s - 1] where (2*y + r - 1 >= 0, 2*x + s - 1 >= 0, 9 - 2*y - r >= 0, 9 - 2*x - s >= 0) else 0.0) * W[o, c, r, s]
    })");
}

Compute GatherRows() { return MustParse(test::GatherText(6, 11, 70)); }

Compute Logarithm() {
  return MustParse(R"(
    compute logarithm {
      input X: f32[100]
      output Y: f32[100]
      out[i: 100]:
        Y[i] = log(X[i])
    })");
}

Compute ArgmaxRows() { return MustParse(test::ArgMaxText(7, 19)); }

class KernelReferenceTest : public ::testing::Test {
 protected:
  Result<KernelReference> ReferenceOf(const Compute& compute, const Accuracy& accuracy = {}) {
    return ComputeKernelReference(compute, accuracy, 7, target_, pool_);
  }
  Target target_ = DetectCpu(2);
  ThreadPool pool_{2};
};

TEST_F(KernelReferenceTest, AgreesWithTheInterpreterInFloat64) {
  for (const Compute& compute :
       {MatmulRelu(), SoftmaxRows(), PaddedConv(), GatherRows(), Logarithm(), ArgmaxRows()}) {
    SCOPED_TRACE(compute.name);
    const Result<KernelReference> reference = ReferenceOf(compute);
    ASSERT_TRUE(reference) << reference.error().Format();
    const auto expected = Interpret(compute, reference->arguments, Precision::kFloat64);
    ASSERT_TRUE(expected) << expected.error().Format();
    ASSERT_EQ(expected->size(), reference->checkers.size());
    for (size_t o = 0; o < expected->size(); ++o) {
      const Array& expected_output = (*expected)[o];
      const Array& got = reference->checkers[o].expected;
      ASSERT_EQ(got.type(), expected_output.type());
      ASSERT_EQ(got.shape(), expected_output.shape());
      for (int64_t i = 0; i < expected_output.size(); ++i) {
        EXPECT_NEAR(got.GetDouble(i), expected_output.GetDouble(i), 1e-12) << i;
      }
    }
  }
}

TEST_F(KernelReferenceTest, TheSequentialEvaluationIsTheInterpretersForProducts) {
  const Compute compute = MatmulRelu();
  const Result<KernelReference> reference = ReferenceOf(compute, {AccuracyMode::kExact});
  ASSERT_TRUE(reference) << reference.error().Format();
  const auto native = Interpret(compute, reference->arguments, Precision::kNative);
  ASSERT_TRUE(native) << native.error().Format();
  const Array& sequential = reference->checkers[0].sequential;
  for (int64_t i = 0; i < sequential.size(); ++i) {
    EXPECT_EQ(sequential.GetDouble(i), (*native)[0].GetDouble(i)) << i;
  }
}

// The operand t is computed in float32 and rounded only for the product. The bias b is not rounded.
TEST_F(KernelReferenceTest, OfBFloat16RoundsTheOperandsOfProductsAlone) {
  const Compute compute = MustParse(R"(
    compute layer {
      input X: f32[9, 40]
      weight W: f32[40, 21] constant
      weight b: f32[21] constant
      output Y: f32[9, 21]
      workspace t: f32[9, 40]
      workspace acc: f32[9, 21]
      t[i: 9, k: 40]:
        t[i, k] = X[i, k] * X[i, k] + 0.3
      acc[i: 9, j: 21, k: 40 reduction]:
        acc[i, j] sum= t[i, k] * W[k, j]
      Y[i: 9, j: 21]:
        Y[i, j] = acc[i, j] + b[j]
    })");
  const Result<Compute> rounded = Apply(compute, PrecisionStep{"acc", 1});
  ASSERT_TRUE(rounded) << rounded.error().Format();
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Result<KernelReference> reference =
        ComputeKernelReference(compute, {AccuracyMode::kBf16}, seed, target_, pool_);
    ASSERT_TRUE(reference) << reference.error().Format();
    const auto outputs = Interpret(*rounded, reference->arguments, Precision::kNative);
    ASSERT_TRUE(outputs) << outputs.error().Format();
    EXPECT_EQ(CheckOutputs(*outputs, reference->checkers).problem, "");
  }
}

// The operand A is stored as bfloat16, so it needs no further rounding. The bias b is not rounded.
TEST_F(KernelReferenceTest, OfBFloat16RoundsNothingBesideStoredTerms) {
  const Compute compute = MustParse(test::ProductText({.rows = 9,
                                                       .columns = 21,
                                                       .length = 40,
                                                       .left = {.type = "bf16"},
                                                       .right = {.weight = "constant"},
                                                       .bias = "weight",
                                                       .value = "acc[i, j] + b[j] * 100.0"}));
  const Result<Compute> rounded = Apply(compute, PrecisionStep{"acc", 1});
  ASSERT_TRUE(rounded) << rounded.error().Format();
  const Result<KernelReference> reference =
      ComputeKernelReference(compute, {AccuracyMode::kBf16}, 3, target_, pool_);
  ASSERT_TRUE(reference) << reference.error().Format();
  const auto outputs = Interpret(*rounded, reference->arguments, Precision::kNative);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  for (int64_t i = 0; i < 9 * 21; ++i) {
    const double sequential = reference->checkers[0].sequential.GetDouble(i);
    EXPECT_NEAR(sequential, (*outputs)[0].GetDouble(i), 1e-4) << i;
  }
}

TEST_F(KernelReferenceTest, TheMagnitudeIsTheLargestSumOfAbsoluteProducts) {
  const Compute compute = MatmulRelu();
  const Result<KernelReference> reference = ReferenceOf(compute);
  ASSERT_TRUE(reference) << reference.error().Format();
  double largest = 0;
  for (int64_t i = 0; i < 37; ++i) {
    for (int64_t j = 0; j < 13; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 29; ++k) {
        sum += std::abs(reference->arguments[0].GetDouble(29 * i + k) *
                        reference->arguments[1].GetDouble(13 * k + j));
      }
      largest = std::max(largest, sum);
    }
  }
  ASSERT_TRUE(reference->magnitude);
  EXPECT_NEAR(*reference->magnitude, largest, 1e-9);
}

TEST_F(KernelReferenceTest, ContractionsAreSumsOfProductsOfDifferentThings) {
  EXPECT_EQ(LastContraction(MatmulRelu()), StatementId(0));
  EXPECT_EQ(LastContraction(SoftmaxRows()), std::nullopt);
  const Compute squares = MustParse(R"(
    compute squares {
      input X: f32[4, 9]
      output Y: f32[4]
      s[i: 4, j: 9 reduction]:
        Y[i] sum= X[i, j] * X[i, j]
    })");
  EXPECT_EQ(LastContraction(squares), std::nullopt);
}

TEST_F(KernelReferenceTest, ArgumentsArePositiveWhereOtherwiseResultsAreNot) {
  const Result<KernelReference> reference = ReferenceOf(Logarithm());
  ASSERT_TRUE(reference) << reference.error().Format();
  for (int64_t i = 0; i < 100; ++i) EXPECT_GT(reference->arguments[0].GetDouble(i), 0);
}

TEST_F(KernelReferenceTest, RoundedOperandsAllowMore) {
  const auto f32 = ReferenceOf(MatmulRelu());
  const auto tf32 = ReferenceOf(MatmulRelu(), {AccuracyMode::kTf32});
  const auto bf16 = ReferenceOf(MatmulRelu(), {AccuracyMode::kBf16});
  ASSERT_TRUE(f32 && tf32 && bf16);
  EXPECT_LT(f32->checkers[0].allowed, 1e-6);
  EXPECT_GT(tf32->checkers[0].allowed, 10 * f32->checkers[0].allowed);
  EXPECT_GT(bf16->checkers[0].allowed, 2 * tf32->checkers[0].allowed);
}

TEST(PlainScheduleTest, IsLegalWithReductionsAsWritten) {
  for (const Compute& compute :
       {MatmulRelu(), SoftmaxRows(), PaddedConv(), GatherRows(), PromoteToFloat64(MatmulRelu())}) {
    const auto applied = test::LoopsOf(compute, PlainSchedule(compute), ReductionOrder::kAsWritten);
    EXPECT_TRUE(applied) << compute.name << ": " << applied.error().Format();
  }
}

TEST(ContiguousIteratorTest, MovesTheChannelsOfAConvolutionInnermost) {
  const Compute with_layouts = WithContiguousIterator(PaddedConv());
  ASSERT_TRUE(Verify(with_layouts)) << Verify(with_layouts).error().Format();
  EXPECT_TRUE(with_layouts.tensors[TensorId(0)].layout.IsRowMajor());
  EXPECT_EQ(with_layouts.tensors[TensorId(1)].layout.shape, (std::vector<int64_t>{3, 3, 3, 5}));
  EXPECT_EQ(with_layouts.tensors[TensorId(2)].layout.shape, (std::vector<int64_t>{1, 5, 5, 5}));
  EXPECT_FALSE(with_layouts.tensors[TensorId(2)].layout.IsRowMajor());
}

TEST(PromoteTest, LeavesNoNarrowFloat) {
  const Compute wide = PromoteToFloat64(SoftmaxRows());
  ASSERT_TRUE(Verify(wide)) << Verify(wide).error().Format();
  EXPECT_EQ(Print(wide).find("f32"), std::string::npos) << Print(wide);
  const Compute with = WithMagnitudes(PromoteToFloat64(MatmulRelu()), {StatementId(0)});
  EXPECT_TRUE(Verify(with)) << Verify(with).error().Format();
}

TEST(ArgumentsTest, AreThoseOfTheirSeedAndRange) {
  const Compute compute = GatherRows();
  const auto a = RandomArguments(compute, 1, ValueRange::kAroundZero);
  const auto b = RandomArguments(compute, 1, ValueRange::kAroundZero);
  const auto c = RandomArguments(compute, 2, ValueRange::kAroundZero);
  ASSERT_EQ(a.size(), 2u);
  bool differs = false;
  for (int64_t i = 0; i < a[0].size(); ++i) {
    EXPECT_EQ(a[0].GetDouble(i), b[0].GetDouble(i));
    EXPECT_LE(std::abs(a[0].GetDouble(i)), 1);
    differs |= a[0].GetDouble(i) != c[0].GetDouble(i);
  }
  EXPECT_TRUE(differs);
  for (int64_t i = 0; i < a[1].size(); ++i) {
    EXPECT_GE(a[1].GetInt(i), 0);
    EXPECT_LE(a[1].GetInt(i), 10);
  }
}

TEST(ArgumentsTest, StorageFollowsTheLayout) {
  const Compute compute = MustParse(R"(
    compute blocked {
      input X: f32[5, 6] layout [5, 2, 4] (i, j) -> [i, floor(j/4), j mod 4]
      output Y: f32[5, 6]
      out[i: 5, j: 6]:
        Y[i, j] = X[i, j]
    })");
  const Tensor& tensor = compute.tensors[TensorId(0)];
  const Array logical = RandomArguments(compute, 3, ValueRange::kAroundZero)[0];
  std::vector<float> storage(static_cast<size_t>(StorageElements(tensor)), NAN);
  auto* bytes = reinterpret_cast<std::byte*>(storage.data());
  ToStorage(tensor, logical, bytes);
  EXPECT_EQ(storage[1 * 8 + 1 * 4 + 1], logical.As<float>()[1 * 6 + 5]);
  EXPECT_TRUE(std::isnan(storage[1 * 8 + 1 * 4 + 2]));
  const Array back = FromStorage(tensor, bytes);
  EXPECT_TRUE(std::ranges::equal(back.As<float>(), logical.As<float>()));
}

TEST(GuardedMemoryTest, NoticesWhatIsWrittenBesideIt) {
  ThreadPool pool(1);
  const auto device = *OpenDevice(DetectCpu(1), pool);
  Result<GuardedMemory> memory = GuardedMemory::Allocate(*device, 100);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(memory->Poison());
  std::byte* const data = memory->data().on_host;
  EXPECT_EQ(data[0], std::byte{0xff});
  EXPECT_EQ(data[99], std::byte{0xff});
  EXPECT_EQ(*memory->Overrun(), 0);
  data[100] = std::byte{1};
  EXPECT_EQ(*memory->Overrun(), 1);
  data[100] = std::byte{0xa5};
  data[-3] = std::byte{1};
  EXPECT_EQ(*memory->Overrun(), -3);
}

}  // namespace
}  // namespace tunec
