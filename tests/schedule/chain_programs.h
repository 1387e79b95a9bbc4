// Depthwise convolutions whose results, with what follows them, a pointwise one multiplies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tunec::test {

/// Of an image with a border of half a window.
struct ChainShape {
  int64_t channels = 19;
  int64_t outputs = 13;
  int64_t height = 9;
  int64_t width = 11;
  int64_t window = 3;
  int64_t stride = 1;
  bool has_bias = true;  // between the two, before bounds
};

/// As the lowering writes them, channels last.
std::string ChainOf(const ChainShape& shape);

struct ChainProgram {
  std::string name;
  std::string text;
  bool has_pairs = true;  // of channels
};

/// Sizes that tiles divide, and those that they don't.
std::vector<ChainProgram> ChainPrograms();

}  // namespace tunec::test
