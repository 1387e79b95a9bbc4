// A graph pass: one free function from a verified graph to a verified graph with the same
// inputs, outputs and results. Each is in a file of its own; pipeline.h lists them in order.
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
  /// kFast allows rewrites that change results for NaN, infinities or signed zeros, and sums of
  /// floats in another order.
  FloatRules rules = FloatRules::kStrict;
  /// Rules of the user's own, for apply_rules; null: none.
  std::shared_ptr<const RuleSet> user_rules;
  /// Called when a rule fires, with the node that it replaces.
  std::function<void(const Rule& rule, const Node& node)> on_rule;
  /// Called when a rule would fire under FloatRules::kFast alone, with the node that it would
  /// replace.
  std::function<void(const Rule& rule, const Node& node)> on_held_back;
  /// Called when a pass leaves a node alone that it could fold but for the reason, one clause.
  std::function<void(const Node& node, const std::string& reason)> on_kept;
  /// A folded constant may be this much larger than what it was computed from; all of them
  /// together may be larger by this and by the factor times the constants that were there.
  int64_t fold_growth_bytes = int64_t{1} << 20;
  double fold_growth_factor = 0.5;
  /// What layouts are weighed with.
  FusionMachine machine;
  /// Stores every image so; none: by cost.
  std::optional<ImageOrder> image_order;
};

}  // namespace tunec
