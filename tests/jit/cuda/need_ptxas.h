// Tests that want NVIDIA's assembler skip without it, but not where the environment insists on it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "jit/cuda/ptxas.h"

namespace tunec::test {

/// Why nothing can be assembled here; empty: it can. With TUNEC_REQUIRE_PTXAS a failure too.
inline std::string WhyNoPtxas() {
  const auto ptxas = FindPtxas();
  if (ptxas) return {};
  EXPECT_EQ(std::getenv("TUNEC_REQUIRE_PTXAS"), nullptr) << ptxas.error().message;
  return ptxas.error().message;
}

}  // namespace tunec::test
