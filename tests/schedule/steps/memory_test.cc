// Tests of the steps on memory access, which are prefetch, non_temporal, pipeline and
// swizzle_storage.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

// A program with a workspace t that no statement reads.
constexpr std::string_view kUnread = R"(compute unread {
  input X: f32[8, 8]
  output Y: f32[8]
  workspace t: f32[8, 8]
  t[i: 8, j: 8]:
    t[i, j] = X[i, j]
  Y[i: 8]:
    Y[i] = X[i, 0] * 2.0
}
)";

const StepExample kExamples[] = {
    {"non_temporal", kMatmul, "non_temporal C"},
    {"pipeline", kMatmul,
     "copy A acc j 8\nsplit acc.k 4\nsplit acc.j 8\n"
     "reorder acc.i acc.j.0 acc.k.0 acc.j.1 acc.k.1\ncompute_at A.copy acc.k.0\n"
     "stage A.copy packed acc.k.0\npipeline acc.k.0 3"},
    {"pipeline_few_iterations", kMatmul,
     "copy A acc j 13\nsplit acc.k 20\nreorder acc.k.0 acc.i acc.j acc.k.1\n"
     "compute_at A.copy acc.k.0\nstage A.copy packed acc.k.0\npipeline acc.k.0 4"},
    {"pipeline_unrolled", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\npipeline acc.k 2\nunroll acc.k 2\nvectorize B.copy.j"},
    {"swizzle_storage", kMatmul,
     "copy B acc i 37\nsplit acc.j 8\nsplit acc.k 4\nreorder acc.j.0 acc.k.0 acc.i acc.j.1 "
     "acc.k.1\ncompute_at B.copy acc.k.0\nstage B.copy shared acc.k.0\nswizzle_storage B.copy 8"},
    {"prefetch", kMatmul, "prefetch B acc.k 8\nprefetch C C.i 1"},
    {"prefetch_into_the_second_level", kMatmul,
     "pack B 1/16 0 1%16\nsplit acc.j 16\nsplit acc.i 4\nreorder acc.i.0 acc.j.0 acc.k acc.i.1 "
     "acc.j.1\nunroll acc.i.1\nvectorize acc.j.1\nprefetch B.pack acc.j.0 1 level 2"},
    {"prefetch_in_vectors", kMatmul,
     "pack B 1/8 0 1%8\nreorder acc.k acc.j\nvectorize acc.j\nprefetch B.pack acc.k 2"},
};
INSTANTIATE_TEST_SUITE_P(Memory, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
    {"swizzle_storage_unstaged", kMatmul, "swizzle_storage B 8",
     "swizzle_storage B: it is not staged in shared storage"},
    {"swizzle_storage_private", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\nswizzle_storage B.copy 8",
     "swizzle_storage B.copy: it is not staged in shared storage"},
    {"swizzle_storage_of_three", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy shared acc.k\nswizzle_storage B.copy 3",
     "swizzle_storage B.copy: 3 chunks, expected 2, 4 or 8"},
    {"swizzle_storage_odd_rows", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy shared acc.k\nswizzle_storage B.copy 8",
     "swizzle_storage B.copy: its rows have 52 bytes, expected a power of two"},
    {"pipeline_past_the_caches", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\nnon_temporal B.copy\npipeline acc.k 2",
     "pipeline acc.k: B.copy is non_temporal, but its result is used soon"},
    {"non_temporal_pipelined", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\npipeline acc.k 2\nnon_temporal B.copy",
     "non_temporal: a pipeline begins B.copy ahead and uses its result soon"},
    {"pipeline_nothing", kMatmul, "pipeline acc.k 2",
     "pipeline acc.k: it contains no plain copy into separate packed or shared storage"},
    {"pipeline_one_stage", kMatmul, "pipeline acc.k 1",
     "pipeline acc.k: 1 stages, expected 2 to 64"},
    {"pipeline_isolated", kMatmul, "isolate acc.k\npipeline acc.k 2",
     "pipeline acc.k: it is isolated"},
    {"pipeline_in_threads", kMatmul, "bind acc.j block.x\npipeline acc.k 2",
     "pipeline acc.k: it is inside a loop over threads"},
    {"pipeline_computes", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\nstage acc packed acc.j\npipeline acc.j 2",
     "pipeline acc.j: it contains no plain copy into separate packed or shared storage"},
    {"pipeline_reads_nothing", kUnread, "stage t packed t.i\npipeline t.i 2",
     "pipeline t.i: it contains no plain copy into separate packed or shared storage"},
    {"pipelined_split", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\npipeline acc.k 2\nsplit acc.k 4",
     "split: loop acc.k is pipelined already"},
    {"pipelined_copy_holds_more", kMatmul,
     "copy A acc j 13\nreorder acc.k acc.i acc.j\ncompute_at A.copy acc.k\n"
     "stage A.copy packed acc.k\npipeline acc.k 2\ncompute_at C A.copy.i",
     "compute_at C: loop A.copy.i belongs to a copy that is begun ahead"},
    {"pipelined_threads", kMatmul,
     "copy B acc i 1\nreorder acc.i acc.k acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\npipeline acc.k 2\nbind acc.i block.x",
     "bind acc.i block.x: it holds a pipelined loop"},
    {"prefetch_unknown", kMatmul, "prefetch D acc.k 4", "prefetch: D is not a tensor in memory"},
    {"prefetch_unused", kMatmul, "prefetch C acc.k 4", "prefetch C: nothing in loop acc.k uses it"},
    {"prefetch_now", kMatmul, "prefetch B acc.k 0", "prefetch B: 0 iterations ahead"},
    {"prefetch_loaded", kLoadedIndex, "prefetch T Y.i 1",
     "prefetch T: Y accesses it at a loaded index"},
    {"non_temporal_unknown", kMatmul, "non_temporal D", "non_temporal: there is no statement D"},
};
INSTANTIATE_TEST_SUITE_P(Memory, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

}  // namespace
}  // namespace tunec::test
