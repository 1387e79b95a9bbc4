// Tests that the emulation of a GPU gives the interpreter's results and finds a deadlock.
#include "jit/cuda/emulate/emulate.h"

#include <gtest/gtest.h>

#include "jit/cuda/cuda_generator.h"
#include "tests/jit/block_nests.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

TEST(Emulation, RunsThreadsBesideEachOther) { ExpectAsInterpreted(std::string(kSharedNest)); }

TEST(Emulation, RunsPhasesAndWorkspace) {
  ExpectAsInterpreted(R"(
nest phases {
  input A: f32[64]
  output C: f32[64]
  workspace w: f32[64]
  phase first {
    grid.x for b in 0 .. 4 {
      block.x for x in 0 .. 16 {
        s: w[16*b + x] = A[16*b + x] * 2.0
      }
    }
  }
  phase second {
    grid.x for b in 0 .. 8 {
      block.x for x in 0 .. 4 {
        block.y for y in 0 .. 2 {
          t: C[8*b + 2*x + y] = w[63 - 8*b - 2*x - y] + 1.0
        }
      }
    }
  }
}
)");
}

TEST(Emulation, RunsSchedulesOfACpu) {
  ExpectAsInterpreted(R"(
nest cpu {
  input A: f32[5, 37]
  output C: f32[5, 37]
  local p: f32[37]
  phase main {
    parallel for i in 0 .. 5 {
      alloc p: packed {
        vector for j in 0 .. 37 {
          a: p[j] = A[i, j] * 3.0
        }
        vector for k in 0 .. 37 {
          b: C[i, k] = p[36 - k]
        }
      }
    }
  }
}
)");
}

TEST(EmulationDeathTest, FindsABarrierThatIsNotForAll) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  // The nest is not verified, because the verifier rejects barriers that some threads do not reach.
  const auto nest = ParseLoopNest(R"(
nest divergent {
  output C: f32[4]
  local s: f32[4]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared {
        block.x for x in 0 .. 4 {
          fill: s[x] = 1.0
        }
        block.x for y in 0 .. 2 {
          barrier
        }
        block.x for z in 0 .. 4 {
          use: C[z] = s[3 - z]
        }
      }
    }
  }
}
)",
                                  "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto image = CompileEmulated(*nest);
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = LoadEmulated(*image);
  ASSERT_TRUE(kernel) << kernel.error().message;
  float c[4] = {};
  void* arguments[] = {c};
  EXPECT_DEATH(kernel->phases[0].function(arguments, nullptr, nullptr, 0),
               "divergent_phase0, block 0: thread 2 is at its end, but thread 0 at barrier 1: a "
               "deadlock, no thread can go on");
}

}  // namespace
}  // namespace tunec::jit_test
