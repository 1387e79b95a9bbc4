#include "tests/fuzz/pad/shrink_pad.h"

#include <optional>
#include <utility>

#include "tests/fuzz/graph_reduction.h"

namespace tunec::fuzz {
namespace {

class PadShrinker {
 public:
  PadShrinker(PadCase failing, const PadFails& fails, int tries)
      : best_(std::move(failing)), fails_(fails), tries_(tries) {}

  PadCase Run() {
    while (tries_ > 0 && (FewerOutputs() || EarlierOutputs() || FewerNodes())) {
    }
    return std::move(best_);
  }

 private:
  const Graph& graph() const { return best_.model.named; }

  // Reduces the graph. Stores the result and returns true if the case still fails.
  bool Accept(const std::vector<ValueId>& outputs, NodeId node = {}, Cut cut = Cut::kOperand,
              size_t operand = 0) {
    if (tries_ <= 0) return false;
    Reduction reduction(graph(), outputs);
    reduction.CutOut(node, cut, operand);
    std::optional<Graph> smaller = reduction.Build();
    if (!smaller) return false;
    PadCase candidate = best_;
    candidate.model.named = *std::move(smaller);
    --tries_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool FewerOutputs() {
    const std::vector<ValueId> outputs = graph().outputs();
    for (size_t i = 0; i < outputs.size() && outputs.size() > 1; ++i) {
      std::vector<ValueId> fewer = outputs;
      fewer.erase(fewer.begin() + static_cast<int64_t>(i));
      if (Accept(fewer)) return true;
    }
    return false;
  }

  // Replaces an output by an operand of its node, if the case then still fails. Else returns false.
  bool EarlierOutputs() {
    const std::vector<ValueId> outputs = graph().outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::vector<ValueId> operands = graph().producer(outputs[i]).inputs;
      for (const ValueId operand : operands) {
        std::vector<ValueId> earlier = outputs;
        earlier[i] = operand;
        if (operand.valid() && Accept(earlier)) return true;
      }
    }
    return false;
  }

  bool FewerNodes() {
    const std::vector<ValueId> outputs = graph().outputs();
    for (auto n = static_cast<int32_t>(graph().nodes().size()) - 1; n >= 0; --n) {
      const Node node = graph().nodes()[n];
      if (node.op == Op::kInput || node.outputs.size() != 1) continue;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (Accept(outputs, NodeId{n}, Cut::kOperand, i)) return true;
      if (graph().IsOutput(node.outputs[0])) continue;
      if (Accept(outputs, NodeId{n}, Cut::kInput)) return true;
    }
    return false;
  }

  PadCase best_;
  const PadFails& fails_;
  int tries_;
};

}  // namespace

PadCase ShrinkPad(PadCase failing, const PadFails& fails, int most_tries) {
  return PadShrinker(std::move(failing), fails, most_tries).Run();
}

}  // namespace tunec::fuzz
