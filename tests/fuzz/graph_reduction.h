// A class that reduces a graph to some outputs, and may remove one node.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace tunec::fuzz {

/// The replacement of a removed node: one of its operands, a new input or a new constant.
enum class Cut : uint8_t { kOperand, kInput, kConstant };

/// A graph that is reduced to `outputs` and the nodes they depend on. CutOut chooses a node that
/// Build replaces.
class Reduction {
 public:
  Reduction(const Graph& graph, std::vector<ValueId> outputs)
      : graph_(graph), outputs_(std::move(outputs)) {}

  void CutOut(NodeId node, Cut cut, size_t operand);
  /// Returns the reduced graph, or no value if the reduction is impossible.
  std::optional<Graph> Build() const;

 private:
  std::vector<bool> Needed() const;
  bool Copy(GraphBuilder& builder, const Node& node, std::vector<ValueId>& made) const;
  std::optional<ValueId> Replacement(GraphBuilder& builder, const Node& node,
                                     const std::vector<ValueId>& made) const;

  const Graph& graph_;
  std::vector<ValueId> outputs_;
  NodeId node_{-1};
  Cut cut_ = Cut::kOperand;
  size_t operand_ = 0;
};

}  // namespace tunec::fuzz
