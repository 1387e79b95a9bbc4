// Depthwise convolutions, with following operations, whose results a pointwise convolution
// multiplies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tunec::test {

/// The shape of an image with a border of half a window.
struct ChainShape {
  int64_t channels = 19;
  int64_t outputs = 13;
  int64_t height = 9;
  int64_t width = 11;
  int64_t window = 3;
  int64_t stride = 1;
  bool has_bias = true;  // between the convolutions, before bounds
};

/// Returns the text as lowered, channels last.
std::string ChainOf(const ChainShape& shape);

struct ChainProgram {
  std::string name;
  std::string text;
  bool has_pairs = true;  // an even number of channels
};

/// Returns programs with sizes that tiles divide, and others.
std::vector<ChainProgram> ChainPrograms();

}  // namespace tunec::test
