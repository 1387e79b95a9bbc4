// Functions that return texts of convolutions, as lowered from graphs. Images and windows are
// square, and borders are equal on all sides.
#pragma once

#include <cstdint>
#include <string>

namespace tunec::test {

struct Window {
  int channels = 16;
  int size = 14;
  int outputs = 16;
  int taps = 3;
  int stride = 1;
  int border = 1;
  int batch = 1;

  int Outputs() const { return (size + 2 * border - taps) / stride + 1; }
};

/// The layout of images in memory.
enum class Order : uint8_t { kChannelsLast, kChannelsFirst };
/// The operations that follow the sums.
enum class Behind : uint8_t { kNothing, kBiasRelu, kResidual };

/// Returns the text for images and weights of a type such as "bf16", with statements `acc` and `Y`.
std::string Convolution(const std::string& type, const Window& window,
                        Behind behind = Behind::kBiasRelu, Order order = Order::kChannelsLast);

/// Returns the text for one float32 image with channels first, windows of 3 x 3 and a border of
/// one. The batch has no loop.
std::string OneImageConvolution(int channels, int size, int outputs);

}  // namespace tunec::test
