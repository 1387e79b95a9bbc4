// A graph pass: a free function from a verified graph to a verified graph with the same inputs,
// outputs and results. Each pass has its own file; pipeline.h lists the order.
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
  /// kFast allows rewrites that change results for NaN, infinities or signed zeros, and that sum
  /// floats in another order.
  FloatRules rules = FloatRules::kStrict;
  /// The user's rules for apply_rules; null: none.
  std::shared_ptr<const RuleSet> user_rules;
  /// Called when a rule fires, with the node that it replaces.
  std::function<void(const Rule& rule, const Node& node)> on_rule;
  /// Called when a rule would fire only under FloatRules::kFast, with the node that it would
  /// replace.
  std::function<void(const Rule& rule, const Node& node)> on_held_back;
  /// Called when a pass does not fold a node that it could fold, with the reason as one clause.
  std::function<void(const Node& node, const std::string& reason)> on_kept;
  /// Limits of folding. A folded constant may exceed its operands by fold_growth_bytes. All
  /// constants together may grow by fold_growth_bytes plus fold_growth_factor times the original
  /// constants.
  int64_t fold_growth_bytes = int64_t{1} << 20;
  double fold_growth_factor = 0.5;
  /// Machine numbers for choosing layouts.
  FusionMachine machine;
  /// Storage order for every image; empty: chosen by cost.
  std::optional<ImageOrder> image_order;
};

}  // namespace tunec
