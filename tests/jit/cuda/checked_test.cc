// Tests of the checked emulation of a GPU: accepted kernels, reports of faults, and counts.
// planted_faults_test.cc lists the faults that must be found.
#include <gtest/gtest.h>

#include <string>

#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_requests.h"
#include "tests/jit/cuda/run_checked.h"

namespace tunec::jit_test {
namespace {

class CheckedEmulation : public testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  }
};
using CheckedEmulationDeathTest = CheckedEmulation;

TEST_F(CheckedEmulation, LetsRightKernelsPass) {
  RunChecked(Nest(R"(
block.x for x in 0 .. 64 {
  fill: s[x] = A[64*b + x]
}
barrier
block.x for y in 0 .. 64 {
  use: C[64*b + y] = s[63 - y]
}
barrier
block.x for z in 0 .. 64 {
  again: s[z] = 1.0
}
)",
                  "f32[128]", "2"));
}

TEST_F(CheckedEmulation, LetsBlocksOfOtherLaunchesTouchTheSame) {
  // An element is accessed in several waves, phases and runs.
  RunChecked(R"(
nest launches {
  input A: f32[16]
  output C: f32[16]
  phase first {
    wave for t in 0 .. 3 {
      grid.x for b in 0 .. 4 {
        block.x for x in 0 .. 4 {
          put: C[(4*b + 4*t + x) mod 16] = A[x]
        }
      }
    }
  }
  phase second {
    grid.x for c in 0 .. 2 {
      block.x for y in 0 .. 8 {
        add: C[8*c + y] = C[8*c + y] + 1.0
      }
    }
  }
}
)",
             /*times=*/2);
}

TEST_F(CheckedEmulationDeathTest, FindsAMissingBarrier) {
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[x] = A[x]
}
block.x for y in 0 .. 4 {
  use: C[y] = s[floor(y/2)]
}
)")),
      "checked_phase0, block 0, thread 1: use reads 4 bytes of s at shared memory \\+ 0: a "
      "race at shared memory \\+ 0: fill of thread 0 writes it, and no barrier is between");
}

TEST_F(CheckedEmulationDeathTest, FindsAMissingBarrierBeforeMemoryIsUsedAgain) {
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  fill: s[x] = A[x]
}
barrier
block.x for y in 0 .. 4 {
  use: C[y] = s[3]
}
block.x for z in 0 .. 4 {
  again: s[z] = 1.0
}
)")),
      "thread 3: again writes 4 bytes of s at shared memory \\+ 12: a race at shared memory "
      "\\+ 12: another thread reads it");
}

TEST_F(CheckedEmulationDeathTest, FindsThreadsThatWriteOneElement) {
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[floor(x/4)] = A[x]
}
)")),
      "thread 1: put writes 4 bytes of C at C \\+ 0: a race at C \\+ 0: put of thread 0 writes "
      "it, too");
}

TEST_F(CheckedEmulationDeathTest, FindsBlocksThatWriteOneElement) {
  EXPECT_DEATH(RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[3*b + x] = A[x]
}
)",
                               "f32[4]", "2")),
               "checked_phase0: a race at C \\+ 12: block 1 writes it, block 0 writes it, in any "
               "order");
}

TEST_F(CheckedEmulationDeathTest, FindsABlockThatReadsWhatAnotherWrites) {
  EXPECT_DEATH(RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[4*b + x] = C[x] + 1.0
}
)",
                               "f32[4]", "2")),
               "a race at C \\+ 0: block 1 reads it, block 0 writes it, in any order");
}

TEST_F(CheckedEmulationDeathTest, FindsAccessesOutOfBounds) {
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[x] = A[x + 1]
}
)")),
      "checked_phase0, block 0, thread 3: put reads 4 bytes of A at A \\+ 16: out of bounds: A "
      "\\+ 16, which has 16 bytes");
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[x + 125] = A[x]
}
)")),
      "thread 3: put writes 4 bytes of C at C \\+ 512: out of bounds: C \\+ 512, which has 512 "
      "bytes");
  EXPECT_DEATH(RunChecked(Nest(R"(
block.x for x in 0 .. 4 {
  put: s[x - 1] = A[x]
}
)")),
               "thread 0: put writes 4 bytes of s at .*: out of bounds: shared memory \\+ -4, "
               "which has 4096 "
               "bytes");
}

