// Each step: it fires, with results equal to the interpreter's on sizes that nothing divides;
// it refuses what makes no sense, with a message. One file, long for its two tables: what a step
// does and what it refuses are of the same programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/programs.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What the step makes of the program's loops, as text; the error where it refuses.
std::string NestText(std::string_view program, std::string_view steps) {
  const auto kernel = LoopsOf(MustParse(program), MustParseSteps(steps), ReductionOrder::kAny);
  return kernel ? Print(kernel->nest) : kernel.error().message;
}

constexpr std::string_view kSeidel = R"(compute seidel {
  input X: f32[13]
  output A: f32[13]
  start[i: 13]:
    A[i] = X[i]
  A[t: 7 sequential, i: 11 sequential]:
    A[i + 1] = (A[i] + A[i + 1] + A[i + 2]) * 0.25
}
)";

// Windows that overlap, begin before what they read, and end behind it.
constexpr std::string_view kWindows = R"(compute windows {
  input X: f32[23, 11]
  output Y: f32[12, 11]
  Y[i: 12, j: 11, r: 3 reduction, s: 3 reduction] where 2*i + r - 1 >= 0, 23 - 2*i - r >= 0, j + s - 1 >= 0, 11 - j - s >= 0:
    Y[i, j] sum= X[2*i + r - 1, j + s - 1]
}
)";

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
constexpr std::string_view kWideProduct = R"(compute wide_product {
  input A: f32[19, 37]
  weight B: f32[37, 35] constant
  output C: f32[19, 35]
  C[i: 19, j: 35, k: 37 reduction]:
    C[i, j] sum= A[i, k] * B[k, j]
}
)";
constexpr std::string_view kBytes = R"(compute bytes {
  input A: u8[3, 19]
  weight B: i8[19, 35] constant range [-100, 100]
  output C: i32[3, 35]
  C[i: 3, j: 35, k: 19 reduction]:
    C[i, j] sum= i32(A[i, k]) * i32(B[k, j])
}
)";
constexpr std::string_view kManyBytes = R"(compute many_bytes {
  input A: u8[19, 69]
  weight B: i8[69, 35] constant range [-100, 100]
  output C: i32[19, 35]
  C[i: 19, j: 35, k: 69 reduction]:
    C[i, j] sum= i32(A[i, k]) * i32(B[k, j])
}
)";
constexpr std::string_view kCumulative = R"(compute cumulative {
  input X: f32[7]
  output Y: f32[9]
  start[i: 9]:
    Y[i] = 1.0
  Y[i: 7, k: 2 reduction]:
    Y[i + 2] sum= Y[i + k] * X[i]
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
constexpr std::string_view kWrittenHalf = R"(compute written_half {
  input A: f32[13, 13]
  output Y: f32[13]
  workspace t: f32[13, 13]
  t[i: 13, k: 13] where i - k >= 0:
    t[i, k] = A[i, k]
  Y[i: 13, k: 13 reduction] where i - k >= 0:
    Y[i] sum= t[i, k]
}
)";

constexpr std::string_view kPaddedByOnes = R"(compute padded_by_ones {
  input X: f32[7]
  output Y: f32[7]
  Y[i: 7, k: 3 reduction]:
    Y[i] sum= (X[i + k] where (6 - i - k >= 0) else 1.0) * X[k]
}
)";

struct Example {
  std::string_view name;
  std::string_view program;
  std::string_view steps;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

class StepFires : public testing::TestWithParam<Example> {};

TEST_P(StepFires, AndKeepsTheResult) {
  const Compute compute = MustParse(GetParam().program);
  const Schedule schedule = MustParseSteps(GetParam().steps);
  EXPECT_EQ(Judge(compute).Outcome(schedule, AnyRounding()), "");
  const auto before = OriginalLoops(compute, ReductionOrder::kAny);
  const auto after = LoopsOf(compute, schedule, AnyRounding());
  ASSERT_TRUE(before && after);
  EXPECT_NE(Print(*before), Print(after->nest)) << "the steps changed nothing";
}

constexpr std::string_view kScatteredSum = R"(compute scattered_sum {
  input X: f32[5, 7, 9]
  output Y: f32[5]
  workspace t: f32[5, 7, 9]
  t[i: 5, j: 7, k: 9]:
    t[i, j, k] = X[i, j, k] * 0.5
  Y[i: 5, j: 7 reduction, k: 9 reduction]:
    Y[i] sum= t[i, j, k]
}
)";

// Sums of an array's diagonals: values of both iterators meet in an element.
constexpr std::string_view kDiagonals = R"(compute diagonals {
  input X: f32[5, 3]
  output Y: f32[7]
  Y[i: 5, j: 3 reduction]:
    Y[i + j] sum= X[i, j]
}
)";

