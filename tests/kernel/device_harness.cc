#include "tests/kernel/device_harness.h"

#include <gtest/gtest.h>

#include <memory>

#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/compile_kernel.h"
#include "kernel/loop_pipeline.h"
#include "kernel/predict/predict_time.h"
#include "kernel/run_once.h"
#include "runtime/thread_pool.h"

namespace tunec::test {

Target Gpu(const std::string& arch) {
  Target target = DetectCpu(2);
  target.device = *CudaAccelerator(arch);
  return target;
}

Target CheckedGpu(const std::string& arch) {
  Target target = Gpu(arch);
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  return target;
}

Target WithoutTensorCores(Target target) {
  target.device->features.clear();
  return target;
}

RoundingFreedom AnyOrder() { return ReductionOrder::kAny; }

RoundingFreedom Tf32() {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.tf32_operands = true;
  return rounding;
}

RoundingFreedom RoundingWithBf16Parts(int bf16_parts) {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.min_bf16_parts = bf16_parts;
  return rounding;
}

Schedule Analytic(const Sketch& sketch) { return sketch.Fill(sketch.InitialDecisions()); }

double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding) {
  const auto kernel =
      CompileKernel(compute, schedule, {.target = target, .loops = {.rounding = rounding}});
  EXPECT_TRUE(kernel) << kernel.error().Format() << Print(schedule);
  if (!kernel) return 0;
  const auto phases = PredictPhases(kernel->work, kernel->image, *target.device);
  EXPECT_TRUE(phases) << phases.error().Format();
  if (!phases) return 0;
  for (const PredictedPhase& phase : *phases) {
    // ptxas may spill one or two 32-bit values to reach a round number of registers.
    EXPECT_LE(phase.launch.spilled_bytes, 8) << Print(schedule);
  }
  const auto seconds = PredictSeconds(*phases);
  EXPECT_TRUE(seconds) << seconds.error().Format() << Print(schedule);
  return seconds.value_or(0);
}

ScheduleChecker::Runner RunnerOn(Target target) {
  return [target = std::move(target), pool = std::make_shared<ThreadPool>(2)](
             const LoopNest& nest, const std::vector<Array>& arguments) {
    return CompileAndRun(nest, arguments, target, *pool);
  };
}

ScheduleChecker::Runner CheckedEmulation(Target target) {
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  return RunnerOn(std::move(target));
}

void ExpectRightOn(const Target& target, const ScheduleChecker& checker, const Schedule& schedule,
                   const RoundingFreedom& rounding) {
  const auto loops = RunLoopPipeline(checker.compute(), schedule,
                                     {.rounding = rounding, .verify = VerifyStages::kEach});
  ASSERT_TRUE(loops) << loops.error().Format() << "\n" << Print(schedule);
  EXPECT_EQ(checker.Disagreement(*loops), "") << Print(schedule);
  EXPECT_EQ(checker.Disagreement(*loops, CheckedEmulation(target)), "") << Print(schedule);
}

}  // namespace tunec::test
