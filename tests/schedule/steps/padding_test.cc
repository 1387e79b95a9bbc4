// Tests of uses and rejections of the step pad. ../pad_test.cc has other tests of the step.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

constexpr std::string_view kDeviations = R"(compute deviations {
  input X: f32[37, 5]
  input m: f32[5]
  output q: f32[5]
  q[c: 5, r: 37 reduction]:
    q[c] sum= (X[r, c] - m[c]) * (X[r, c] - m[c])
}
)";

constexpr std::string_view kOwnOperand = R"(compute own_operand {
  input X: f32[7]
  output Y: f32[9]
  start[i: 9]:
    Y[i] = 1.0
  Y[i: 7, k: 2 reduction]:
    Y[i] sum= Y[i + 2] * X[i]
}
)";

constexpr std::string_view kHalves = R"(compute halves {
  input X: f32[5, 7]
  output Y: f32[9]
  workspace t: f32[9]
  left[j: 5, k: 7 reduction]:
    t[j] sum= X[j, k]
  right[j: 4]:
    t[j + 5] = X[j, 0]
  Y[j: 9]:
    Y[j] = t[j]
}
)";

constexpr std::string_view kUnwrittenHalf = R"(compute unwritten_half {
  input A: f32[13, 13]
  output Y: f32[13]
  workspace t: f32[13, 13]
  t[i: 13, k: 13] where i - k >= 0:
    t[i, k] = A[i, k] + 1.0
  Y[i: 13, k: 13 reduction] where i - k >= 0:
    Y[i] sum= t[i, k]
}
)";

constexpr std::string_view kGatheredSum = R"(compute gathered_sum {
  input T: f32[11, 7]
  input I: i64[13] range [0, 10]
  output Y: f32[13]
  Y[i: 13, k: 7 reduction]:
    Y[i] sum= T[@(I[i]), k]
}
)";