constexpr std::string_view kUnsaid = R"(compute unsaid {
  input X: f32[5, 7]
  output Y: f32[5]
  Y[i: 5, j: 7 sequential]:
    Y[i] sum= X[i, j]
}
)";

// Nobody reads t.
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

constexpr std::string_view kInlinedGather = R"(compute inlined_gather {
  input T: f32[11, 5]
  input I: i64[13] range [0, 10]
  input J: i64[13] range [0, 12]
  output Y: f32[13, 5]
  workspace g: f32[13, 5]
  g[i: 13, j: 5]:
    g[i, j] = T[@(I[i]), j]
  Y[i: 13, j: 5]:
    Y[i, j] = g[@(J[i]), j] * 2.0
}
)";

constexpr std::string_view kUnitDimension = R"(compute unit_dimension {
  input X: f32[1, 13]
  output Y: f32[1, 13]
  workspace t: f32[1, 13]
  t[n: 1, i: 13]:
    t[0, i] = exp(X[0, i])
  Y[n: 1, i: 13]:
    Y[n, i] = t[n, i] + 1.0
}
)";

constexpr Example kExamples[] = {
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
    {"compute_at_consumer", kMatmul, "compute_at C acc.i"},
    {"compute_at_init", kMatmul, "compute_at acc.init acc.j"},
    {"compute_at_both", kMatmul, "compute_at acc.init acc.j\ncompute_at C acc.j"},
    {"compute_at_producer", kBroadcastChain, "compute_at t Y.j"},
    {"compute_at_tile", kMatmul,
     "split acc.i 5\nsplit acc.j 4\nreorder acc.i.0 acc.j.0 acc.k acc.i.1 acc.j.1\n"
     "compute_at acc.init acc.j.0\ncompute_at C acc.j.0"},
    {"compute_at_spares_reductions", kMatmul, "reorder acc.k acc.i acc.j\ncompute_at C acc.k"},
    {"compute_at_rows", kSoftmax,
     "compute_at e m.i\ncompute_at s m.i\ncompute_at Y m.i\n"
     "compute_at s.init m.i\ncompute_at m.init m.i"},
    {"stage_scalar", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\n"
     "stage acc register acc.j"},
    {"stage_tile", kMatmul,
     "split acc.i 5\nsplit acc.j 4\nreorder acc.i.0 acc.j.0 acc.k acc.i.1 acc.j.1\n"
     "compute_at acc.init acc.j.0\ncompute_at C acc.j.0\nstage acc packed acc.j.0"},
    {"stage_row", kSoftmax,
     "compute_at e m.i\ncompute_at s m.i\ncompute_at Y m.i\n"
     "compute_at s.init m.i\ncompute_at m.init m.i\n"
     "stage e packed m.i\nstage m register m.i\nstage s register m.i\n"
     "parallelize m.i"},
    {"stage_then_split", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\n"
     "stage acc register acc.j\nsplit acc.j 4\nsplit acc.i 5"},
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
    {"storage_order_of_one_dimension", kWeightMatmul, "pack bias 0\nstorage_order bias.pack 16"},
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
    {"precision", kMatmul, "precision acc bf16 3"},
    {"precision_of_weight", kWeightMatmul,
     "precision acc bf16 3\npack B.bf16 0 1/16 2/2 1%16 2%2\nvectorize A.bf16.d1"},
    {"precision_of_padded", kConv3x3, "precision acc bf16 3"},
    {"precision_of_computed", kScoresTimesValues, "precision o bf16 3"},
    {"precision_of_a_term", kTermMatmul, "precision acc bf16 1"},
    {"narrow", kComputedOperand, "narrow operand acc"},
    {"narrow_a_copy", kMatmul, "pack A 1 0\nnarrow A.pack acc\nvectorize A.pack.d1"},
    {"narrow_a_constant", kWeightMatmul, "pack B 1 0\nnarrow B.pack acc"},
    {"narrow_both", kMatmul,
     "copy A acc\ncopy B acc\nnarrow A.copy acc\nnarrow B.copy acc\ncompute_at A.copy acc.i"},
    {"hoist", kTwoProducts, "copy D acc\nhoist D.copy"},
    {"hoist_a_phase", kTwoProducts, "copy D acc k 2\nhoist D.copy\ncompute_at t acc.i"},
    {"widen", kHalfMatmul, "widen A acc"},
    {"widen_both", kHalfMatmul,
     "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16\nvectorize A.wide.d1"},
    {"widen_at_a_tile", kHalfMatmul, "widen A acc\nsplit acc.i 8\ncompute_at A.wide acc.i.0"},
    {"widen_integers", kByteMatmul, "widen A acc\nwiden B acc\npack B.wide 1/16 0 1%16"},
    {"widen_padded", kHalfConv, "widen X acc\nwiden W acc"},
    {"widen_computed", kHalfComputedOperand, "widen operand acc"},
    {"precision_then_split", kMatmul,
     "precision acc bf16 3\nreduce_split acc term 2 outer\nreduce_split acc.part k 4 inner"},
    {"tensorize", kMatmul,
     "split acc.j 8\nisolate acc.j.0\nreorder acc.j.0 acc.k acc.j.1\ntensorize acc.j.1 fma.avx2"},
    {"tensorize_registers", kMatmul,
     "split acc.i 3\nsplit acc.j 8\nisolate acc.i.0\nisolate acc.j.0\n"
     "reorder acc.i.0 acc.j.0 acc.k acc.i.1 acc.j.1\ncompute_at acc.init acc.j.0\n"
     "compute_at C acc.j.0\nstage acc register acc.j.0\nunroll acc.init.i.1\n"
     "vectorize acc.init.j.1\nunroll acc.i.1\nvectorize acc.j.1\nunroll C.i.1\n"
     "vectorize C.j.1\ntensorize acc.j.1 fma.avx2"},
    {"tensorize_amx", kWideProduct,
     "precision C bf16 1\npack B.bf16 1/16 0/2 1%16 0%2\nsplit C.i 16\nsplit C.j 16\n"
     "split C.k 16 2\nisolate C.i.0\nisolate C.j.0\nisolate C.k.0\n"
     "reorder C.i.0 C.j.0 C.k.0 C.i.1 C.j.1 C.k.1 C.k.2\ntensorize C.i.1 amx.bf16"},
    {"tensorize_bytes", kBytes,
     "pack B 1/16 0/4 1%16 0%4\nsplit C.j 16\nsplit C.k 4\nisolate C.j.0\nisolate C.k.0\n"
     "reorder C.i C.j.0 C.k.0 C.j.1 C.k.1\ntensorize C.j.1 vnni.avx512"},
    {"tensorize_amx_bytes", kManyBytes,
     "pack B 1/16 0/4 1%16 0%4\nsplit C.i 16\nsplit C.j 16\nsplit C.k 16 4\n"
     "isolate C.i.0\nisolate C.j.0\nisolate C.k.0\n"
     "reorder C.i.0 C.j.0 C.k.0 C.i.1 C.j.1 C.k.1 C.k.2\ntensorize C.i.1 amx.int8"},
    {"reduce_split_inner", kSumLast, "reduce_split Y j 8 inner"},
    {"reduce_split_outer", kSumLast, "reduce_split Y j 8 outer"},
    {"reduce_split_domain", kConv3x3, "reduce_split acc ic 2 inner"},
    {"reduce_split_twice", kSumLast, "reduce_split Y j 16 inner\nreduce_split Y.part jo 2 outer"},
    {"inline", kBroadcastChain, "inline t"},
    {"inline_into_reduction", kScatteredSum, "inline t"},
    {"inline_gather", kInlinedGather, "inline g"},
    {"inline_unit_dimension", kUnitDimension, "inline t"},
    {"inline_guard", kPointwiseConv, "inline sum"},
    {"non_temporal", kMatmul, "non_temporal C"},
    {"skew", kSeidel, "skew A.i A.t 1 as A.x"},
    {"skew_outer_loop", kMatmul, "skew acc.i acc.j 3 as acc.x"},
    {"skew_tasks", kMatmul, "skew acc.j acc.i 1 as acc.x\nreorder acc.x acc.i\nparallelize acc.x"},
    {"skew_inside_a_split", kMatmul,
     "split acc.i 5\nskew acc.i.1 acc.i.0 2 as acc.x\nreorder acc.j acc.x"},
    {"skew_wavefront", kSeidel,
     "skew A.i A.t 2 as A.x\nreorder A.x A.t\nwavefront A.x\nparallelize A.t"},
    {"skew_tiles", kSeidel,
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
    {"copy", kMatmul, "copy A acc"},
    {"precision_of_a_packed_constant", kWeightMatmul, "precision acc bf16 2\npack B 1 0"},
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
    {"compute_at_what_is_gathered", kInlinedGather,
     "copy T g\nsplit T.copy.d0 5\ncompute_at g T.copy.d0.0"},
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
    {"pad_cached_sums", kBareProduct, "cache_write C\npad C i 8 j 8 k 8\nsplit C.i 8\nsplit C.j 8"},
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
    {"index_split", kMatmul,
     "index_split C i 5 30\nsplit C.part1.i 4\nvectorize C.part0.j\nunroll C.part2.i 2"},
    {"index_split_a_reduction", kMatmul,
     "index_split acc j 8\nreorder acc.part0.k acc.part0.i\nreorder acc.part1.k "
     "acc.part1.j\nvectorize acc.part1.j"},
    {"index_split_of_a_recurrence", kSeidel, "index_split A t 3\nunroll A.part0.t"},
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
    {"bind_blocks", kMatmul, "bind acc.i grid.y\nbind acc.j grid.x"},
    {"bind_threads", kMatmul,
     "split acc.i 8\nbind acc.i.0 grid.x\nbind acc.i.1 block.y\nbind acc.j block.x"},
    {"bind_inner_first", kMatmul, "bind acc.j block.x\nbind acc.i block.y"},
    {"bind_in_a_serial_loop", kMatmul, "reorder acc.k acc.i acc.j\nbind acc.j block.x"},
    {"bind_isolated", kMatmul,
     "split acc.i 8\nisolate acc.i.0\nbind acc.i.0 grid.x\nsplit acc.j 5\nisolate acc.j.0\n"
     "bind acc.i.1 block.y\nbind acc.j.0 block.x"},
    {"bind_holds_a_consumer", kMatmul,
     "bind acc.i grid.x\nbind acc.j block.x\ncompute_at acc.init acc.j\ncompute_at C acc.j"},
    {"bind_some_threads_only", kMatmul,
     "bind acc.i grid.x\nreorder acc.k acc.j\nbind acc.j block.x\ncompute_at C acc.i\n"
     "split C.j 4\nbind C.j.0 block.y\nbind C.j.1 block.x"},
    {"bind_register_of_threads", kMatmul,
     "split acc.i 8\nbind acc.i.0 grid.x\nreorder acc.k acc.i.1 acc.j\nbind acc.i.1 block.y\n"
     "bind acc.j block.x\ncompute_at acc.init acc.i.0\ncompute_at C acc.i.0\n"
     "bind acc.init.i.1 block.y\nbind acc.init.j block.x\nbind C.i.1 block.y\n"
     "bind C.j block.x\nstage acc register acc.i.0"},
    {"prefetch", kMatmul, "prefetch B acc.k 8\nprefetch C C.i 1"},
    {"prefetch_into_the_second_level", kMatmul,
     "pack B 1/16 0 1%16\nsplit acc.j 16\nsplit acc.i 4\nreorder acc.i.0 acc.j.0 acc.k acc.i.1 "
     "acc.j.1\nunroll acc.i.1\nvectorize acc.j.1\nprefetch B.pack acc.j.0 1 level 2"},
    {"prefetch_in_vectors", kMatmul,
     "pack B 1/8 0 1%8\nreorder acc.k acc.j\nvectorize acc.j\nprefetch B.pack acc.k 2"},
    {"reverse_compute_at", kMatmul, "reverse_compute_at C acc.j"},
};
INSTANTIATE_TEST_SUITE_P(Steps, StepFires, testing::ValuesIn(kExamples),
                         [](const auto& info) { return std::string(info.param.name); });

struct Refusal {
  std::string_view name;
  std::string_view program;
  std::string_view steps;
  std::string_view message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class StepRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(StepRefuses, WithMessage) {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.least_terms = 1;  // what the contract asks is tested elsewhere
  const auto kernel =
      LoopsOf(MustParse(GetParam().program), MustParseSteps(GetParam().steps), rounding);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(kernel.error().message, GetParam().message);
}

constexpr std::string_view kTwoWriters = R"(compute two_writers {
  input X: f32[9]
  output Y: f32[9]
  workspace t: f32[9]
  a[i: 9]:
    t[i] = X[i]
  b[i: 4]:
    t[i] = X[i] * 2.0
  Y[i: 9]:
    Y[i] = t[i]
}
)";

