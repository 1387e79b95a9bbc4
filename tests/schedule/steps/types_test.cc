// Tests of the steps precision, narrow and widen, which change the types of operands.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

constexpr std::string_view kScoresTimesValues = R"(compute scores_times_values {
  input X: f32[7, 9]
  input V: f32[9, 5]
  output o: f32[7, 5]
  workspace e: f32[7, 9]
  e[i: 7, j: 9]:
    e[i, j] = exp(X[i, j])
  o[i: 7, d: 5, j: 9 reduction]:
    o[i, d] sum= e[i, j] * V[j, d]
}
)";

constexpr std::string_view kPartlyWritten = R"(compute partly_written {
  input X: f32[7]
  output Y: f32[7]
  workspace t: f32[7, 7]
  t[i: 7, j: 7] where i - j >= 0:
    t[i, j] = X[i] - X[j]
  Y[i: 7, j: 7 reduction] where i - j >= 0:
    Y[i] sum= t[i, j] * X[j]
}
)";

constexpr std::string_view kReadTwice = R"(compute read_twice {
  input A: f16[9]
  output Y: f32[9]
  output Z: f16[9]
  workspace t: f16[9]
  t[i: 9]:
    t[i] = A[i] + A[i]
  Y[i: 9]:
    Y[i] = f32(t[i])
  Z[i: 9]:
    Z[i] = t[i]
}
)";

constexpr std::string_view kOneOutside = R"(compute one_outside {
  input A: f16[9]
  output Y: f32[10]
  Y[i: 10]:
    Y[i] = f32((A[i] where (8 - i >= 0) else 1.0))
}
)";

const StepExample kExamples[] = {
    {"precision", kMatmul, "precision acc bf16 3"},
    {"precision_of_weight", kWeightMatmul,
     "precision acc bf16 3\npack B.bf16 0 1/16 2/2 1%16 2%2\nvectorize A.bf16.d1"},
    {"precision_of_padded", kConv3x3, "precision acc bf16 3"},
    {"precision_of_computed", kScoresTimesValues, "precision o bf16 3"},
    {"precision_of_a_term", kBf16Matmul, "precision acc bf16 1"},
    {"narrow", kComputedOperand, "narrow operand acc"},
    {"narrow_a_copy", kMatmul, "pack A 1 0\nnarrow A.pack acc\nvectorize A.pack.d1"},
    {"narrow_a_constant", kWeightMatmul, "pack B 1 0\nnarrow B.pack acc"},
    {"narrow_both", kMatmul,
     "copy A acc\ncopy B acc\nnarrow A.copy acc\nnarrow B.copy acc\ncompute_at A.copy acc.i"},
    {"widen", kHalfMatmul, "widen A acc"},
    {"widen_both", kHalfMatmul,
     "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16\nvectorize A.wide.d1"},
    {"widen_at_a_tile", kHalfMatmul, "widen A acc\nsplit acc.i 8\ncompute_at A.wide acc.i.0"},
    {"widen_integers", kByteMatmul, "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16"},
    {"widen_padded", kHalfConv, "widen X acc\nwiden W acc"},
    {"widen_computed", kHalfComputedOperand, "widen operand acc"},
    {"precision_then_split", kMatmul,
     "precision acc bf16 3\nreduce_split acc term 2 outer\nreduce_split acc.part k 4 inner"},
    {"precision_of_a_packed_constant", kWeightMatmul, "precision acc bf16 2\npack B 1 0"},
};
INSTANTIATE_TEST_SUITE_P(Types, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"widen_unknown", kHalfMatmul, "widen D acc", "widen D: there is no such tensor or statement"},
    {"widen_wide", kMatmul, "widen A acc", "widen A: acc does not read it cast to one wider type"},
    {"widen_also_as_it_is", kUncast, "widen A Y",
     "widen A: Y does not read it cast to one wider type"},
    {"widen_twice", kHalfMatmul, "widen A acc\nwiden A acc",
     "widen A: acc does not read it cast to one wider type"},
    {"widen_read_by_others", kReadTwice, "widen t Y", "widen t: Z reads it too"},
    {"widen_outside", kOneOutside, "widen A Y", "widen A: its value outside of a guard is not 0"},
    {"precision_unknown", kMatmul, "precision x bf16 3", "precision x: there is no such statement"},
    {"precision_no_sum", kMatmul, "precision C bf16 3",
     "precision C: it is not a sum of products of two f32 elements"},
    {"precision_of_a_split_term", kBf16Matmul, "precision acc bf16 3",
     "precision acc: it is not a sum of products of two f32 elements"},
    {"narrow_unknown", kMatmul, "narrow x acc", "narrow x: there is no such tensor or statement"},
    {"narrow_an_argument", kMatmul, "narrow A acc", "narrow A: it is not a separate f32 workspace"},
    {"narrow_no_operand", kComputedOperand, "narrow operand C",
     "narrow operand: C is not a sum of products with one of its elements"},
    {"narrow_twice", kComputedOperand, "narrow operand acc\nnarrow operand acc",
     "narrow operand: it is not a separate f32 workspace"},
    {"precision_twice", kMatmul, "precision acc bf16 3\nprecision acc bf16 3",
     "precision acc: it is not a sum of products of two f32 elements"},
    {"precision_own_operand", kCumulative, "precision Y bf16 3",
     "precision Y: it writes its operand Y"},
    {"precision_partly_written", kPartlyWritten, "precision Y bf16 3",
     "precision Y: not all of its operand t may be written"},
    {"precision_padded_by_ones", kPaddedByOnes, "precision Y bf16 3",
     "precision Y: its operand X is 1 outside of its guard"},
};
INSTANTIATE_TEST_SUITE_P(Types, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

}  // namespace
}  // namespace tunec::test
