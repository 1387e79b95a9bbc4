// Functions that return texts of convolutions, directly or by Winograd's tiles of 2x2 or 4x4
// outputs. Images have channels last and a border of one on all sides.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tunec::test {

struct WinogradConv {
  int channels = 16;
  int height = 6;
  int width = 6;
  int outputs = 16;
  int batch = 1;
  bool residual = false;
  int tile = 2;  // outputs along an axis
};

/// Returns the text with statements `filter`, `patch`, `acc`, `back` and `Y`.
std::string WinogradText(const WinogradConv& conv);
/// Returns the convolution by its definition, with statements `acc` and `Y`.
std::string DirectText(const WinogradConv& conv);

/// Returns convolutions for both tiles, with sizes that the tile divides and with other sizes.
std::vector<WinogradConv> WinogradConvs();
/// Returns a name for GoogleTest, such as "c24x7x5x40n2" or "c16x8x4x16n1t4".
std::string NameOf(const WinogradConv& conv);
inline void PrintTo(const WinogradConv& conv, std::ostream* out) { *out << NameOf(conv); }

}  // namespace tunec::test
