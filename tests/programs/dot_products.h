// Programs with sums of products, for instructions that multiply pairs of bfloat16.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace tunec::test {

struct ProductShape {
  int64_t rows = 37;
  int64_t columns = 100;
  int64_t length = 83;
};

/// Returns the text of the product of an input and a constant matrix, followed by a relu.
std::string DotProduct(const ProductShape& shape);

struct DotProgram {
  std::string name;
  std::string text;
  bool is_offered = true;
  bool has_bf16_operand = false;  // an operand is stored as bfloat16, so it is not split
  bool IsOfferedWhenSplit() const { return is_offered && !has_bf16_operand; }
};
/// Prints the name for GoogleTest, which would otherwise print bytes.
inline void PrintTo(const DotProgram& program, std::ostream* out) { *out << program.name; }

/// Returns products and convolutions. Most have sizes that tiles of instructions do not divide.
std::vector<DotProgram> DotPrograms();

}  // namespace tunec::test
