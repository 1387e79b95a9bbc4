#include "graph/fuse/edge_cost.h"

#include <algorithm>
#include <cmath>

#include "graph/cost/operation_cost.h"

namespace tunec {
namespace {

// Sets the cost of lost parallelism. There is such a cost if one group has tasks for all cores, but
// is computed in the fewer parts of the other group.
void AddLostParallelism(const FusionQuestion& q, double consumer_operations,
                        const FusionMachine& machine, FusionCost& cost) {
  if (q.producer.parts > 0) {
    cost.parts = q.producer.parts;
    if (q.into.parts == 0)
      cost.seconds_in_parts = consumer_operations / machine.operations_per_second;
    return;
  }
  cost.parts = q.into.parts;
  if (q.into.parts > 0)
    cost.seconds_in_parts = q.producer.operations / machine.operations_per_second;
}

double Quotient(double a, double b) { return std::max(1.0, std::ceil(a / b)); }

// The size of a contraction: rows and columns of its result, and multiplications.
struct ContractionSize {
  double rows = 1;
  double columns = 1;
  double products = 1;
};

ContractionSize SizeOf(const Graph& graph, const Node& node) {
  const std::vector<int64_t> weight = graph.value(node.inputs[1]).type.Shape();
  const auto results = static_cast<double>(ElementsOf(graph, node.outputs[0]));
  const auto operand = static_cast<double>(std::max<int64_t>(1, ElementsOf(graph, node.inputs[0])));
  ContractionSize size;
  double depth = 1;
  if (node.op == Op::kConv) {
    depth = static_cast<double>(weight[1]);
    size.columns = static_cast<double>(weight[0]) / static_cast<double>(node.Int("group"));
  } else if (weight.size() > 1) {
    const bool transposed = node.Int("transpose_b") != 0;
    size.columns = static_cast<double>(weight[weight.size() - (transposed ? 2 : 1)]);
  }
  size.rows = std::max(1.0, results / std::max(1.0, size.columns));
  if (node.op != Op::kConv) depth = operand / size.rows;
  size.products = results * depth;
  return size;
}

// Returns the busiest core's share of the work.
double GreatestShare(double tasks, double cores) { return std::ceil(tasks / cores) / tasks; }

// Sets the cost of a contraction that also computes its operand.
void AddOperandPrologue(const Graph& graph, const FusionQuestion& q, const FusionMachine& machine,
                        FusionCost& cost) {
  const ContractionSize size = SizeOf(graph, q.consumer);
  const double row_tiles = Quotient(size.rows, machine.row_tile);
  const double tiles = row_tiles * Quotient(size.columns, machine.column_tile);
  cost.times_computed = 1;
  cost.operations_added =
      machine.staging_operations * static_cast<double>(ElementsOf(graph, q.value));
  if (row_tiles >= machine.cores) return;
  cost.parts = row_tiles;
  // With few row tiles, the busiest core's share of the work may be greater than with tiles of rows
  // and columns. `lost` is the idle time that the greater share adds on all cores, divided by the
  // time of the work on one core.
  const double lost = machine.cores * (GreatestShare(row_tiles, machine.cores) -
                                       GreatestShare(tiles, machine.cores));
  cost.seconds_in_parts =
      size.products / machine.operations_per_second * lost / (machine.cores / row_tiles - 1);
}

// Adds the cost of a chain: the operand is the result of another contraction, finished block by
// block. Then tasks are blocks of rows only, and each core reads the complete second operand.
void AddChain(const Graph& graph, const FusionQuestion& q, const FusionMachine& machine,
              FusionCost& cost) {
  AddOperandPrologue(graph, q, machine, cost);
  cost.bytes_saved -= BytesOf(graph, q.consumer.inputs[1]);
}

}  // namespace

FusionCost CostOfEdge(const Graph& graph, const FusionQuestion& q, const FusionMachine& machine) {
  FusionCost cost = CostOfFusing(graph, q.value, q.users.size());
  if (q.producer.anchor == GroupTraits::Anchor::kNone) {
    const auto elements = static_cast<double>(std::max<int64_t>(1, ElementsOf(graph, q.value)));
    cost.times_computed =
        CountComputations(graph, q.consumer, q.value, q.producer.operations / elements);
    // A value with several users is computed completely.
    if (q.users.size() > 1 && cost.times_computed < 1) cost.times_computed = 1;
    cost.operations_added = (cost.times_computed - 1) * q.producer.operations;
  }
  if (PatternOf(q.consumer.op) == OpPattern::kContraction && HasNoWindows(graph, q.consumer)) {
    if (!q.producer.only_renames && q.producer.anchor == GroupTraits::Anchor::kNone) {
      AddOperandPrologue(graph, q, machine, cost);
    }
    if (DecideFusion(graph, q) == FusionReason::kChain) AddChain(graph, q, machine, cost);
    return cost;
  }
  cost.elements = static_cast<double>(ElementsOf(graph, q.consumer.outputs[0]));
  AddLostParallelism(q, cost.elements * OperationsPerElement(q.consumer), machine, cost);
  return cost;
}

}  // namespace tunec
