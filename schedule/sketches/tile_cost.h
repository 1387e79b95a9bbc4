// What a register tile costs, for the analytic choice of its size.
#pragma once

#include <algorithm>

namespace tunec {

/// Cycles that one step of the reduction costs in a tile of vectors x rows: products, or loads,
/// or the latency of a chain; and a little for loads that the products do not hide.
inline double TileCost(double rows, double vectors) {
  const double loads = rows + vectors;
  return std::max({rows * vectors, loads * 0.6, 8.0}) + 0.05 * loads;
}

}  // namespace tunec
