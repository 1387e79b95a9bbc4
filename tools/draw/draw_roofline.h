// A function that draws a machine's limits at each intensity, and the rates of kernels, as SVG.
#pragma once

#include <string>
#include <vector>

namespace tunec {

/// A ceiling in operations, or bytes, per second.
struct RooflineLine {
  std::string label;
  double rate = 0;  // > 0
};

/// A kernel, or several equal kernels, in the drawing.
struct RooflineDot {
  std::string label;
  double intensity = 0;  // operations per byte of its inputs and outputs, > 0
  double rate = 0;       // operations per second, > 0
  double share = 0;      // share of the model's time; sets the dot's area
};

struct RooflinePicture {
  std::string title;
  std::vector<RooflineLine> peaks;       // operations per second
  std::vector<RooflineLine> bandwidths;  // bytes per second
  std::vector<RooflineDot> dots;         // costliest first; the first dots are labelled
};

/// Returns an SVG file. Both axes are logarithmic. Requires: a peak and a bandwidth.
std::string DrawRoofline(const RooflinePicture& picture);

}  // namespace tunec