const StepExample kExamples[] = {
    {"pad", kMatmul, "pad acc i 8 j 8 k 16"},
    {"pad_what_is_reduced", kMatmul, "pad acc k 8\nsplit acc.k 8"},
    {"pad_copies", kMatmul,
     "copy A acc j 8\ncopy B acc i 16\npad acc i 16 j 8 k 8\nsplit acc.i 16\nsplit acc.j 8\n"
     "split acc.k 8\nreorder acc.i.0 acc.j.0 acc.k.0 acc.k.1 acc.i.1 acc.j.1\n"
     "compute_at acc.init acc.j.0\ncompute_at C acc.j.0\ncompute_at A.copy acc.k.0\n"
     "compute_at B.copy acc.k.0\nstage acc register acc.j.0\nstage A.copy packed acc.k.0\n"
     "stage B.copy shared acc.k.0\nunroll acc.i.1\nvectorize acc.j.1"},
    {"pad_one_copy", kMatmul, "copy B acc i 5\npad acc i 10 k 4\nsplit acc.k 4"},
    {"pad_packed", kMatmul,
     "pack A 1 0\npack B 1/8 0 1%8\npad acc j 8 k 2\nstorage_order B.pack 8"},
    {"pad_a_packed_sum", kMatmul, "pack acc 1/8 0 1%8\npad acc i 4 j 8"},
    {"pad_constant", kWeightMatmul,
     "pack B 0/16 1 0%16\npad acc j 16 k 8\nstorage_order B.pack 16\nsplit acc.j 16\n"
     "reorder acc.j.0 acc.k acc.j.1\nvectorize acc.j.1"},
    {"pad_widened", kHalfMatmul,
     "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16\npad acc j 16 k 4"},
    {"pad_cast", kHalfMatmul, "pad acc k 4"},
    {"pad_integers", kByteMatmul, "copy A acc\npad acc j 16 k 4"},
    {"pad_terms", kMatmul, "precision acc bf16 3\npad acc k 2 i 4"},
    {"pad_then_terms", kMatmul, "pad acc k 2 i 4\nprecision acc bf16 3"},
    {"pad_cached_sums", kBareProduct,
     "cache_write acc\npad acc i 8 j 8 k 8\nsplit acc.i 8\nsplit acc.j 8"},
    {"pad_then_cache_sums", kMatmul, "pad acc i 8 j 8\ncache_write acc"},
    {"pad_parts", kMatmul, "reduce_split acc k 8 inner\npad acc.part i 4"},
    {"pad_then_parts", kMatmul, "pad acc k 8\nreduce_split acc k 8 outer"},
    {"pad_again", kMatmul, "copy A acc\npad acc k 8\npad acc i 8 k 24"},
    {"pad_then_copy", kMatmul, "pad acc i 8\ncopy A acc j 5\npad acc"},
    {"pad_computed", kComputedOperand, "pad acc i 8 j 8 k 8"},
    {"pad_a_chain", kTwoProducts, "pad t i 4\npad acc k 8 j 4\npad t k 8"},
    {"pad_windows", kConv3x3, "pack X 0 2 3 1\npad acc m 8 ow 4\nvectorize acc.kw"},
    {"pad_windows_without_a_copy", kConv3x3, "pad acc"},
    {"pad_windows_of_copies", kMatmul, "copy B acc i 5 j 5\npad acc i 8 j 8"},
    {"pad_windows_of_tiles", kConv3x3,
     "copy X acc m 8 oh 4 ow 8\npad acc oh 4 ow 8\nsplit acc.oh 4\nsplit acc.ow 8\nsplit acc.m 8\n"
     "reorder acc.m.0 acc.oh.0 acc.ow.0 acc.ic acc.m.1 acc.oh.1 acc.ow.1\n"
     "compute_at X.copy acc.ic\nstage X.copy packed acc.ic"},
    {"pad_strided_windows_of_tiles", kStridedConv,
     "copy X acc oh 2 ow 3\npad acc oh 2 ow 3 ic 4\nsplit acc.oh 2\nsplit acc.ow 3\n"
     "reorder acc.oh.0 acc.ow.0 acc.m acc.oh.1 acc.ow.1\ncompute_at X.copy acc.ow.0\n"
     "stage X.copy packed acc.ow.0"},
    {"pad_part_of_a_copy", kWrittenHalf, "pad Y"},
    {"pad_strided_windows", kStridedConv, "pack X 0 2 3 1\npack W 1 2 3 0\npad acc m 8 ic 4 oh 3"},
    {"pad_windows_of_all_channels", kDepthwise, "pack X 0 2 3 1\npad acc c 8"},
    {"pad_windows_and_split", kConv3x3, "copy X acc m 8\npad acc m 8\nreduce_split acc ic 2 inner"},
};
INSTANTIATE_TEST_SUITE_P(Padding, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"pad_unknown", kMatmul, "pad sum i 8", "pad sum: there is no such statement"},
    {"pad_no_sum", kMatmul, "pad C i 8", "pad C: it is not a sum"},
    {"pad_a_maximum", kMaxPool, "pad acc c 8", "pad acc: it is not a sum"},
    {"pad_no_iterator", kMatmul, "pad acc z 8",
     "pad acc: no iterator z to round up to a multiple of 8"},
    {"pad_to_nothing", kMatmul, "pad acc k 0",
     "pad acc: no iterator k to round up to a multiple of 0"},
    {"pad_twice_at_once", kMatmul, "pad acc k 8 k 16", "pad acc: iterator k is named twice"},
    {"pad_output", kBareProduct, "pad acc i 8",
     "pad acc: C is not a separate workspace; add cache_write acc"},
    {"pad_diagonals", kDiagonals, "pad Y i 8",
     "pad Y: its write index must consist of different iterators"},
    {"pad_own_operand", kOwnOperand, "pad Y k 4", "pad Y: it reads the tensor that it writes"},
    {"pad_padded_by_ones", kPaddedByOnes, "pad Y k 4",
     "pad Y: its operand X is 1 outside of its guard"},
    {"pad_constant_copy", kWeightMatmul, "pack B 1 0\npad B.pack d0 8",
     "pad B.pack: it runs at compile time"},
    {"pad_triangle", kTriangularProduct, "pad acc",
     "pad acc: its value may be nonzero where -i + k - 1 < 0"},
    {"pad_taps", kConv3x3, "pad acc kh 4",
     "pad acc: where kh is 3 or more, X may be inside of its extents"},
    {"pad_groups", kDilatedGroupedConv, "pad acc oh 4",
     "pad acc: its write index must consist of different iterators"},
    {"pad_deviations", kDeviations, "pad q r 8",
     "pad q: its value may be nonzero where r is 37 or more"},
    {"pad_a_part", kHalves, "pad left j 8", "pad left: t has elements beyond those that j reaches"},
    {"pad_unwritten", kUnwrittenHalf, "pad Y",
     "pad Y: its operand t may have elements that nothing wrote"},
    {"pad_gathered", kGatheredSum, "pad Y k 8", "pad Y: the index of its operand T is loaded"},
    {"pad_grown", kTwoProducts, "pad t j 8\npad acc k 8",
     "pad acc: where k is 23 or more, t may be inside of its extents"},
};
INSTANTIATE_TEST_SUITE_P(Padding, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

}  // namespace
}  // namespace tunec::test
