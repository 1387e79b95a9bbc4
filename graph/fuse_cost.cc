#include "graph/fuse_cost.h"

namespace tunec {

double SecondsSaved(const FusionCost& cost) {
  return static_cast<double>(cost.bytes_saved) / kBytesPerSecond -
         static_cast<double>(cost.operations_added) / kOperationsPerSecond +
         cost.launches_saved * kLaunchSeconds;
}

int64_t ElementsOf(const Graph& graph, ValueId value) {
  int64_t elements = 1;
  for (const int64_t extent : graph.value(value).type.Shape()) elements *= extent;
  return elements;
}

int64_t BytesOf(const Graph& graph, ValueId value) {
  return ElementsOf(graph, value) * static_cast<int64_t>(SizeOf(graph.value(value).type.type));
}

FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users) {
  const int64_t bytes = BytesOf(graph, value);
  const bool vanishes = users == 1 && !graph.IsOutput(value);
  return {.bytes_saved = vanishes ? 2 * bytes : bytes, .operations_added = 0, .launches_saved = 1};
}

}  // namespace tunec
