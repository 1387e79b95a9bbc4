#include "tests/fuzz/shrink_graph.h"

#include <utility>

#include "tests/fuzz/graph_reduction.h"

namespace tunec::fuzz {
namespace {

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

  // Tries to replace an output by an operand of its node. Returns true if the case still fails.
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
      // A computed output is not replaced by a new leaf, because nothing would then compute it.
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
