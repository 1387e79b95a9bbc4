// Sums of products for instructions that multiply pairs of bfloat16.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "ir/target.h"

namespace tunec::test {

struct ProductShape {
  int64_t rows = 37;
  int64_t columns = 100;
  int64_t length = 83;
};

/// Of a matrix that is computed and one that is constant, with what follows.
std::string DotProduct(const ProductShape& shape);

struct DotProgram {
  std::string name;
  std::string text;
  bool is_offered = true;
  bool has_term = false;  // an operand is stored as one term, so it can't be split into several
  bool IsOfferedInTerms() const { return is_offered && !has_term; }
};
/// For GoogleTest, which would print bytes.
inline void PrintTo(const DotProgram& program, std::ostream* out) { *out << program.name; }

/// Products and convolutions, no size of which is a multiple of what instructions take.
std::vector<DotProgram> DotPrograms();

/// AVX-512 with AVX512_BF16.
Target Avx512Bf16();
/// AVX-512 with emulated AMX.
Target EmulatedAmx();

}  // namespace tunec::test