constexpr std::string_view kOverwritten = R"(compute overwritten {
  input X: f32[9]
  output Y: f32[9]
  workspace u: f32[9]
  workspace t: f32[9]
  u[i: 9]:
    u[i] = X[i]
  t[i: 9]:
    t[i] = u[i] + 1.0
  again[i: 9]:
    u[i] = X[i] * 3.0
  Y[i: 9]:
    Y[i] = t[i] + u[i]
}
)";

constexpr std::string_view kRecurrence = R"(compute recurrence {
  input X: f32[9]
  output Y: f32[9]
  workspace t: f32[9]
  t[i: 9 sequential]:
    t[i] = (t[i - 1] where (i - 1 >= 0) else 0.0) + X[i]
  Y[i: 9]:
    Y[i] = t[i]
}
)";

constexpr std::string_view kLoadedIndex = R"(compute loaded_index {
  input T: f32[11]
  input I: i64[13] range [0, 10]
  output Y: f32[13]
  workspace k: i64[13] range [0, 10]
  k[i: 13]:
    k[i] = I[i]
  Y[i: 13]:
    Y[i] = T[@(k[i])]
}
)";

constexpr std::string_view kDiagonalSum = R"(compute diagonal_sum {
  input X: f32[5, 5, 9]
  output Y: f32[9]
  Y[i: 5, j: 5, k: 9 reduction]:
    Y[i + j] sum= X[i, j, k]
}
)";

