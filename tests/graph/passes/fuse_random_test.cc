// Tests of fusion of random graphs. Groups and views contain all needed nodes. The groups are in
// data-flow order, and compute the graph's results.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "graph/reference.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

constexpr int64_t kRows = 6;
constexpr int64_t kColumns = 16;

// Adds random nodes, which `choice` determines, and returns the last node's value. Every returned
// value is kRows x kColumns, so that any of these values can be any operand.
ValueId AddRandomNode(SampleGraph& g, uint32_t choice, const std::vector<ValueId>& values) {
  const auto draw = [&](uint32_t bound) {
    const uint32_t drawn = choice % bound;
    choice /= bound;
    return drawn;
  };
  const auto operand = [&] { return values[draw(static_cast<uint32_t>(values.size()))]; };
  const auto slice = [&](ValueId x, int64_t row, int64_t column) {
    return g(Op::kSlice, {x},
             {{"starts", Ints{row, column}},
              {"ends", Ints{row + kRows, column + kColumns}},
              {"steps", Ints{1, 1}}});
  };
  switch (draw(10)) {
    case 0:
      return g(Op::kRelu, {operand()});
    case 1:
      return g(Op::kTanh, {operand()});
    case 2:
      return g(Op::kAdd, {operand(), operand()});
    case 3:
      return g(Op::kSoftmax, {operand()}, {{"axis", int64_t{draw(2)}}});
    case 4:
      return g(Op::kMatmul, {operand(), g.Weight({kColumns, kColumns})});
    case 5: {
      const ValueId x = operand();
      return g(Op::kSub, {x, g(Op::kReduceMean, {x}, {{"axes", Ints{draw(2)}}})});
    }
    case 6: {
      const ValueId c = g(Op::kConcat, {operand(), operand()}, {{"axis", int64_t{0}}});
      return slice(c, draw(kRows + 1), 0);
    }
    case 7: {
      const ValueId c = g(Op::kConcat, {operand(), operand()}, {{"axis", int64_t{1}}});
      return slice(c, 0, draw(kColumns + 1));
    }
    case 8: {
      const ValueId t = g(Op::kTranspose, {operand()}, {{"perm", Ints{1, 0}}});
      return g(Op::kReshape, {t}, {{"shape", Ints{kRows, kColumns}}});
    }
    default: {
      const ValueId r = g(Op::kReshape, {operand()}, {{"shape", Ints{kRows * kColumns}}});
      return g(Op::kReshape, {g(Op::kExp, {r})}, {{"shape", Ints{kRows, kColumns}}});
    }
  }
}

Graph RandomGraph(const std::vector<uint32_t>& choices) {
  SampleGraph g("random");
  std::vector<ValueId> values = {g.Input({kRows, kColumns}), g.Input({kRows, kColumns})};
  for (const uint32_t choice : choices) values.push_back(AddRandomNode(g, choice, values));
  std::vector<ValueId> outputs = {values.back()};
  if (values.size() > 4) outputs.push_back(values[values.size() / 2]);
  return g.Build(outputs);
}

bool IsMade(const Graph& graph, ValueId value) {
  const Op op = graph.producer(value).op;
  return !IsLeaf(op);
}

// Returns whether the value is a leaf or stored. A view counts as stored if each input of its node
// is a leaf or stored.
bool IsReady(const Graph& graph, const FusionPlan& plan, const std::set<ValueId>& stored,
             ValueId value) {
  if (!IsMade(graph, value)) return true;
  const NodeId producer = graph.value(value).producer;
  if (std::ranges::find(plan.view_nodes, producer) == plan.view_nodes.end())
    return stored.contains(value);
  return std::ranges::all_of(graph.node(producer).inputs,
                             [&](ValueId input) { return IsReady(graph, plan, stored, input); });
}

std::set<NodeId> LiveNodes(const Graph& graph) {
  std::set<NodeId> live;
  std::vector<ValueId> pending = graph.outputs();
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    if (!IsMade(graph, value) || !live.insert(graph.value(value).producer).second) continue;
    for (const ValueId input : graph.producer(value).inputs) pending.push_back(input);
  }
  return live;
}

// No group depends on itself through other groups: all inputs of a group are ready (IsReady) after
// the earlier groups. A node may be in several groups only if none of them stores its value.
RC_GTEST_PROP(FuseRandom, GroupsAreInTheOrderOfDataFlow, ()) {
  const auto choices = *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
  const Graph graph = RandomGraph(choices);
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  RC_ASSERT(plan.has_value());
  std::set<NodeId> done;
  std::set<NodeId> repeated;
  std::set<ValueId> stored;
  for (const FusionGroup& group : plan->groups) {
    for (const ValueId input : group.inputs) RC_ASSERT(IsReady(graph, *plan, stored, input));
    for (const NodeId node : group.nodes)
      if (!done.insert(node).second) repeated.insert(node);
    for (const ValueId output : group.outputs) RC_ASSERT(stored.insert(output).second);
  }
  for (const ValueId value : stored) RC_ASSERT(!repeated.contains(graph.value(value).producer));
  for (const NodeId node : plan->view_nodes) RC_ASSERT(done.insert(node).second);
  RC_ASSERT(done == LiveNodes(graph));
  for (const FusionEdge& edge : plan->edges)
    RC_ASSERT(IsFused(edge.reason) == (edge.from == edge.into && edge.from >= 0));
}

RC_GTEST_PROP(FuseRandom, GroupsComputeWhatTheGraphDoes, ()) {
  const auto choices = *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
  const Graph graph = RandomGraph(choices);
  Random random(3);
  const std::vector<Array> inputs = RandomInputs(graph, random);
  const auto expected = RunReference(graph, inputs, Precision::kNative);
  const auto actual = RunLowered(graph, inputs, FusionMode::kFused, 0);
  RC_ASSERT(expected.has_value());
  RC_ASSERT(actual.has_value());
  for (size_t i = 0; i < expected->size(); ++i)
    RC_ASSERT(RelativeError(actual->at(i), expected->at(i)) < 1e-4);
}

}  // namespace
}  // namespace tunec
