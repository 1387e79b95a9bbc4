// A check for tests that need ptxas, NVIDIA's assembler.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "jit/cuda/ptxas.h"

namespace tunec::test {

/// Returns the reason why ptxas cannot be used, or an empty string. If there is a reason and the
/// environment variable TUNEC_REQUIRE_PTXAS is set, fails the test.
inline std::string WhyNoPtxas() {
  const auto ptxas = FindPtxas();
  if (ptxas) return {};
  EXPECT_EQ(std::getenv("TUNEC_REQUIRE_PTXAS"), nullptr) << ptxas.error().message;
  return ptxas.error().message;
}

}  // namespace tunec::test