constexpr std::string_view kUncast = R"(compute uncast {
  input A: f16[9]
  output Y: f32[9]
  output Z: f16[9]
  Y[i: 9]:
    (Y[i], Z[i]) = (f32(A[i]), A[i])
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

constexpr Refusal kRefusals[] = {
    {"widen_unknown", kHalfMatmul, "widen D acc", "widen D: there is no such tensor or statement"},
    {"widen_wide", kMatmul, "widen A acc", "widen A: acc does not read it cast to one wider type"},
    {"widen_also_as_it_is", kUncast, "widen A Y",
     "widen A: Y does not read it cast to one wider type"},
    {"widen_twice", kHalfMatmul, "widen A acc\nwiden A acc",
     "widen A: acc does not read it cast to one wider type"},
    {"widen_read_by_others", kReadTwice, "widen t Y", "widen t: Z reads it too"},
    {"widen_outside", kOneOutside, "widen A Y", "widen A: its value outside of a guard is not 0"},
    {"pad_unknown", kMatmul, "pad sum i 8", "pad sum: there is no such statement"},
    {"pad_no_sum", kMatmul, "pad C i 8", "pad C: it is not a sum"},
    {"pad_a_maximum", kMaxPool, "pad acc c 8", "pad acc: it is not a sum"},
    {"pad_no_iterator", kMatmul, "pad acc z 8",
     "pad acc: no iterator z to round up to a multiple of 8"},
    {"pad_to_nothing", kMatmul, "pad acc k 0",
     "pad acc: no iterator k to round up to a multiple of 0"},
    {"pad_twice_at_once", kMatmul, "pad acc k 8 k 16", "pad acc: iterator k is named twice"},
    {"pad_output", kBareProduct, "pad C i 8",
     "pad C: C is no workspace of its own; cache_write C makes one"},
    {"pad_diagonals", kDiagonals, "pad Y i 8",
     "pad Y: its write index is more than different iterators"},
    {"pad_own_operand", kOwnOperand, "pad Y k 4", "pad Y: it reads the tensor that it writes"},
    {"pad_padded_by_ones", kPaddedByOnes, "pad Y k 4",
     "pad Y: its operand X is 1 outside of its guard"},
    {"pad_constant_copy", kWeightMatmul, "pack B 1 0\npad B.pack d0 8",
     "pad B.pack: it is run when compiling"},
    {"pad_triangle", kTriangularProduct, "pad acc",
     "pad acc: where -i + k - 1 < 0, its value may be other than 0"},
    {"pad_taps", kConv3x3, "pad acc kh 4",
     "pad acc: where kh is 3 or more, X may be inside of its extents"},
    {"pad_groups", kDilatedGroupedConv, "pad acc oh 4",
     "pad acc: its write index is more than different iterators"},
    {"pad_deviations", kDeviations, "pad q r 8",
     "pad q: where r is 37 or more, its value may be other than 0"},
    {"pad_a_part", kHalves, "pad left j 8", "pad left: t has elements beyond those that j reaches"},
    {"pad_unwritten", kUnwrittenHalf, "pad Y",
     "pad Y: its operand t may have elements that nothing wrote"},
    {"pad_gathered", kGatheredSum, "pad Y k 8", "pad Y: the index of its operand T is loaded"},
    {"pad_grown", kTwoProducts, "pad t j 8\npad acc k 8",
     "pad acc: where k is 23 or more, t may be inside of its extents"},
    {"split_a_part", kMatmul,
     "index_split C j 5\ncopy acc C.part0\ncompute_at acc.copy C.part0.i\n"
     "stage acc.copy packed C.part0.i\nsplit acc.copy.j 4",
     "split acc.copy.j: its extent 5 is a part of that of acc.copy, and 4 does not divide it"},
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
    {"fuse_no_name", kMatmul, "fuse acc.i acc.j as 7+", "fuse: '7+' is no name for a loop"},
    {"vectorize_outer", kMatmul, "vectorize acc.i",
     "vectorize acc.i: it must be the innermost loop of one statement"},
    {"vectorize_twice", kMatmul, "vectorize C.j\nvectorize C.j", "loop C.j is not serial any more"},
    {"unroll_vector", kMatmul, "vectorize C.j\nunroll C.j 4",
     "unroll C.j: it is not serial any more"},
    {"unroll_too_much", kMatmul, "unroll acc.k 5000",
     "unroll acc.k: 5000 copies, at most 4096 are sensible"},
    {"parallelize_inner", kMatmul, "parallelize acc.j",
     "parallelize acc.j: only the outermost loops of a phase can be tasks"},
    {"compute_at_unknown", kMatmul, "compute_at D acc.i", "compute_at: there is no statement D"},
    {"compute_at_inside", kMatmul, "compute_at acc acc.i",
     "compute_at acc: it is inside acc.i already"},
    {"compute_at_unrelated", kLayerNorm, "compute_at Y t.j",
     "compute_at Y: no tensor relates it to a statement inside t.j"},
    {"compute_at_vector", kMatmul, "vectorize acc.k\ncompute_at C acc.k",
     "compute_at C: loop acc.k is vector or not the innermost of its tasks or threads"},
    {"compute_at_between_tasks", kMatmul,
     "parallelize acc.i\nparallelize acc.j\ncompute_at C acc.i",
     "compute_at C: loop acc.i is vector or not the innermost of its tasks or threads"},
    {"compute_at_staged", kMatmul,
     "compute_at acc.init acc.j\nstage acc register acc.j\n"
     "compute_at C acc.j",
     "compute_at C: it uses acc, which is staged already"},
    {"stage_argument", kMatmul, "stage A packed acc.i", "stage: A is not a workspace tensor"},
    {"stage_unused", kMatmul, "stage acc packed C.k",
     "there is no loop C.k; there are acc.init.i acc.init.j acc.i acc.j acc.k C.i C.j"},
    {"stage_elsewhere", kSoftmax, "stage s packed m.i", "stage s: nothing in the loop uses it"},
    {"stage_twice", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\n"
     "stage acc register acc.j\nstage acc register acc.i",
     "stage: acc is not a workspace tensor"},
    {"pack_unknown", kMatmul, "pack Z 0", "pack: there is no tensor Z"},
    {"pack_output", kMatmul, "pack C 1 0",
     "pack C: only arguments that are read, and workspace, can be packed"},
    {"pack_workspace_twice", kMatmul, "pack acc 1 0\npack acc 0 1",
     "pack acc: it is packed already"},
    {"precision_unknown", kMatmul, "precision x bf16 3", "precision x: there is no such statement"},
    {"precision_no_sum", kMatmul, "precision C bf16 3",
     "precision C: it is not a sum of products of two f32 elements"},
    {"precision_of_a_split_term", kTermMatmul, "precision acc bf16 3",
     "precision acc: it is not a sum of products of two f32 elements"},
    {"narrow_unknown", kMatmul, "narrow x acc", "narrow x: there is no such tensor or statement"},
    {"narrow_an_argument", kMatmul, "narrow A acc", "narrow A: it is not f32 workspace of its own"},
    {"narrow_no_operand", kComputedOperand, "narrow operand C",
     "narrow operand: C is no sum of products with one of its elements"},
    {"narrow_twice", kComputedOperand, "narrow operand acc\nnarrow operand acc",
     "narrow operand: it is not f32 workspace of its own"},
    {"hoist_unknown", kMatmul, "hoist x", "hoist x: there is no such statement"},
    {"hoist_before_its_operand", kMatmul, "hoist C", "hoist C: acc writes what it reads"},
    {"hoist_before_another_writer", kTwoWriters, "hoist b", "hoist b: a uses what it writes"},
    {"hoist_before_a_reader", kOverwritten, "hoist again", "hoist again: u uses what it writes"},
    {"precision_twice", kMatmul, "precision acc bf16 3\nprecision acc bf16 3",
     "precision acc: it is not a sum of products of two f32 elements"},
    {"tensorize_unknown", kMatmul, "tensorize acc.k fma",
     "tensorize acc.k fma: there is no such intrinsic"},
    {"tensorize_storage", kMatmul,
     "reorder acc.i acc.k acc.j\ncompute_at acc.init acc.i\ncompute_at C acc.i\n"
     "stage acc packed acc.i\ntensorize acc.i fma.avx2",
     "tensorize acc.i fma.avx2: there must be one statement inside, and no storage of its own"},
    {"tensorize_no_sum", kMatmul, "split C.j 8\ntensorize C.j.1 fma.avx2",
     "tensorize C.j.1 fma.avx2: wanted a sum of products"},
    {"tensorize_reduced", kMatmul, "split acc.k 8\ntensorize acc.k.1 fma.avx2",
     "tensorize acc.k.1 fma.avx2: wanted loops over columns of 8; there are acc.k.1 of 8"},
    {"tensorize_type", kMatmul,
     "split acc.j 16\nsplit acc.k 2\nreorder acc.j.0 acc.k.0 acc.k.1 acc.j.1\n"
     "tensorize acc.k.1 dpbf16.avx512",
     "tensorize acc.k.1 dpbf16.avx512: left operand is A of f32, wanted bf16"},
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
    {"precision_own_operand", kCumulative, "precision Y bf16 3",
     "precision Y: it writes its operand Y"},
    {"precision_partly_written", kPartlyWritten, "precision Y bf16 3",
     "precision Y: not all of its operand t may be written"},
    {"precision_padded_by_ones", kPaddedByOnes, "precision Y bf16 3",
     "precision Y: its operand X is 1 outside of its guard"},
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
     "reduce_split Y: its write index is more than different iterators"},
    {"inline_reduction", kMatmul, "inline acc",
     "inline acc: it is not a statement that defines a workspace tensor pointwise"},
    {"inline_output", kMatmul, "inline C",
     "inline C: it is not a statement that defines a workspace tensor pointwise"},
    {"inline_two_writers", kTwoWriters, "inline a", "inline a: statement b writes its tensor too"},
    {"inline_overwritten", kOverwritten, "inline t",
     "inline t: statement again overwrites u, which it reads"},
    {"inline_recurrence", kRecurrence, "inline t",
     "inline t: it is not a statement that defines a workspace tensor pointwise"},
    {"inline_guarded", kCausal, "inline acc",
     "inline acc: it is not a statement that defines a workspace tensor pointwise"},
    {"inline_index", kLoadedIndex, "inline k", "inline k: statement Y takes an index from it"},
    {"skew_by_itself", kMatmul, "skew acc.i acc.i 1 as x", "skew acc.i: 1 times loop acc.i"},
    {"skew_by_nothing", kMatmul, "skew acc.i acc.j 0 as x", "skew acc.i: 0 times loop acc.j"},
    {"skew_elsewhere", kMatmul, "skew acc.i C.i 1 as x",
     "skew acc.i: loop C.i is not around all that is inside it"},
    {"skew_taken_name", kMatmul, "skew acc.i acc.j 1 as C.i", "skew: there is a loop C.i already"},
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
     "distribute acc.i: it holds one thing only, or storage that its body shares"},
    {"distribute_staged", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\nstage acc register acc.j\ndistribute acc.j",
     "distribute acc.j: it holds one thing only, or storage that its body shares"},
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
    {"copy_for_a_constant", kWeightMatmul, "pack B 1 0\ncopy B B.pack",
     "copy B: B.pack is run when compiling"},
    {"index_split_of_a_constant", kWeightMatmul, "pack B 1 0\nindex_split B.pack d0 3",
     "index_split B.pack: it is run when compiling"},
    {"copy_unread", kMatmul, "copy B C", "copy B: C does not read it"},
    {"copy_twice", kMatmul, "copy B acc\ncopy B acc", "copy B: acc does not read it"},
    {"copy_no_iterator", kMatmul, "copy B acc z 4", "copy B: no iterator z of acc in groups of 4"},
    {"copy_unknown", kMatmul, "copy D acc", "copy D: there is no such tensor or statement"},
    {"swizzle_storage_unstaged", kMatmul, "swizzle_storage B 8",
     "swizzle_storage B: it is not staged in shared storage"},
    {"swizzle_storage_private", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\nswizzle_storage B.copy 8",
     "swizzle_storage B.copy: it is not staged in shared storage"},
    {"swizzle_storage_of_three", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy shared acc.k\nswizzle_storage B.copy 3",
     "swizzle_storage B.copy: 3 chunks, wanted 2, 4 or 8"},
    {"swizzle_storage_odd_rows", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy shared acc.k\nswizzle_storage B.copy 8",
     "swizzle_storage B.copy: its rows have 52 bytes, wanted a power of two"},
    {"pipeline_past_the_caches", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\nnon_temporal B.copy\npipeline acc.k 2",
     "pipeline acc.k: B.copy is non_temporal, and what it fills is used soon"},
    {"non_temporal_pipelined", kMatmul,
     "copy B acc i 37\nreorder acc.k acc.i acc.j\ncompute_at B.copy acc.k\n"
     "stage B.copy packed acc.k\npipeline acc.k 2\nnon_temporal B.copy",
     "non_temporal: B.copy is begun ahead by a pipeline, and what it fills is used soon"},
    {"pipeline_nothing", kMatmul, "pipeline acc.k 2",
     "pipeline acc.k: nothing in it is a plain copy into packed or shared storage of its own"},
    {"pipeline_one_stage", kMatmul, "pipeline acc.k 1", "pipeline acc.k: 1 stages, wanted 2 to 64"},
    {"pipeline_isolated", kMatmul, "isolate acc.k\npipeline acc.k 2",
     "pipeline acc.k: it is isolated"},
    {"pipeline_in_threads", kMatmul, "bind acc.j block.x\npipeline acc.k 2",
     "pipeline acc.k: it is inside a loop over threads"},
    {"pipeline_computes", kMatmul,
     "compute_at acc.init acc.j\ncompute_at C acc.j\nstage acc packed acc.j\npipeline acc.j 2",
     "pipeline acc.j: nothing in it is a plain copy into packed or shared storage of its own"},
    {"pipeline_reads_nothing", kUnread, "stage t packed t.i\npipeline t.i 2",
     "pipeline t.i: nothing in it is a plain copy into packed or shared storage of its own"},
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
    {"bind_inner_grid", kMatmul, "bind acc.j grid.x",
     "bind acc.j grid.x: only the outermost loops of a phase can be blocks"},
    {"bind_twice", kMatmul, "bind acc.i grid.x\nbind acc.j grid.x",
     "bind acc.j grid.x: loop acc.i is bound to it already"},
    {"bind_in_tasks", kMatmul, "parallelize acc.i\nbind acc.j block.x",
     "bind acc.j block.x: it is inside tasks"},
    {"bind_tasks", kMatmul, "bind acc.j block.x\nparallelize acc.i",
     "parallelize acc.i: a loop inside it is bound"},
    {"bind_too_many", kMatmul, "bind acc.i block.z\nbind acc.j block.y\nbind acc.k block.x",
     "bind acc.k block.x: 29 x 13 x 37 threads a block, at most 1024"},
    {"bind_apart", kMatmul, "bind acc.i block.y\nbind acc.k block.x",
     "bind acc.k block.x: loops over threads must be directly inside each other"},
    {"bind_split_later", kMatmul, "bind acc.i grid.x\nsplit acc.i 4",
     "split: loop acc.i is vector, parallel, bound or unrolled already"},
    {"stage_shared_in_threads", kMatmul,
     "bind acc.i block.x\ncompute_at acc.init acc.i\ncompute_at C acc.i\nstage acc shared acc.i",
     "stage acc: loop acc.i is over threads, which share it"},
    {"bind_around_shared", kMatmul,
     "compute_at acc.init acc.i\ncompute_at C acc.i\nstage acc shared acc.i\nbind acc.i block.x",
     "bind acc.i block.x: it holds storage that threads share"},
    {"prefetch_unknown", kMatmul, "prefetch D acc.k 4", "prefetch: D is no tensor in memory"},
    {"prefetch_unused", kMatmul, "prefetch C acc.k 4", "prefetch C: nothing in loop acc.k uses it"},
    {"prefetch_now", kMatmul, "prefetch B acc.k 0", "prefetch B: 0 iterations ahead"},
    {"prefetch_loaded", kLoadedIndex, "prefetch T Y.i 1",
     "prefetch T: Y takes its place from a value"},
    {"reverse_compute_at_producer", kMatmul, "reverse_compute_at acc.init acc.j",
     "reverse_compute_at acc.init: acc inside acc.j comes after it"},
    {"reverse_compute_at_unknown", kMatmul, "reverse_compute_at D acc.j",
     "compute_at: there is no statement D"},
    {"non_temporal_unknown", kMatmul, "non_temporal D", "non_temporal: there is no statement D"},
};
INSTANTIATE_TEST_SUITE_P(Steps, StepRefuses, testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Steps, MustNotFireWhereTheyAreNotNamed) {
  const std::string text = NestText(kMatmul, "split acc.i 4");
  EXPECT_THAT(text, HasSubstr("acc_i_1"));
  EXPECT_THAT(text, Not(HasSubstr("C_i_1")));
}

TEST(Steps, PackedWeightsArePackedOnce) {
  const auto kernel =
      LoopsOf(MustParse(kWeightMatmul), MustParseSteps("pack B 0/16 1 0%16"), ReductionOrder::kAny);
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_EQ(kernel->prepack.size(), 1U);
  EXPECT_EQ(kernel->prepack[0].name, "B.pack");
  EXPECT_EQ(kernel->nest.phases.size(), 3U);  // init, product, output: no copy
}

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
