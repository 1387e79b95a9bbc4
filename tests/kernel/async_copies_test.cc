// Tests of the matrix product examples/loops/matmul_async. Its schedule copies tiles to shared
// memory asynchronously, 16 bytes at a time, in a software pipeline with three buffers. The tests
// run the product on an emulated GPU and compile it for real GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_requests.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/examples.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the text without the lines that contain the word. The text must end with a newline.
std::string Without(const std::string& word, const std::string& text) {
  std::string remaining;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    if (!line.contains(word)) remaining += line;
    at = end;
  }
  return remaining;
}

struct Counted {
  std::string disagreement;
  EmulatedCounts counts;
};

Counted RunExample(const std::string& steps) {
  const test::ScheduleChecker checker(test::ExampleCompute("matmul_async"));
  const auto kernel = test::LoopsOf(checker.compute(), *ParseSchedule(steps, "example"),
                                    ReductionOrder::kAsWritten);
  EXPECT_TRUE(kernel) << kernel.error().message;
  ThreadPool pool(2);
  const CountedRun counted;
  Counted result;
  result.disagreement =
      checker.Disagreement(*kernel, [&](const LoopNest& nest, const std::vector<Array>& arguments) {
        return CompileAndRun(nest, arguments, test::CheckedGpu("sm_80"), pool);
      });
  result.counts = counted.Of("matmul_phase0");
  return result;
}

TEST(MatmulAsync, RunsOnAnEmulatedGpu) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const std::string steps = test::ReadExample("matmul_async.sched");
  const Counted swizzled = RunExample(steps);
  EXPECT_EQ(swizzled.disagreement, "");
  EXPECT_EQ(swizzled.counts.bank_conflicts, 0);
  const Counted plain = RunExample(Without("swizzle_storage", steps));
  EXPECT_EQ(plain.disagreement, "");
  EXPECT_GT(plain.counts.bank_conflicts, 0);
}

std::string PtxFor(const std::string& arch) {
  const auto loops =
      RunLoopPipeline(test::ExampleCompute("matmul_async"),
                      *ParseSchedule(test::ReadExample("matmul_async.sched"), "e"), {});
  EXPECT_TRUE(loops) << loops.error().message;
  const auto ptx = EmitText(loops->nest, test::Gpu(arch), CodeText::kAssembly);
  EXPECT_TRUE(ptx) << ptx.error().message;
  return *ptx;
}

TEST(MatmulAsync, CopiesSixteenBytesAtOnce) {
  const std::string ptx = PtxFor("sm_80");
  EXPECT_THAT(ptx, testing::ContainsRegex("cp.async.cg.shared.global \\[%rd[0-9]+[^]]*\\], "
                                          "\\[%rd[0-9]+[^]]*\\], 16;"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.wait_group \t1;"));  // one of three stages is in flight
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.ca")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  EXPECT_THAT(ptx, HasSubstr("ld.shared.v4"));
}

class MatmulAsyncOn : public testing::TestWithParam<const char*> {};

TEST_P(MatmulAsyncOn, IsAssembled) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const auto kernel = CompileKernel(test::ExampleCompute("matmul_async"),
                                    *ParseSchedule(test::ReadExample("matmul_async.sched"), "e"),
                                    {.target = test::Gpu(GetParam())});
  ASSERT_TRUE(kernel) << kernel.error().Format();
  ASSERT_EQ(kernel->image.phases.size(), 1u);
  EXPECT_EQ(kernel->image.phases[0].spilled_bytes, 0);
  EXPECT_EQ(kernel->image.phases[0].shared_bytes, 3 * (32 * 32 + 32 * 32) * 4);
}

INSTANTIATE_TEST_SUITE_P(Archs, MatmulAsyncOn, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tunec
