// Tests of steps on loops, such as split, fuse, reorder, vectorize, wavefront, unroll and skew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/dependences.h"
#include "tests/programs/operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kLongSeidel = SeidelText(11, 7);

constexpr std::string_view kUnsaid = R"(compute unsaid {
  input X: f32[5, 7]
  output Y: f32[5]
  Y[i: 5, j: 7 sequential]:
    Y[i] sum= X[i, j]
}
)";

const StepExample kExamples[] = {
    {"split", kMatmul, "split acc.i 4"},
    {"split_levels", kMatmul, "split acc.i 2 5\nsplit acc.k 3 2 2"},
    {"split_by_one", kMatmul, "split acc.i 1\nsplit acc.j 100"},
    {"split_again", kMatmul, "split acc.i 6\nsplit acc.i.1 4"},
    {"split_conditions", kConv3x3, "split acc.oh 2\nsplit acc.ow 4\nsplit acc.ic 2"},
    {"reorder", kMatmul, "reorder acc.k acc.j acc.i"},
    {"reorder_some", kConv3x3, "reorder acc.kw acc.oh"},
    {"fuse", kMatmul, "fuse acc.i acc.j as both"},
    {"fuse_then_split", kMatmul, "fuse acc.i acc.j as both\nsplit both 7\nisolate both.0"},
    {"split_then_fuse", kMatmul,
     "split acc.i 5\nsplit acc.j 4\nreorder acc.i.0 acc.j.0 acc.i.1\n"
     "fuse acc.i.0 acc.j.0 as tile\nparallelize tile"},
    {"isolate", kMatmul, "split acc.i 5\nisolate acc.i.0"},
    {"isolate_both", kConv3x3, "isolate acc.oh\nisolate acc.ow"},
    {"isolate_tasks", kMatmul,
     "split acc.i 5\nsplit acc.j 4\nreorder acc.i.0 acc.j.0 acc.i.1\n"
     "isolate acc.i.0\nisolate acc.j.0\n"
     "parallelize acc.i.0\nparallelize acc.j.0"},
    {"unroll", kMatmul, "unroll acc.k 4"},
    {"unroll_all", kConv3x3, "unroll acc.kw"},
    {"vectorize", kMatmul, "split C.j 8\nvectorize C.j.1"},
    {"vectorize_reduction", kSumLast, "split Y.j 8\nvectorize Y.j.1"},
    {"parallelize", kMatmul, "parallelize acc.i\nparallelize acc.j\nparallelize C.i"},
    {"skew", kLongSeidel, "skew A.i A.t 1 as A.x"},
    {"skew_outer_loop", kMatmul, "skew acc.i acc.j 3 as acc.x"},
    {"skew_tasks", kMatmul, "skew acc.j acc.i 1 as acc.x\nreorder acc.x acc.i\nparallelize acc.x"},
    {"skew_inside_a_split", kMatmul,
     "split acc.i 5\nskew acc.i.1 acc.i.0 2 as acc.x\nreorder acc.j acc.x"},
    {"skew_wavefront", kLongSeidel,
     "skew A.i A.t 2 as A.x\nreorder A.x A.t\nwavefront A.x\nparallelize A.t"},
    {"skew_tiles", kLongSeidel,
     "skew A.i A.t 1 as A.x\nsplit A.t 2\nsplit A.x 5\nreorder A.t.0 A.x.0 A.t.1 A.x.1\n"
     "skew A.x.0 A.t.0 1 as A.w\nreorder A.w A.t.0\nwavefront A.w\nparallelize A.t.0"},
    {"wavefront_holds_a_consumer", kMatmul, "wavefront acc.i\ncompute_at C acc.i"},
    {"peel", kMatmul, "peel acc.k 1 28"},
    {"peel_twice", kConv3x3, "peel acc.oh 1\npeel acc.oh 3\nisolate acc.oh\npeel acc.ow 2"},
    {"peel_tasks", kMatmul, "parallelize acc.i\npeel acc.i 30"},
    {"peel_vector", kMatmul, "peel C.j 5\nvectorize C.j"},
    {"distribute", kMatmul,
     "compute_at acc.init acc.i\ncompute_at C acc.i\ndistribute acc.i\nparallelize C.i"},
    {"distribute_inner", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\nparallelize acc.i\ndistribute acc.j"},
    {"unroll_jam", kMatmul, "unroll_jam acc.i 4"},
    {"unroll_jam_around_vectors", kMatmul,
     "reorder acc.k acc.j\nvectorize acc.j\nunroll_jam acc.i 3"},
    {"swizzle", kMatmul, "swizzle acc.i acc.j 5"},
    {"index_split", kMatmul,
     "index_split C i 5 30\nsplit C.part1.i 4\nvectorize C.part0.j\nunroll C.part2.i 2"},
    {"index_split_a_reduction", kMatmul,
     "index_split acc j 8\nreorder acc.part0.k acc.part0.i\nreorder acc.part1.k "
     "acc.part1.j\nvectorize acc.part1.j"},
    {"index_split_of_a_recurrence", kLongSeidel, "index_split A t 3\nunroll A.part0.t"},
};
INSTANTIATE_TEST_SUITE_P(Loops, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"split_a_part", kMatmul,
     "index_split C j 5\ncopy acc C.part0\ncompute_at acc.copy C.part0.i\n"
     "stage acc.copy packed C.part0.i\nsplit acc.copy.j 4",
     "split acc.copy.j: its extent 5 is less than that of acc.copy, so 4 must divide it"},
    {"split_unknown", kMatmul, "split acc.z 4",
     "there is no loop acc.z; there are acc.init.i acc.init.j acc.i acc.j acc.k C.i C.j"},
    {"split_gone", kMatmul, "split acc.i 4\nsplit acc.i 2",
     "there is no loop acc.i; there are acc.init.i acc.init.j acc.i.0 acc.i.1 acc.j acc.k C.i C.j"},
    {"split_zero", kMatmul, "split acc.i 0", "split acc.i: factor 0 of a loop of extent 37"},
    {"split_huge", kMatmul, "split acc.i 1000000 1000000 1000000",
     "split acc.i: factor 1000000 of a loop of extent 37"},
    {"split_vector", kMatmul, "vectorize C.j\nsplit C.j 4",
     "split: loop C.j is vector, parallel, bound or unrolled already"},
    {"split_taken_name", kMatmul, "fuse C.i C.j as acc.k.0\nsplit acc.k 4",
     "split acc.k: there is a loop acc.k.0 already"},
    {"reorder_twice", kMatmul, "reorder acc.i acc.i", "reorder: loop acc.i is named twice"},
    {"reorder_two_chains", kMatmul, "reorder acc.i C.j",
     "reorder acc.i C.j: the loops are not one chain"},
    {"reorder_across_a_sequence", kMatmul, "compute_at C acc.i\nreorder acc.j acc.i",
     "reorder acc.j acc.i: the loops are not one chain"},
    {"reorder_tasks", kMatmul, "parallelize acc.i\nreorder acc.j acc.i",
     "reorder: loop acc.i is vector, parallel, bound or unrolled already"},
    {"fuse_apart", kMatmul, "fuse acc.i acc.k as x", "fuse: acc.k is not directly inside acc.i"},
    {"fuse_itself", kMatmul, "fuse acc.i acc.i as x", "fuse: acc.i is not directly inside acc.i"},
    {"fuse_taken_name", kMatmul, "fuse acc.i acc.j as C.i", "fuse: there is a loop C.i already"},
    {"fuse_no_name", kMatmul, "fuse acc.i acc.j as 7+", "fuse: '7+' is not a valid loop name"},
    {"vectorize_outer", kMatmul, "vectorize acc.i",
     "vectorize acc.i: it must be the innermost loop of one statement"},
    {"vectorize_twice", kMatmul, "vectorize C.j\nvectorize C.j", "loop C.j is not serial any more"},
    {"unroll_vector", kMatmul, "vectorize C.j\nunroll C.j 4",
     "unroll C.j: it is not serial any more"},
    {"unroll_too_much", kMatmul, "unroll acc.k 5000",
     "unroll acc.k: 5000 copies, expected at most 4096"},
    {"parallelize_inner", kMatmul, "parallelize acc.j",
     "parallelize acc.j: only the outermost loops of a phase can be tasks"},
    {"skew_by_itself", kMatmul, "skew acc.i acc.i 1 as x", "skew acc.i: 1 times loop acc.i"},
    {"skew_by_nothing", kMatmul, "skew acc.i acc.j 0 as x", "skew acc.i: 0 times loop acc.j"},
    {"skew_elsewhere", kMatmul, "skew acc.i C.i 1 as x",
     "skew acc.i: loop C.i is not around all of its statements"},
    {"skew_taken_name", kMatmul, "skew acc.i acc.j 1 as C.i", "skew: there is a loop C.i already"},
    {"skew_to_the_limit", kMatmul,
     "skew acc.i acc.j 1048576 as x\nskew acc.j x 1048576 as y\nskew acc.k y 1048576 as z",
     "skew acc.k: it would have 1152921504606847005 iterations"},
    {"skew_tasks_already", kMatmul, "parallelize acc.i\nskew acc.i acc.j 1 as x",
     "skew: loop acc.i is vector, parallel, bound or unrolled already"},
    {"peel_beyond", kMatmul, "peel acc.i 37",
     "peel acc.i: no part of its 37 iterations begins at 37"},
    {"peel_at_the_start", kMatmul, "peel acc.i 0",
     "peel acc.i: no part of its 37 iterations begins at 0"},
    {"peel_again", kMatmul, "peel acc.i 4\npeel acc.i 4",
     "peel acc.i: two parts begin at one iteration"},
    {"split_peeled", kMatmul, "peel acc.i 4\nsplit acc.i 4",
     "split: loop acc.i is peeled or prefetches already"},
    {"distribute_one", kMatmul, "distribute acc.i",
     "distribute acc.i: its body is one node, or shares storage"},
    {"distribute_staged", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\nstage acc register acc.j\ndistribute acc.j",
     "distribute acc.j: its body is one node, or shares storage"},
    {"unroll_jam_innermost", kMatmul, "unroll_jam acc.k 4",
     "unroll_jam acc.k: no serial loop is directly inside it"},
    {"swizzle_apart", kMatmul, "swizzle acc.i acc.k 4",
     "swizzle: acc.k is not directly inside acc.i"},
    {"wavefront_inner", kMatmul, "wavefront acc.j",
     "wavefront acc.j: only the outermost loops of a phase can be waves"},
    {"wavefront_in_tasks", kMatmul, "parallelize acc.i\nwavefront acc.j",
     "wavefront acc.j: only the outermost loops of a phase can be waves"},
    {"index_split_meets_in_sums", kDiagonals, "index_split Y i 2",
     "index_split Y: i is reduced over"},
    {"index_split_reduces_unsaid", kUnsaid, "index_split Y j 3",
     "index_split Y: j is reduced over"},
    {"index_split_reduced", kMatmul, "index_split acc k 4", "index_split acc: k is reduced over"},
    {"index_split_unknown", kMatmul, "index_split acc z 4",
     "index_split acc: it has no iterator z"},
    {"index_split_backwards", kMatmul, "index_split acc i 8 4",
     "index_split acc: no part of the 37 values of i begins at 4"},
    {"index_split_of_a_constant", kWeightMatmul, "pack B 1 0\nindex_split B.pack d0 3",
     "index_split B.pack: it runs at compile time"},
};
INSTANTIATE_TEST_SUITE_P(Loops, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

// Returns the program's loops after the steps as text, or the error message.
std::string NestText(std::string_view program, std::string_view steps) {
  const auto kernel = LoopsOf(MustParse(program), MustParseSteps(steps), ReductionOrder::kAny);
  return kernel ? Print(kernel->nest) : kernel.error().message;
}

TEST(Steps, MustNotFireWhereTheyAreNotNamed) {
  const std::string text = NestText(kMatmul, "split acc.i 4");
  EXPECT_THAT(text, HasSubstr("acc_i_1"));
  EXPECT_THAT(text, Not(HasSubstr("C_i_1")));
}

}  // namespace
}  // namespace tunec::test
