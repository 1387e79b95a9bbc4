// Tests of nests for blocks of threads, run by a CPU.
#include <gtest/gtest.h>

#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/serialize_threads.h"
#include "tests/jit/block_nests.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

TEST(Threads, RunOneAfterTheOther) {
  ExpectAsInterpreted(std::string(kSharedNest));
  const auto object = CompileNest(SerializeThreads(Parse(std::string(kSharedNest))), DetectCpu(1));
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->phases[0].Blocks(), 18);
}

TEST(Threads, SharedStorageNeedsNoLoopOverThem) {
  ExpectAsInterpreted(R"(
nest alone {
  input A: f32[8]
  output C: f32[8]
  local t: f32[8]
  phase main {
    alloc t: shared {
      for i in 0 .. 8 {
        fill: t[i] = A[i]
      }
      for j in 0 .. 8 {
        use: C[j] = t[7 - j]
      }
    }
  }
})");
}

TEST(Threads, CopiesTakePlaceWhereTheyAreIssued) {
  ExpectAsInterpreted(R"(
nest copies {
  input A: f32[4, 24]
  output C: f32[4, 16]
  local s: f32[3, 2, 8]
  phase main {
    parallel for i in 0 .. 4 {
      alloc s: packed stages 3 {
        for k in 0 .. 2 {
          async_copy 0 A[2*(k mod 2), 8*k] -> s[k, 0, 0] extent [2, 8]
          arrive 0 stage k
        }
        for k in 0 .. 2 {
          wait 0 stage k parity 0
          vector for j in 0 .. 8 {
            use: C[i, 8*k + j] = s[k, 0, j] + s[k, 1, j]
          }
        }
      }
    }
  }
})");
}

TEST(Threads, GuardedCopiesPutTheirValueOutside) {
  ExpectAsInterpreted(R"(
nest guarded {
  input A: f32[13]
  output C: f32[16]
  local s: f32[2, 4]
  phase main {
    alloc s: packed stages 2 {
      for k in 0 .. 4 {
        vector for j in 0 .. 4 {
          async_copy 0 A[4*k + j] where (-4*k - j + 12 >= 0) else 2.0 -> s[k mod 2, j] extent []
        }
        arrive 0 stage k mod 2
        wait 0 stage k mod 2 parity floor(k/2) mod 2
        vector for l in 0 .. 4 {
          use: C[4*k + l] = s[k mod 2, l]
        }
      }
    }
  }
})");
}

}  // namespace
}  // namespace tunec::jit_test
