// Graph passes. A pass is a free function from a verified graph to a verified graph with the same
// inputs and outputs. Each pass has its own file. DefaultPipeline (pipeline.h) returns the
// order of the passes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"
#include "graph/passes/image_order.h"
#include "graph/rules/rule.h"

namespace tunec {

struct PassOptions {
  /// Floating-point rules. kFast allows rewrites that change results for NaN, infinities or signed
  /// zeros, and sums of floats in another order.
  FloatRules rules = FloatRules::kStrict;
  /// User-defined rules for the pass apply_rules; may be null.
  std::shared_ptr<const RuleSet> user_rules;
  /// Callback for a rule that fires, with the node to be replaced.
  std::function<void(const Rule& rule, const Node& node)> on_rule;
  /// Callback for a rule that would fire only under FloatRules::kFast, with the node that the rule
  /// would replace.
  std::function<void(const Rule& rule, const Node& node)> on_held_back;
  /// Callback for a node that a pass could rewrite but leaves unchanged, with the reason as text.
  std::function<void(const Node& node, const std::string& reason)> on_unchanged;
  /// Number of bytes by which a folded constant may exceed its operands. All folded constants
  /// together may exceed their operands by this number plus fold_growth_factor times the bytes of
  /// the original constants. Weights of products and convolutions have a separate limit
  /// (kMostWeightBytes).
  int64_t fold_growth_bytes = int64_t{1} << 20;
  double fold_growth_factor = 0.5;
  /// Machine parameters for choose_layouts and recognize_attention.
  FusionMachine machine;
  /// Storage order of all values to which choose_layouts gives an order; if empty, the pass chooses
  /// orders by cost.
  std::optional<ImageOrder> image_order;
};

}  // namespace tunec
