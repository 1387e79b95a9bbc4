// Tests of steps that bind loops to blocks and threads.
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/steps/cases.h"

namespace tunec::test {
namespace {

const StepExample kExamples[] = {
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
};
INSTANTIATE_TEST_SUITE_P(Threads, StepFires, testing::ValuesIn(kExamples), CaseName<StepExample>);

const StepRejection kRejections[] = {
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
};
INSTANTIATE_TEST_SUITE_P(Threads, StepRejects, testing::ValuesIn(kRejections),
                         CaseName<StepRejection>);

}  // namespace
}  // namespace tunec::test
