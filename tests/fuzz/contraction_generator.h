// Random kernels, most of them products and convolutions, and the contract and the machine that
// they are compiled for.
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
  Graph graph;  // one kernel's anchor, with what follows
  std::vector<Array> inputs;
  Operands operands = Operands::kUniform;
  Accuracy accuracy;
  std::string cpu;  // as --cpu has it
  uint64_t seed = 0;
};

/// One seed makes one case. `widest`: whether there are vectors of AVX-512, of which machines
/// without it have no use.
enum class Widest : uint8_t { kAvx2, kAvx512 };
ContractionCase MakeContraction(uint64_t seed, Widest widest);

}  // namespace tunec::fuzz
