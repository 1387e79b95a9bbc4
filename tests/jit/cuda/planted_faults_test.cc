// Tests of faults in GPU kernels, each planted alone. The checked emulation finds each fault in the
// machine code, and reports the kernel, the block and a thread. The interpreter or the verifier
// finds the faults that are visible in the loops. These are the faults:
//
//   missing barrier         threads read others' elements; a copy overwrites elements in use
//   missing wait            a copy's destination is read before the copy completes
//   wait one too loose      the group before the awaited one is waited for
//   wrong swizzle           a reader uses unswizzled positions
//   shared race             two threads write one element, in shared and in global memory
//   out of bounds           of global memory and of shared memory
//   divergent barrier       threads of a block wait at different barriers
//   deadlock                some threads wait at a barrier, and all other threads have ended
//   changed source          a copy's source is written before the wait for the copy
//   touched destination     a copy's destination is written before the wait for the copy
//   unfinished copy         a block ends with a copy without a wait
//   misaligned copy         memory is less aligned than its tensor claims (not in the loops)
//
// checked_test.cc tests faults between blocks, and reads of unwritten memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "ir/interpret/interpret.h"
#include "jit/cuda/emulate/emulate.h"
#include "tests/ir/small_arguments.h"
#include "tests/jit/cuda/run_checked.h"

namespace tunec::jit_test {
namespace {

using ::testing::HasSubstr;

// Returns the text of a nest that copies A to three stages of shared memory, eight elements at a
// time. Thread 0 reads elements that thread 1 copies.
std::string Pipelined(const std::string& first_wait, const std::string& wait,
                      const std::string& barrier, const std::string& more = "") {
  return R"(
nest copies {
  input A: f32[64] align 16
  output C: f32[12] align 16
  local s: f32[3, 8]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared stages 3 {
        for p in 0 .. 2 {
          block.x for x in 0 .. 2 {
            async_copy 0 A[8*p + 4*x] -> s[p, 4*x] extent [4]
          }
          arrive 0 stage p
        }
        )" +
         first_wait + R"(
        barrier
        block.x for y in 0 .. 2 {
          first: C[y] = s[0, 7 - y]
        }
        block.x for v in 0 .. 2 {
          async_copy 0 A[4*v + 16] -> s[2, 4*v] extent [4]
        }
        arrive 0 stage 2
        for k in 1 .. 6 {
          )" +
         wait + "\n" + barrier + R"(
          block.x for z in 0 .. 2 {
            if (5 - k >= 0) {
              async_copy 0 A[8*k + 4*z + 16] -> s[(k + 2) mod 3, 4*z] extent [4]
            }
          }
          arrive 0 stage (k + 2) mod 3
          block.x for w in 0 .. 2 {
            use: C[2*k + w] = s[k mod 3, 7 - w]
          }
        }
        )" +
         more + R"(
        wait 0 stage 0 parity 0
        wait 0 stage 1 parity 0
      }
    }
  }
}
)";
}

constexpr const char* kFirstWait = "wait 0 stage 0 parity 0";
constexpr const char* kWait = "wait 0 stage k mod 3 parity floor(k/3) mod 2";
constexpr const char* kLooseWait = "wait 0 stage (k + 2) mod 3 parity floor((k - 1)/3) mod 2";

