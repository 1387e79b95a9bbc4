// Estimates the time of the ways to select the first elements of rows, and chooses the fastest one.
// Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace tunec::onnx_import {

/// Returns the least power of two that is at least x. Requires: x > 0.
int64_t RoundUpToPower(int64_t x);

/// The ways to find the first k elements of each row of n elements.
enum class OrderMethod {
  kCount,    // count the elements that precede each element
  kNetwork,  // sort blocks of elements by a bitonic network and merge them
  kPieces,   // divide the row into pieces; sort only the pieces whose first elements come first
};

/// A way to find the first elements, with its estimated time. The unit of time is one comparison of
/// two elements by one lane of a vector.
struct OrderPlan {
  OrderMethod method = OrderMethod::kCount;
  int64_t pieces = 0;  // a power of two, for kPieces
  double cost = 0;
};

/// Chooses between the ways for a number of rows. All lengths must be positive, and k at most the
/// length.
class OrderPlanner {
 public:
  explicit OrderPlanner(int64_t rows) : rows_(static_cast<double>(rows)) {}

  /// Returns the fastest way.
  OrderPlan Best(int64_t length, int64_t k);
  /// Returns the faster one of counting and the network.
  OrderPlan BestWithoutPieces(int64_t length, int64_t k) const;
  /// Returns the estimated time of counting.
  double CountCost(int64_t length, int64_t k) const;
  /// Returns the estimated time to reduce `blocks` sorted blocks of `size` elements to one. Both
  /// numbers are powers of two.
  double HalvingCost(int64_t blocks, int64_t size) const;

 private:
  /// Returns the estimated time of stages of the network.
  double StagesCost(int64_t stages, int64_t elements) const;

  double rows_;
  std::map<std::pair<int64_t, int64_t>, OrderPlan> plans_;  // by length and k
};

}  // namespace tunec::onnx_import
