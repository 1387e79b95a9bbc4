// Tests of steps that move or inline statements, or stage tensors.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

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

const StepExample kExamples[] = {
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
    {"hoist", kTwoProducts, "copy D acc\nhoist D.copy"},
    {"hoist_a_phase", kTwoProducts, "copy D acc k 2\nhoist D.copy\ncompute_at t acc.i"},
    {"inline", kBroadcastChain, "inline t"},
    {"inline_into_reduction", kScatteredSum, "inline t"},
    {"inline_gather", kInlinedGather, "inline g"},
    {"inline_unit_dimension", kUnitDimension, "inline t"},
    {"inline_guard", kPointwiseConv, "inline sum"},
    {"compute_at_what_is_gathered", kInlinedGather,
     "copy T g\nsplit T.copy.d0 5\ncompute_at g T.copy.d0.0"},
    {"reverse_compute_at", kMatmul, "reverse_compute_at C acc.j"},
};
INSTANTIATE_TEST_SUITE_P(Placement, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
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
    {"hoist_unknown", kMatmul, "hoist x", "hoist x: there is no such statement"},
    {"hoist_before_its_operand", kMatmul, "hoist C", "hoist C: acc writes what it reads"},
    {"hoist_before_another_writer", kTwoWriters, "hoist b", "hoist b: a uses what it writes"},
    {"hoist_before_a_reader", kOverwritten, "hoist again", "hoist again: u uses what it writes"},
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
    {"reverse_compute_at_producer", kMatmul, "reverse_compute_at acc.init acc.j",
     "reverse_compute_at acc.init: acc inside acc.j comes after it"},
    {"reverse_compute_at_unknown", kMatmul, "reverse_compute_at D acc.j",
     "compute_at: there is no statement D"},
};
INSTANTIATE_TEST_SUITE_P(Placement, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

}  // namespace
}  // namespace tunec::test