struct Fault {
  const char* name;
  std::string nest;
  const char* emulation;    // the emulation's message
  const char* interpreter;  // the message of the interpreter, or of the verifier, which runs first
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

const Fault kFaults[] = {
    {"missing_barrier", Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[x] = A[x]
}
block.x for y in 0 .. 4 {
  use: C[y] = s[floor(y/2)]
}
)"),
     "thread 1: use reads 4 bytes of s at shared memory \\+ 0: a race at shared memory \\+ 0: fill "
     "of thread 0 writes it, and no barrier is between",
     "race"},
    {"missing_barrier_after_a_wait", Pipelined(kFirstWait, kWait, ""),
     "use reads 4 bytes of s at shared memory \\+ [0-9]+: async_copy of thread 1 began a copy to "
     "it, and no wait ended the copy",
     "race"},
    {"missing_wait", Pipelined(kFirstWait, "", "barrier"),
     "use reads 4 bytes of s at shared memory \\+ [0-9]+: async_copy of thread [01] began a copy "
     "to "
     "it, and no wait ended the copy",
     "nothing wrote"},
    {"wait_one_too_loose", Pipelined(kFirstWait, kLooseWait, "barrier"),
     "use reads 4 bytes of s at shared memory \\+ [0-9]+: async_copy of thread [01] began a copy "
     "to "
     "it, and no wait ended the copy",
     "nothing wrote"},
    {"wrong_swizzle", R"(
nest swizzled {
  input A: f32[16]
  output C: f32[16]
  local s: f32[1024]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared swizzle 8 of 128 {
        block.x for x in 0 .. 16 {
          fill: s[x + 128] = A[x]
        }
      }
      barrier
      alloc s: shared {
        block.x for y in 0 .. 16 {
          use: C[y] = s[y + 128]
        }
      }
    }
  }
}
)",
     "thread 0: use reads 4 bytes of s at shared memory \\+ 512: the memory was never written",
     "nothing wrote"},
    {"shared_race", Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[floor(x/2)] = A[x]
}
)"),
     "thread 1: fill writes 4 bytes of s at shared memory \\+ 0: a race at shared memory \\+ 0: "
     "fill "
     "of thread 0 writes it, too",
     "race"},
    {"global_race", Nest(R"(
block.x for x in 0 .. 4 {
  put: C[floor(x/2)] = A[x]
}
)"),
     "thread 1: put writes 4 bytes of C at C \\+ 0: a race at C \\+ 0: put of thread 0 writes it, "
     "too",
     "race"},
    {"out_of_global_bounds", Nest(R"(
block.x for x in 0 .. 4 {
  put: C[x] = A[x + 1]
}
)"),
     "thread 3: put reads 4 bytes of A at A \\+ 16: out of bounds: A \\+ 16, which has 16 bytes",
     "A"},
    {"out_of_shared_bounds", Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[x + 1021] = A[x]
}
)"),
     "thread 3: fill writes 4 bytes of s at .*: out of bounds: shared memory \\+ 4096, which has "
     "4096 bytes",
     "s"},
    {"copy_out_of_bounds", Nest(R"(
block.x for x in 0 .. 4 {
  async_copy 0 A[x + 1] -> s[x] extent []
}
arrive 0 stage 0
wait 0 stage 0 parity 0
)"),
     "thread 3: async_copy reads 4 bytes at A \\+ 16: out of bounds", "A"},
    {"divergent_barrier", Nest(R"(
block.x for x in 0 .. 2 {
  barrier
}
block.x for y in 0 .. 4 {
  fill: s[y] = A[y]
}
barrier
)"),
     "thread 2 is at barrier 2, but thread 0 at barrier 1: all threads must reach the same barrier",
     "a barrier inside a block"},
    {"deadlock", Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[x] = A[x]
}
block.x for y in 0 .. 2 {
  barrier
}
)"),
     "thread 2 is at its end, but thread 0 at barrier 1: a deadlock, no thread can go on",
     "a barrier inside a block"},
    {"changed_source", R"(
nest changed {
  input A: f32[4]
  output C: f32[4]
  local s: f32[4]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared {
        block.x for x in 0 .. 4 {
          put: C[x] = A[x] + 1.0
          async_copy 0 C[x] -> s[x] extent []
          again: C[x] = 5.0
        }
        arrive 0 stage 0
        wait 0 stage 0 parity 0
      }
    }
  }
}
)",
     "thread 0: async_copy reads 4 bytes at C \\+ 0: it is written between the copy's issue and "
     "the "
     "wait for it",
     "is written between"},
    {"touched_destination", Nest(R"(
block.x for x in 0 .. 4 {
  async_copy 0 A[x] -> s[x] extent []
  again: s[x] = 5.0
}
arrive 0 stage 0
wait 0 stage 0 parity 0
)"),
     "thread 0: again writes 4 bytes of s at shared memory \\+ 0: async_copy of thread 0 began a "
     "copy "
     "to it, and no wait ended the copy",
     "is written between"},
    {"forgotten_copy", Nest(R"(
block.x for x in 0 .. 4 {
  async_copy 0 A[x] -> s[x] extent []
}
arrive 0 stage 0
)"),
     "thread 0: async_copy writes 4 bytes of s at shared memory \\+ 0: nothing waits for that copy",
     "nothing waits for copies into s"},
};

class PlantedFaultDeathTest : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFaultDeathTest, IsFoundInTheCode) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  EXPECT_DEATH(RunChecked(GetParam().nest), GetParam().emulation);
}

TEST_P(PlantedFaultDeathTest, IsFoundInTheLoops) {
  const auto nest = ParseLoopNest(GetParam().nest, "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto result = Interpret(*nest, test::SmallArguments(*nest), Precision::kNative);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().interpreter));
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFaultDeathTest, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PlantedFaults, AreAllThatIsWrong) {
  const auto nest = ParseLoopNest(Pipelined(kFirstWait, kWait, "barrier"), "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto result = Interpret(*nest, test::SmallArguments(*nest), Precision::kNative);
  ASSERT_TRUE(result) << result.error().message;
  if (kEmulates) RunChecked(*nest);
}

TEST(PlantedFaultDeathTests, MisalignedCopiesAreFound) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const auto nest = ParseLoopNest(Pipelined(kFirstWait, kWait, "barrier"), "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  EXPECT_DEATH(RunChecked(*nest, 1, Placing::kOneElementOff),
               "thread 0: async_copy reads 16 bytes at A \\+ 0: a copy of 16 bytes is not aligned");
}

}  // namespace
}  // namespace tunec::jit_test
