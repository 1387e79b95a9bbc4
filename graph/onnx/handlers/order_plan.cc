#include "graph/onnx/handlers/order_plan.h"

#include <algorithm>
#include <bit>

namespace tunec::onnx_import {
namespace {

// The time of a kernel with hardly any work.
constexpr double kLaunch = 1 << 13;
// The time to compare an element with its partner, select, and store a value and a position.
constexpr double kExchange = 3;
// The time to find an element's part of the first pair of a piece. Rows are read twice.
constexpr double kScan = 2;
// The time to test whether an element has a rank.
constexpr double kFindRank = 0.25;

// Returns the exponent of a power of two.
int64_t Exponent(int64_t power) { return std::countr_zero(static_cast<uint64_t>(power)); }

}  // namespace

int64_t RoundUpToPower(int64_t x) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(x)));
}

double OrderPlanner::CountCost(int64_t length, int64_t k) const {
  const auto n = static_cast<double>(length);
  return 2 * kLaunch + rows_ * n * (n + kFindRank * static_cast<double>(k));
}

double OrderPlanner::StagesCost(int64_t stages, int64_t elements) const {
  const double work = kExchange * rows_ * static_cast<double>(elements);
  return static_cast<double>(stages) * (kLaunch + work);
}

double OrderPlanner::HalvingCost(int64_t blocks, int64_t size) const {
  if (blocks == 1) return 0;
  return StagesCost(1 + Exponent(size), size * blocks / 2) +
         std::min(HalvingCost(blocks / 2, size), CountCost(size * blocks / 2, size));
}

OrderPlan OrderPlanner::BestWithoutPieces(int64_t length, int64_t k) const {
  const int64_t size = RoundUpToPower(k);
  const int64_t blocks = RoundUpToPower((length + size - 1) / size);
  const int64_t stages = Exponent(size) * (Exponent(size) + 1) / 2;
  const double network = StagesCost(2 + stages, size * blocks) + HalvingCost(blocks, size);
  const double count = CountCost(length, k);
  if (count <= network) return {.method = OrderMethod::kCount, .cost = count};
  return {.method = OrderMethod::kNetwork, .cost = network};
}

OrderPlan OrderPlanner::Best(int64_t length, int64_t k) {
  const auto [found, is_new] = plans_.try_emplace({length, k});
  if (!is_new) return found->second;
  OrderPlan best = BestWithoutPieces(length, k);
  for (int64_t pieces = RoundUpToPower(k); 2 * pieces <= length; pieces *= 2) {
    const int64_t piece = (length + pieces - 1) / pieces;
    const double scan = 4 * kLaunch + kScan * rows_ * static_cast<double>(length);
    const double cost = scan + Best(pieces, k).cost + BestWithoutPieces(k * piece, k).cost;
    if (cost < best.cost) best = {OrderMethod::kPieces, pieces, cost};
  }
  return found->second = best;
}

}  // namespace tunec::onnx_import
