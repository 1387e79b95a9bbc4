// Programs with a chain of a depthwise convolution, element-wise operations, and a pointwise
// convolution that reads their results.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace tunec::test {

/// The parameters of a chain. The image has a border of half a window, rounded down.
struct ChainShape {
  int64_t channels = 19;
  int64_t outputs = 13;
  int64_t height = 9;
  int64_t width = 11;
  int64_t window = 3;
  int64_t stride = 1;
  bool has_bias = true;  // added between the convolutions, before min and max
};

/// Returns the Compute's text, as lowered from a graph with channels last.
std::string ChainOf(const ChainShape& shape);

struct ChainProgram {
  std::string name;
  std::string text;
  bool has_pairs = true;  // the number of channels is even
};
inline void PrintTo(const ChainProgram& program, std::ostream* out) { *out << program.name; }

/// Returns programs of sizes that tiles divide, and of other sizes.
std::vector<ChainProgram> ChainPrograms();

}  // namespace tunec::test
