#include "tests/fuzz/shrink_graph.h"

#include <optional>
#include <utility>

#include "support/random.h"

namespace tunec::fuzz {
namespace {

/// How one node is left out.
enum class Cut : uint8_t { kOperand, kInput, kConstant };

/// The nodes and inputs that the outputs need, with one node cut out.
class Reduction {
 public:
  Reduction(const Graph& graph, std::vector<ValueId> outputs)
      : graph_(graph), outputs_(std::move(outputs)) {}

  void CutOut(NodeId node, Cut cut, size_t operand) {
    node_ = node;
    cut_ = cut;
    operand_ = operand;
  }

  std::optional<Graph> Build() {
    GraphBuilder builder(graph_.name());
    std::vector<ValueId> made(graph_.values().size());
    const std::vector<bool> needed = Needed();
    for (int32_t n = 0; n < std::ssize(graph_.nodes()); ++n) {
      const Node& node = graph_.nodes()[n];
      if (!needed[n]) continue;
      if (NodeId{n} == node_) {
        const auto value = Replacement(builder, node, made);
        if (!value) return {};
        made[node.outputs[0].index] = *value;
      } else if (!Copy(builder, node, made)) {
        return {};
      }
    }
    for (const ValueId output : outputs_) {
      const ValueId value = made[output.index];
      if (!value.valid()) return {};
      builder.AddOutput(value);
    }
    return std::move(builder).Build();
  }

 private:
  std::vector<bool> Needed() const {
    std::vector<bool> needed(graph_.nodes().size(), false);
    for (const ValueId output : outputs_) needed[graph_.value(output).producer.index] = true;
    for (auto n = static_cast<int32_t>(needed.size()) - 1; n >= 0; --n) {
      if (!needed[n]) continue;
      const Node& node = graph_.nodes()[n];
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool read = NodeId{n} != node_ || (cut_ == Cut::kOperand && i == operand_);
        if (read && node.inputs[i].valid())
          needed[graph_.value(node.inputs[i]).producer.index] = true;
      }
    }
    return needed;
  }

  bool Copy(GraphBuilder& builder, const Node& node, std::vector<ValueId>& made) const {
    if (node.op == Op::kInput) {
      const Value& value = graph_.value(node.outputs[0]);
      const auto input = builder.AddInput(value.name, value.type);
      if (!input) return false;
      made[node.outputs[0].index] = *input;
      return true;
    }
    if (node.op == Op::kConstant) {
      made[node.outputs[0].index] = builder.AddConstant(node.name, node.constant);
      return true;
    }
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs)
      inputs.push_back(input.valid() ? made[input.index] : ValueId{});
    const auto copies = builder.CopyNode(graph_, node, inputs);
    if (!copies) return false;
    for (size_t i = 0; i < copies->size(); ++i) made[node.outputs[i].index] = (*copies)[i];
    return true;
  }

  std::optional<ValueId> Replacement(GraphBuilder& builder, const Node& node,
                                     const std::vector<ValueId>& made) const {
    const Value& value = graph_.value(node.outputs[0]);
    if (cut_ == Cut::kOperand) {
      if (operand_ >= node.inputs.size() || !node.inputs[operand_].valid()) return {};
      const ValueId operand = node.inputs[operand_];
      if (graph_.value(operand).type != value.type) return {};
      return made[operand.index];
    }
    if (cut_ == Cut::kInput) {
      const auto input = builder.AddInput(value.name, value.type);
      return input ? std::optional(*input) : std::nullopt;
    }
    Random random(StreamSeed(1, value.name));
    return builder.AddConstant(
        value.name, RandomElements(value.type.type, value.type.Shape(), Values::kOrdinary, random));
  }

  const Graph& graph_;
  std::vector<ValueId> outputs_;
  NodeId node_{-1};
  Cut cut_ = Cut::kOperand;
  size_t operand_ = 0;
};

class Shrinker {
 public:
  Shrinker(Case failing, const Fails& fails, int tries)
      : best_(std::move(failing)), fails_(fails), tries_(tries) {}

  Case Run() {
    while (tries_ > 0 && (FewerOutputs() || EarlierOutputs() || FewerPasses() || FewerNodes())) {
    }
    return std::move(best_);
  }

 private:
  bool Accept(Case candidate) {
    if (tries_-- <= 0 || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool FewerOutputs() {
    const std::vector<ValueId> outputs = best_.graph.outputs();
    for (size_t i = 0; i < outputs.size() && outputs.size() > 1; ++i) {
      std::vector<ValueId> fewer = outputs;
      fewer.erase(fewer.begin() + static_cast<int64_t>(i));
      auto graph = Reduction(best_.graph, fewer).Build();
      if (graph && Accept({*std::move(graph), best_.plan})) return true;
    }
    return false;
  }

  // What a node reads instead of what it makes.
  bool EarlierOutputs() {
    const std::vector<ValueId> outputs = best_.graph.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      for (const ValueId operand : best_.graph.producer(outputs[i]).inputs) {
        std::vector<ValueId> earlier = outputs;
        earlier[i] = operand;
        if (!operand.valid()) continue;
        auto graph = Reduction(best_.graph, earlier).Build();
        if (graph && Accept({*std::move(graph), best_.plan})) return true;
      }
    }
    return false;
  }

  bool FewerPasses() {
    for (size_t i = 0; i < best_.plan.passes.size(); ++i) {
      CheckPlan plan = best_.plan;
      plan.passes.erase(plan.passes.begin() + static_cast<int64_t>(i));
      if (Accept({best_.graph, plan})) return true;
    }
    return false;
  }

  bool FewerNodes() {
    for (auto n = static_cast<int32_t>(best_.graph.nodes().size()) - 1; n >= 0; --n) {
      const Node& node = best_.graph.nodes()[n];
      if (node.outputs.size() != 1) continue;
      if (node.op == Op::kConstant && Without(n, Cut::kInput, 0)) return true;
      if (KindOf(node.op) == OpKind::kData) continue;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (Without(n, Cut::kOperand, i)) return true;
      // A result that nothing reads becomes nothing smaller as a leaf.
      if (best_.graph.IsOutput(node.outputs[0])) continue;
      if (Without(n, Cut::kInput, 0) || Without(n, Cut::kConstant, 0)) return true;
    }
    return false;
  }

  bool Without(int32_t node, Cut cut, size_t operand) {
    Reduction reduction(best_.graph, best_.graph.outputs());
    reduction.CutOut(NodeId{node}, cut, operand);
    auto graph = reduction.Build();
    return graph && Accept({*std::move(graph), best_.plan});
  }

  Case best_;
  const Fails& fails_;
  int tries_;
};

}  // namespace

Case Shrink(Case failing, const Fails& fails, int most_tries) {
  return Shrinker(std::move(failing), fails, most_tries).Run();
}

}  // namespace tunec::fuzz
