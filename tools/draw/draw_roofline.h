// A roofline as SVG: what the machine allows at each intensity, and where kernels stand below it.
#pragma once

#include <string>
#include <vector>

namespace tunec {

/// A ceiling of so many operations, or bytes, per second.
struct RooflineLine {
  std::string label;
  double rate = 0;  // > 0
};

/// A kernel.
struct RooflineDot {
  std::string label;
  double intensity = 0;  // operations per byte of its inputs and outputs, > 0
  double rate = 0;       // operations per second, > 0
  double share = 0;      // of the model's time: the dot's area
};

struct RooflinePicture {
  std::string title;
  std::vector<RooflineLine> peaks;       // operations per second
  std::vector<RooflineLine> bandwidths;  // bytes per second
  std::vector<RooflineDot> dots;         // the costliest first: the first ones are labelled
};

/// Both axes are logarithmic. Requires a peak and a bandwidth.
std::string DrawRoofline(const RooflinePicture& picture);

}  // namespace tunec
