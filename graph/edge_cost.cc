#include "graph/edge_cost.h"

#include <algorithm>

#include "graph/fuse_cost.h"
#include "graph/operation_cost.h"

namespace tunec {
namespace {

// Work that had a kernel with tasks for all cores and would run in the parts of the other group's.
void AddLostParallelism(const FusionQuestion& q, double consumer_operations, FusionCost& cost) {
  if (q.producer.parts > 0) {
    cost.parts = q.producer.parts;
    if (q.into.parts == 0) cost.seconds_in_parts = consumer_operations / kOperationsPerSecond;
    return;
  }
  cost.parts = q.into.parts;
  if (q.into.parts > 0) cost.seconds_in_parts = q.producer.operations / kOperationsPerSecond;
}

}  // namespace

FusionCost CostOfEdge(const Graph& graph, const FusionQuestion& q) {
  FusionCost cost = CostOfFusing(graph, q.value, q.users.size());
  if (q.producer.anchor == GroupTraits::Anchor::kNone) {
    const auto elements = static_cast<double>(std::max<int64_t>(1, ElementsOf(graph, q.value)));
    cost.times_computed =
        TimesComputed(graph, q.consumer, q.value, q.producer.operations / elements);
    // Of a value that is written all the same, nothing is left out.
    if (q.users.size() > 1 && cost.times_computed < 1) cost.times_computed = 1;
    cost.operations_added = (cost.times_computed - 1) * q.producer.operations;
  }
  cost.elements = static_cast<double>(ElementsOf(graph, q.consumer.outputs[0]));
  AddLostParallelism(q, cost.elements * OperationsPerElement(q.consumer), cost);
  return cost;
}

}  // namespace tunec