TEST_F(CheckedEmulationDeathTest, FindsLanesOutOfBounds) {
  // In thread 1, the last of five vectors reads A[17] to A[19]. A[19] is out of bounds. The fourth
  // lane is masked.
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 2 {
  vector for i in 0 .. 19 {
    put: C[19*x + i] = A[i + x]
  }
}
)",
                      "f32[19]")),
      "thread 1: put reads 4 bytes of A at A \\+ 76: out of bounds: A \\+ 76, which has 76 bytes");
}

TEST_F(CheckedEmulationDeathTest, FindsSharedMemoryThatNobodyWrote) {
  EXPECT_DEATH(
      RunChecked(Nest(R"(
block.x for x in 0 .. 3 {
  fill: s[x] = A[x]
}
barrier
block.x for y in 0 .. 4 {
  use: C[y] = s[y]
}
)")),
      "thread 3: use reads 4 bytes of s at shared memory \\+ 12: the memory was never written");
}

// Runs a kernel on an emulated device with memory for four elements of A. The kernel reads A[4].
void RunOnDevice() {
  Target target = DetectCpu(1);
  target.device = *CudaAccelerator("sm_90a");
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  ThreadPool pool(1);
  const auto device = MakeEmulatedDevice(pool, PerfMap::kOff);
  const auto nest = ParseLoopNest(Nest(R"(
block.x for x in 0 .. 4 {
  put: C[x] = A[x + 1]
}
)"),
                                  "n");
  const auto image = (*GeneratorFor(target))->Compile(*nest, target);
  const DeviceMemory a = *device->Allocate(16);
  const DeviceMemory c = *device->Allocate(512);
  const auto kernel = *device->Bind(*device->Load(*image), {a.address, c.address}, nullptr);
  kernel->Start();
}

TEST_F(CheckedEmulationDeathTest, KnowsTheMemoryOfItsDevice) {
  EXPECT_DEATH(RunOnDevice(),
               "thread 3: put reads 4 bytes of A at memory of the device \\+ 16: out of bounds");
}

EmulatedCounts CountsOf(const std::string& text) {
  const CountedRun counted;
  RunChecked(text);
  return counted.Of("checked_phase0");
}

TEST_F(CheckedEmulation, CountsSectors) {
  const auto counts = [](const std::string& index) {
    return CountsOf(
        Nest("block.x for x in 0 .. 64 {\n put: C[x] = A[" + index + "]\n}", "f32[1024]", "1"));
  };
  // Each of two warps has one request that reads and one that writes.
  EXPECT_EQ(counts("x"), (EmulatedCounts{.global_requests = 4, .global_sectors = 16}));
  EXPECT_EQ(counts("2*x"), (EmulatedCounts{.global_requests = 4, .global_sectors = 24}));
  EXPECT_EQ(counts("16*x"), (EmulatedCounts{.global_requests = 4, .global_sectors = 72}));
  EXPECT_EQ(counts("0"), (EmulatedCounts{.global_requests = 4, .global_sectors = 10}));
}

TEST_F(CheckedEmulation, CountsBankConflicts) {
  const auto conflicts = [](const std::string& index) {
    const EmulatedCounts counts = CountsOf(Nest("block.x for x in 0 .. 32 {\n fill: s[" + index +
                                                "] = 1.0\n use: C[x] = s[" + index + "]\n}"));
    EXPECT_EQ(counts.shared_requests, 2);
    return counts.bank_conflicts;
  };
  EXPECT_EQ(conflicts("x"), 0);
  EXPECT_EQ(conflicts("2*x"), 2);
  EXPECT_EQ(conflicts("32*x"), 62);
  EXPECT_EQ(conflicts("31*x"), 0);
}

}  // namespace
}  // namespace tunec::jit_test
