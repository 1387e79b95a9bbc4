// Skips tests without NVIDIA's assembler, or fails them if the environment requires the assembler.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "jit/cuda/ptxas.h"

namespace tunec::test {

/// Returns the reason why nothing can be assembled, or an empty string. With TUNEC_REQUIRE_PTXAS a
/// missing assembler is a failure.
inline std::string WhyNoPtxas() {
  const auto ptxas = FindPtxas();
  if (ptxas) return {};
  EXPECT_EQ(std::getenv("TUNEC_REQUIRE_PTXAS"), nullptr) << ptxas.error().message;
  return ptxas.error().message;
}

}  // namespace tunec::test
