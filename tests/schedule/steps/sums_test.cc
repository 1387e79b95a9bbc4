// Tests of the steps that compute sums in parts or by intrinsics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;

const std::string kWideProduct = ProductText(
    {.rows = 19, .columns = 35, .length = 37, .right = {.weight = "constant"}, .value = ""});

std::string ByteProduct(int64_t rows, int64_t length) {
  return ProductText({.rows = rows,
                      .columns = 35,
                      .length = length,
                      .left = {.type = "u8"},
                      .right = {.type = "i8", .weight = "constant range [-100, 100]"},
                      .sum = "i32",
                      .result = "i32",
                      .value = ""});
}
const std::string kBytes = ByteProduct(3, 19);
const std::string kManyBytes = ByteProduct(19, 69);

constexpr std::string_view kDiagonalSum = R"(compute diagonal_sum {
  input X: f32[5, 5, 9]
  output Y: f32[9]
  Y[i: 5, j: 5, k: 9 reduction]:
    Y[i + j] sum= X[i, j, k]
}
)";

const StepExample kExamples[] = {
    {"tensorize", kMatmul,
     "split acc.j 8\nisolate acc.j.0\nreorder acc.j.0 acc.k acc.j.1\ntensorize acc.j.1 fma.avx2"},
    {"tensorize_registers", kMatmul,
     "split acc.i 3\nsplit acc.j 8\nisolate acc.i.0\nisolate acc.j.0\n"
     "reorder acc.i.0 acc.j.0 acc.k acc.i.1 acc.j.1\ncompute_at acc.init acc.j.0\n"
     "compute_at C acc.j.0\nstage acc register acc.j.0\nunroll acc.init.i.1\n"
     "vectorize acc.init.j.1\nunroll acc.i.1\nvectorize acc.j.1\nunroll C.i.1\n"
     "vectorize C.j.1\ntensorize acc.j.1 fma.avx2"},
    {"tensorize_amx", kWideProduct,
     "precision acc bf16 1\npack B.bf16 1/16 0/2 1%16 0%2\nsplit acc.i 16\nsplit acc.j 16\n"
     "split acc.k 16 2\nisolate acc.i.0\nisolate acc.j.0\nisolate acc.k.0\n"
     "reorder acc.i.0 acc.j.0 acc.k.0 acc.i.1 acc.j.1 acc.k.1 acc.k.2\ntensorize acc.i.1 amx.bf16"},
    {"tensorize_bytes", kBytes,
     "pack B 1/16 0/4 1%16 0%4\nsplit acc.j 16\nsplit acc.k 4\nisolate acc.j.0\nisolate acc.k.0\n"
     "reorder acc.i acc.j.0 acc.k.0 acc.j.1 acc.k.1\ntensorize acc.j.1 vnni.avx512"},
    {"tensorize_amx_bytes", kManyBytes,
     "pack B 1/16 0/4 1%16 0%4\nsplit acc.i 16\nsplit acc.j 16\nsplit acc.k 16 4\n"
     "isolate acc.i.0\nisolate acc.j.0\nisolate acc.k.0\n"
     "reorder acc.i.0 acc.j.0 acc.k.0 acc.i.1 acc.j.1 acc.k.1 acc.k.2\ntensorize acc.i.1 amx.int8"},
    {"reduce_split_inner", kSumLast, "reduce_split Y j 8 inner"},
    {"reduce_split_outer", kSumLast, "reduce_split Y j 8 outer"},
    {"reduce_split_domain", kConv3x3, "reduce_split acc ic 2 inner"},
    {"reduce_split_twice", kSumLast, "reduce_split Y j 16 inner\nreduce_split Y.part jo 2 outer"},
};
INSTANTIATE_TEST_SUITE_P(Sums, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"tensorize_unknown", kMatmul, "tensorize acc.k fma",
     "tensorize acc.k fma: there is no such intrinsic"},
    {"tensorize_storage", kMatmul,
     "reorder acc.i acc.k acc.j\ncompute_at acc.init acc.i\ncompute_at C acc.i\n"
     "stage acc packed acc.i\ntensorize acc.i fma.avx2",
     "tensorize acc.i fma.avx2: it must contain one statement and no storage"},
    {"tensorize_no_sum", kMatmul, "split C.j 8\ntensorize C.j.1 fma.avx2",
     "tensorize C.j.1 fma.avx2: expected a sum of products"},
    {"tensorize_reduced", kMatmul, "split acc.k 8\ntensorize acc.k.1 fma.avx2",
     "tensorize acc.k.1 fma.avx2: expected loops over columns of 8; there are acc.k.1 of 8"},
    {"tensorize_type", kMatmul,
     "split acc.j 16\nsplit acc.k 2\nreorder acc.j.0 acc.k.0 acc.k.1 acc.j.1\n"
     "tensorize acc.k.1 dpbf16.avx512",
     "tensorize acc.k.1 dpbf16.avx512: left operand is A of f32, expected bf16"},
    {"tensorize_accumulator", kCumulative, "reorder Y.k Y.i\ntensorize Y.i fma.avx2",
     "tensorize Y.i fma.avx2: Y is an operand and the accumulator"},
    {"tensorize_twice", kMatmul,
     "split acc.j 8\nreorder acc.k acc.j.1\ntensorize acc.j.1 fma.avx2\n"
     "tensorize acc.j.1 fma.avx2",
     "tensorize acc.j.1 fma.avx2: loop acc.j.1 is of a tile, of tasks or threads, peeled or "
     "prefetches already"},
    {"tensorize_threads", kMatmul,
     "split acc.j 8\nreorder acc.j.0 acc.k acc.j.1\nbind acc.j.1 block.x\n"
     "tensorize acc.j.1 fma.avx2",
     "tensorize acc.j.1 fma.avx2: loop acc.j.1 is of a tile, of tasks or threads, peeled or "
     "prefetches already"},
    {"tensorize_then_split", kMatmul,
     "split acc.j 8\nreorder acc.k acc.j.1\ntensorize acc.j.1 fma.avx2\nsplit acc.j.1 4",
     "split: loop acc.j.1 is part of a tile already"},
    {"reduce_split_unknown", kMatmul, "reduce_split C i 4 inner",
     "reduce_split C: it is not a reorderable reduction of one value"},
    {"reduce_split_written", kMatmul, "reduce_split acc i 4 inner",
     "reduce_split acc: i is not reduced over"},
    {"reduce_split_no_iterator", kMatmul, "reduce_split acc z 4 inner",
     "reduce_split acc: no iterator z to split by 4"},
    {"reduce_split_zero", kMatmul, "reduce_split acc k 0 inner",
     "reduce_split acc: no iterator k to split by 0"},
    {"reduce_split_tuple", kArgMax, "reduce_split S k 4 inner",
     "reduce_split S: it is not a reorderable reduction of one value"},
    {"reduce_split_again", kSumAll, "reduce_split Y j 4 inner\nreduce_split Y jp 2 inner",
     "reduce_split Y: there is Y.part already"},
    {"reduce_split_diagonal", kDiagonalSum, "reduce_split Y k 4 inner",
     "reduce_split Y: its write index must consist of different iterators"},
};
INSTANTIATE_TEST_SUITE_P(Sums, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

TEST(Steps, AsWrittenKeepsTheOrderOfSums) {
  EXPECT_THAT(Outcome(kSumLast, "reduce_split Y j 8 inner", ReductionOrder::kAsWritten),
              HasSubstr("reduce_split Y: a sum of f32 must be accumulated as written"));
  EXPECT_THAT(Outcome(kMaxMiddle, "reduce_split acc i 4 inner", ReductionOrder::kAsWritten), "");
  EXPECT_THAT(Outcome(kMatmul,
                      "split acc.j 8\nisolate acc.j.0\nreorder acc.j.0 acc.k acc.j.1\n"
                      "tensorize acc.j.1 fma.avx2",
                      ReductionOrder::kAsWritten),
              HasSubstr("tensorize acc.j.1 fma.avx2: sums must be accumulated as written"));
  EXPECT_THAT(Outcome(kMatmul, "reorder acc.k acc.i acc.j", ReductionOrder::kAsWritten), "");
  EXPECT_THAT(
      Outcome(kMatmul, "split acc.k 4\nreorder acc.k.1 acc.k.0", ReductionOrder::kAsWritten),
      HasSubstr("order of accesses of acc"));
}

}  // namespace
}  // namespace tunec::test
