#include "tools/runs/verify_tolerance.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/compare_arrays.h"

namespace tunec {
namespace {

constexpr int kRoundings = 16;
constexpr int kLevels = 4;

VerifyTolerance OfFloat(DataType type, int fraction_bits) {
  const double rounding = 1.0 / static_cast<double>(int64_t{1} << fraction_bits);
  return {kRoundings * rounding, fmt::format("the model computes in {}: {} roundings of 2^-{}",
                                             Name(type), kRoundings, fraction_bits)};
}

VerifyTolerance OfLevels(DataType type) {
  const int64_t levels = (int64_t{1} << (8 * SizeOf(type) - 1)) - 1;
  return {
      kLevels / static_cast<double>(levels),
      fmt::format("the model is quantised to {}: {} of {} levels", Name(type), kLevels, levels)};
}

// Returns the tolerance for a node's first result. Integers of 8 or 16 bits that are cast from
// floats count as levels of a quantisation.
VerifyTolerance OfNode(const Graph& graph, const Node& node) {
  VerifyTolerance tolerance{kOutputTolerance, ""};
  if (KindOf(node.op) != OpKind::kCompute || node.outputs.empty()) return tolerance;
  const DataType type = graph.value(node.outputs[0]).type.type;
  if (type == DataType::kF16) return OfFloat(type, 11);
  if (type == DataType::kBF16) return OfFloat(type, 8);
  const bool quantises = node.op == Op::kCast && IsInteger(type) && SizeOf(type) <= 2 &&
                         IsFloat(graph.value(node.inputs[0]).type.type);
  return quantises ? OfLevels(type) : tolerance;
}

// Returns the tolerance of the accuracy mode kBound, or 0 for other modes.
VerifyTolerance OfContract(const Accuracy& accuracy) {
  if (accuracy.mode != AccuracyMode::kBound) return {};
  return {kRoundings * accuracy.bound,
          fmt::format("the contract is {}: {} times as much", Print(accuracy), kRoundings)};
}

}  // namespace

VerifyTolerance ToleranceFor(const Graph& graph, const Accuracy& accuracy) {
  VerifyTolerance coarsest{kOutputTolerance, ""};
  const VerifyTolerance contract = OfContract(accuracy);
  if (contract.threshold > coarsest.threshold) coarsest = contract;
  for (const Node& node : graph.nodes()) {
    const VerifyTolerance tolerance = OfNode(graph, node);
    if (tolerance.threshold > coarsest.threshold) coarsest = tolerance;
  }
  return coarsest;
}

}  // namespace tunec
