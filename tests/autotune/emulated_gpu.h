// Targets with a GPU for tests, with and without emulation, and a check for tests that emulate.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "tests/jit/cuda/need_ptxas.h"

namespace tunec::testing {

inline Target Gpu(const std::string& arch = "sm_90a") {
  Target target = DetectCpu(2);
  target.device = *CudaAccelerator(arch);
  return target;
}

inline Target EmulatedGpu() {
  Target target = Gpu();
  target.device->features.emplace(kEmulated);
  return target;
}

/// Returns an empty string if candidates for a GPU can be compiled and emulated here, otherwise the
/// reason why not. Like WhyNoPtxas, may fail the test.
inline std::string WhyNoPredictions() {
  if (!kEmulates) return "the sanitizer does not support the emulation's stacks";
  return test::WhyNoPtxas();
}

}  // namespace tunec::testing
