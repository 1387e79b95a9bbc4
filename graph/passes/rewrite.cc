#include "graph/passes/rewrite.h"

#include <fmt/format.h>

#include <string_view>

#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/rules/instantiate.h"
#include "graph/rules/match_rule.h"

namespace tunec {
namespace {

constexpr int kMostSweeps = 64;
// Limits on the growth of a graph, which detect rules that add nodes endlessly. A graph may have
// at most kMostGrowth times the initial number of live nodes, plus kSmallGraph.
constexpr size_t kMostGrowth = 8;
constexpr size_t kSmallGraph = 1000;

struct Match {
  const Rule* rule = nullptr;
  ReplacementPlan plan;
};

// One sweep of the rules over a graph. While Run builds the new graph, `uses_` and `is_output_` are
// indexed by the values of the new graph. `uses_` then also counts users that are not copied yet.
// In CanAnyFire and TellHeldBack, both are indexed by the values of the old graph.
class Sweep {
 public:
  Sweep(const Graph& before, const RuleSet& rules, const PassOptions& options)
      : before_(before), rules_(rules), options_(options) {
    before_uses_.resize(before.values().size());
    before_output_.resize(before.values().size());
    for (const Node& node : before.nodes())
      for (const ValueId input : node.inputs)
        if (input.valid()) ++before_uses_[input.index];
    for (const ValueId output : before.outputs()) {
      ++before_uses_[output.index];
      before_output_[output.index] = true;
    }
  }

  /// Returns whether any rule fires anywhere, without building a graph.
  bool CanAnyFire() {
    uses_ = before_uses_;
    is_output_ = before_output_;
    for (const Node& node : before_.nodes())
      if (Find(node, node.inputs, before_)) return true;
    uses_.clear();
    is_output_.clear();
    uniform_ = {};
    return false;
  }

  Result<Graph> Run() {
    uses_.clear();
    is_output_.clear();
    uniform_ = {};
    return Rebuild(before_, [&](const Node& node, const std::vector<ValueId>& inputs,
                                GraphBuilder& builder) { return Replace(node, inputs, builder); });
  }

  const Rule* last_fired() const { return last_fired_; }

  /// Reports for each node the first rule that only the strict float rules or only a graph output
  /// keeps from firing. Calls PassOptions::on_held_back or on_unchanged, if set. Requires that no
  /// rule fires in the graph.
  void TellHeldBack() {
    uses_ = before_uses_;
    is_output_ = before_output_;
    for (const Node& node : before_.nodes()) {
      if (!IsReplaceable(node)) continue;
      for (const int index : rules_.For(node.op))
        if (TellHeldBack(rules_.rules()[index], node)) break;
    }
  }

 private:
  static bool IsReplaceable(const Node& node) {
    return !IsLeaf(node.op) && node.outputs.size() == 1 && node.bodies.empty();
  }

  MatchSite SiteOf(const Node& node, const std::vector<ValueId>& inputs, const Graph& graph,
                   FloatRules rules) {
    return {.graph = graph,
            .root = {node.op, &node.attributes, inputs},
            .root_type = before_.value(node.outputs[0]).type,
            .uses = uses_,
            .rules = rules,
            .uniform = uniform_};
  }

  static std::optional<ReplacementPlan> PlanAt(const Rule& rule, const MatchSite& site) {
    const std::optional<RuleBindings> bindings = MatchRule(rule, site);
    return bindings ? PlanReplacement(rule, *bindings, site) : std::nullopt;
  }

  std::optional<Match> Find(const Node& node, const std::vector<ValueId>& inputs,
                            const Graph& graph) {
    if (!IsReplaceable(node)) return {};
    const std::span<const int> candidates = rules_.For(node.op);
    if (candidates.empty()) return {};
    const MatchSite site = SiteOf(node, inputs, graph, options_.rules);
    for (const int index : candidates) {
      const Rule& rule = rules_.rules()[index];
      std::optional<ReplacementPlan> plan = PlanAt(rule, site);
      if (plan && WrongReplacement(node, *plan, graph).empty())
        return Match{&rule, *std::move(plan)};
    }
    return {};
  }

  // Returns the kind of value ("a constant", "an input", "another output") that would wrongly
  // replace the graph output of the node. Returns an empty string if the replacement is allowed.
  // A rule must not turn a graph output into an input, a constant or the value of another output.
  std::string_view WrongReplacement(const Node& node, const ReplacementPlan& plan,
                                    const Graph& graph) const {
    if (!before_output_[node.outputs[0].index]) return "";
    if (plan.kind == ReplacementPlan::Kind::kConstant) return "a constant";
    if (plan.kind == ReplacementPlan::Kind::kNode) return "";
    const Node& producer = graph.producer(plan.value);
    if (IsLeaf(producer.op)) return producer.op == Op::kInput ? "an input" : "a constant";
    return is_output_[plan.value.index] ? "another output" : "";
  }

