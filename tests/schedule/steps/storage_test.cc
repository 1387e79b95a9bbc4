// Tests of the steps pack, copy and storage_order.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

// Sums of overlapping windows. The outer windows extend beyond the ends of X.
constexpr std::string_view kWindows = R"(compute windows {
  input X: f32[23, 11]
  output Y: f32[12, 11]
  Y[i: 12, j: 11, r: 3 reduction, s: 3 reduction] where 2*i + r - 1 >= 0, 23 - 2*i - r >= 0, j + s - 1 >= 0, 11 - j - s >= 0:
    Y[i, j] sum= X[2*i + r - 1, j + s - 1]
}
)";

const StepExample kExamples[] = {
    {"pack_input", kMatmul, "pack B 1/8 0 1%8"},
    {"pack_remainder_first", kMatmul, "pack B 1%8 0 1/8"},
    {"pack_weight", kWeightMatmul, "pack B 0/16 1 0%16"},
    {"pack_transposed", kTransposedMatmul, "pack A 1 0"},
    {"pack_guarded", kStridedConv, "pack X 0 2 3 1"},
    {"pack_two", kMatmul, "pack A 1 0\npack B 1 0"},
    {"pack_workspace", kMatmul, "pack acc 1/8 0 1%8"},
    {"storage_order", kMatmul, "pack B 1/8 0 1%8\nstorage_order B.pack 64"},
    {"pack_in_three_parts", kMatmul, "pack B 1/8 0/12 0%12/4 1%8 0%4\nstorage_order B.pack 64"},
    {"storage_order_of_three_parts", kWeightMatmul,
     "pack B 0/32 1 0%32/2 0%2\nstorage_order B.pack 64"},
    {"storage_order_of_a_constant", kWeightMatmul, "pack B 0/16 1 0%16\nstorage_order B.pack 64"},
    {"storage_order_remainder_first", kMatmul, "pack B 1%8 0 1/8\nstorage_order B.pack 64"},
    {"storage_order_of_many_dimensions", kStridedConv,
     "pack X 0 2/4 3 2%4 1\npack W 1 0/8 3 2 0%8\nstorage_order X.pack 64\n"
     "storage_order W.pack 4"},
    {"storage_order_in_short_vectors", kMatmul,
     "pack A 1 0\npack B 1 0\nstorage_order A.pack 8\nstorage_order B.pack 5"},
    {"storage_order_of_one_dimension", kWeightMatmul, "pack b 0\nstorage_order b.pack 16"},
    {"storage_order_of_terms", kWeightMatmul,
     "precision acc bf16 3\npack B.bf16 0 1/16 2/2 1%16 2%2\nstorage_order B.bf16 64\n"
     "storage_order A.bf16 16"},
    {"storage_order_of_wide_copies", kHalfMatmul,
     "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16\nstorage_order A.wide 16\n"
     "storage_order B.wide 64"},
    {"storage_order_of_what_is_no_copy", kMatmul, "storage_order C 4"},
    {"steps_for_the_copy_of_a_constant", kWeightMatmul,
     "pack B 1 0\nsplit B.pack.d1 8\nreorder B.pack.d1.0 B.pack.d0 B.pack.d1.1\n"
     "vectorize B.pack.d1.1\nsplit acc.i 4"},
    {"copy", kMatmul, "copy A acc"},
    {"copy_in_groups", kMatmul, "copy B acc i 5\ncopy acc C"},
    {"copy_what_is_written", kWrittenHalf, "copy t Y"},
    {"copy_pairs_of_what_is_written", kWrittenHalf, "copy t Y k 2\ncompute_at t.copy Y.i"},
    {"copy_windows", kWindows, "copy X Y i 5 j 4"},
    {"copy_windows_near_their_use", kWindows,
     "copy X Y i 5 j 4\nsplit Y.i 5\nsplit Y.j 4\nreorder Y.i.0 Y.j.0 Y.i.1 Y.j.1\n"
     "compute_at X.copy Y.j.0\nstage X.copy packed Y.j.0"},
    {"copy_windows_of_single_rows", kWindows,
     "copy X Y i 1 j 4\nsplit Y.j 4\ncompute_at X.copy Y.j.0\nstage X.copy packed Y.j.0"},
    {"copy_windows_of_parts", kMatmul,
     "reduce_split acc k 8 outer\ncopy A acc.part j 5 ko 1\ncopy B acc.part ko 2"},
    {"copy_pairs_near_their_use", kTwoProducts,
     "copy t acc k 2\ncompute_at t.copy acc.i\ncompute_at t acc.i\ncompute_at t.init acc.i\n"
     "stage t.copy packed acc.i 0 1 2\nstage t packed acc.i"},
};
INSTANTIATE_TEST_SUITE_P(Storage, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"pack_unknown", kMatmul, "pack Z 0", "pack: there is no tensor Z"},
    {"pack_output", kMatmul, "pack C 1 0",
     "pack C: only arguments that are read, and workspace, can be packed"},
    {"pack_workspace_twice", kMatmul, "pack acc 1 0\npack acc 0 1",
     "pack acc: it is packed already"},
    {"storage_order_unknown", kMatmul, "storage_order B.pack 64",
     "storage_order B.pack: there is no such statement"},
    {"storage_order_of_a_sum", kMatmul, "storage_order acc 64",
     "storage_order acc: its iterators are not the dimensions in which acc is stored"},
    {"storage_order_of_diagonals", kDiagonals, "storage_order Y.init 64",
     "storage_order Y.init: its iterators are not the dimensions in which Y is stored"},
    {"storage_order_of_several", kUncast, "storage_order Y 64",
     "storage_order Y: it writes several tensors"},
    {"storage_order_of_split_loops", kMatmul,
     "pack B 1/8 0 1%8\nsplit B.pack.d1 4\nstorage_order B.pack 64",
     "there is no loop B.pack.d1; there are B.pack.d0 B.pack.d1.0 B.pack.d1.1 acc.init.i "
     "acc.init.j acc.i acc.j acc.k C.i C.j"},
    {"storage_order_inside_another", kMatmul,
     "pack B 1 0\nreorder acc.k acc.i acc.j\ncompute_at B.pack acc.k\nstorage_order B.pack 64",
     "there is no loop B.pack.d1; there are acc.init.i acc.init.j acc.k B.pack.j acc.i acc.j C.i "
     "C.j"},
    {"steps_for_a_constant_and_the_kernel", kWeightMatmul, "pack B 1 0\ncompute_at B.pack acc.i",
     "there is no loop acc.i; there are B.pack.d0 B.pack.d1"},
    {"pack_dimension", kMatmul, "pack A 0 2", "pack A: it has no dimension 2"},
    {"pack_half", kMatmul, "pack A 0/4 1",
     "pack A: each dimension must appear once, or in parts that make it up, as d/32 d%32/2 d%2"},
    {"pack_parts_that_do_not_divide", kMatmul, "pack A 0 1/12 1%12/8 1%8",
     "pack A: each dimension must appear once, or in parts that make it up, as d/32 d%32/2 d%2"},
    {"pack_parts_with_a_gap", kMatmul, "pack A 0 1/12 1%8/4 1%4",
     "pack A: each dimension must appear once, or in parts that make it up, as d/32 d%32/2 d%2"},
    {"pack_twice", kMatmul, "pack A 1 0\npack A 1 0", "pack A: it is packed already"},
    {"copy_for_a_constant", kWeightMatmul, "pack B 1 0\ncopy B B.pack",
     "copy B: B.pack runs at compile time"},
    {"copy_unread", kMatmul, "copy B C", "copy B: C does not read it"},
    {"copy_twice", kMatmul, "copy B acc\ncopy B acc", "copy B: acc does not read it"},
    {"copy_no_iterator", kMatmul, "copy B acc z 4", "copy B: no iterator z of acc in groups of 4"},
    {"copy_unknown", kMatmul, "copy D acc", "copy D: there is no such tensor or statement"},
};
INSTANTIATE_TEST_SUITE_P(Storage, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

TEST(Steps, PackedWeightsArePackedOnce) {
  const auto kernel =
      LoopsOf(MustParse(kWeightMatmul), MustParseSteps("pack B 0/16 1 0%16"), ReductionOrder::kAny);
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_EQ(kernel->prepack.size(), 1U);
  EXPECT_EQ(kernel->prepack[0].name, "B.pack");
  EXPECT_EQ(kernel->nest.phases.size(), 3U);  // init, product, output: no copy
}

}  // namespace
}  // namespace tunec::test
