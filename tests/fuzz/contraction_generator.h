// A generator of random kernels, mostly products and convolutions, with accuracy modes and CPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "graph/graph.h"
#include "ir/array.h"
#include "tests/fuzz/operand_values.h"

namespace tunec::fuzz {

struct ContractionCase {
  Graph graph;  // one kernel: sums, and elementwise nodes that follow
  std::vector<Array> inputs;
  Operands operands = Operands::kUniform;
  Accuracy accuracy;
  std::string cpu;  // in the form of --cpu
  uint64_t seed = 0;
};

/// The widest vectors of the machine that runs the cases. With kAvx512, some cases are compiled
/// without AVX-512 or with emulated AMX.
enum class Widest : uint8_t { kAvx2, kAvx512 };
/// Returns a random case. Equal arguments give equal cases.
ContractionCase MakeContraction(uint64_t seed, Widest widest);

}  // namespace tunec::fuzz