  // Reports the rule if only the strict float rules, or only a graph output, keep the rule from
  // firing. Returns whether this is so. Without on_held_back, it ignores the strict float rules.
  bool TellHeldBack(const Rule& rule, const Node& node) {
    for (const FloatRules rules : {options_.rules, FloatRules::kFast}) {
      const bool others = rules != options_.rules;
      if (others && !options_.on_held_back) return false;
      const auto plan = PlanAt(rule, SiteOf(node, node.inputs, before_, rules));
      if (!plan) continue;
      const std::string_view instead = WrongReplacement(node, *plan, before_);
      if (others && instead.empty()) {
        options_.on_held_back(rule, node);
        return true;
      }
      if (others || instead.empty()) return false;
      if (options_.on_unchanged)
        options_.on_unchanged(node,
                              fmt::format("rule {} would make {} a graph output, and each output "
                                          "is computed",
                                          rule.name, instead));
      return true;
    }
    return false;
  }

  Result<std::vector<ValueId>> Replace(const Node& node, const std::vector<ValueId>& inputs,
                                       GraphBuilder& builder) {
    const size_t first = builder.graph().values().size();
    const std::optional<Match> match = Find(node, inputs, builder.graph());
    if (!match) {
      // Rebuild adds the values of the copy next, so their entries are appended here.
      for (const ValueId output : node.outputs) {
        uses_.push_back(before_uses_[output.index]);
        is_output_.push_back(before_output_[output.index]);
      }
      return std::vector<ValueId>{};
    }
    last_fired_ = match->rule;
    if (options_.on_rule) options_.on_rule(*match->rule, node);
    TUNEC_ASSIGN(const ValueId value, Build(match->plan, node, builder));
    const Graph& graph = builder.graph();
    uses_.resize(graph.values().size());
    is_output_.resize(graph.values().size());
    for (size_t v = first; v < uses_.size(); ++v)
      for (const ValueId input : graph.producer({static_cast<int32_t>(v)}).inputs)
        if (input.valid()) ++uses_[input.index];
    const ValueId old = node.outputs[0];
    uses_[value.index] += before_uses_[old.index];
    is_output_[value.index] = is_output_[value.index] || before_output_[old.index];
    for (const ValueId input : inputs) Release(graph, input);
    return std::vector<ValueId>{value};
  }

  // Removes one user of the value. If no user is left, the operands of the value's producer are
  // released too, unless the producer has several outputs.
  void Release(const Graph& graph, ValueId value) {
    std::vector<ValueId> released = {value};
    while (!released.empty()) {
      const ValueId next = released.back();
      released.pop_back();
      if (!next.valid() || --uses_[next.index] > 0) continue;
      const Node& producer = graph.producer(next);
      if (producer.outputs.size() != 1) continue;
      released.insert(released.end(), producer.inputs.begin(), producer.inputs.end());
    }
  }

  const Graph& before_;
  const RuleSet& rules_;
  const PassOptions& options_;
  std::vector<int> before_uses_;
  std::vector<bool> before_output_;
  std::vector<int> uses_;
  std::vector<bool> is_output_;
  UniformValues uniform_;
  const Rule* last_fired_ = nullptr;
};

std::unexpected<Error> NoEnd(const Rule* rule) {
  return FailAt(rule->where, ErrorCode::kInvalidArgument,
                "rule {} goes on changing the graph, expected rules that come to an end",
                rule->name);
}

}  // namespace

Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options) {
  TUNEC_ASSIGN(Graph current, EliminateDeadNodes(graph, options));
  const size_t most_nodes = kMostGrowth * current.nodes().size() + kSmallGraph;
  const Rule* last_fired = nullptr;
  for (int i = 0; i < kMostSweeps; ++i) {
    Sweep sweep(current, rules, options);
    if (!sweep.CanAnyFire()) {
      if (options.on_held_back || options.on_unchanged) sweep.TellHeldBack();
      return current;
    }
    TUNEC_ASSIGN(const Graph next, sweep.Run());
    last_fired = sweep.last_fired();
    if (next.nodes().size() > most_nodes) return NoEnd(last_fired);
    TUNEC_ASSIGN(current, EliminateDeadNodes(next, options));
  }
  return NoEnd(last_fired);
}

}  // namespace tunec
