// A GPU that the host stands in for, as tests tune for it.
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

/// Why no candidates for a GPU can be compiled and emulated here; empty: they can.
inline std::string WhyNoPredictions() {
  if (!kEmulates) return "the sanitizer does not know the emulation's stacks";
  return test::WhyNoPtxas();
}

}  // namespace tunec::testing
