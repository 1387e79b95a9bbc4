// What fusing is worth: bytes that are neither written nor read again and launches that are
// saved, against what is computed more than once, cores that have nothing to do, and values that do
// not fit the registers.
#pragma once

#include <span>
#include <string>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// What fusing along an edge changes.
struct FusionCost {
  int64_t bytes_saved = 0;  // neither written nor read again
  int launches_saved = 0;
  double times_computed = 1;    // each element of the value, on average
  double operations_added = 0;  // by that; negative where not all elements are needed
  double parts = 0;             // independent parts that the kernel has; 0: enough
  double seconds_in_parts = 0;  // of one core's work, that was not confined to them
  int live_values = 0;          // at once, of the joined body
  double elements = 0;          // that the body computes
  bool operator==(const FusionCost&) const = default;
};

/// Negative when fusing loses.
double SecondsSaved(const FusionCost& cost, const FusionMachine& machine);

/// The decisive gain and, where something is lost, the decisive loss:
/// "2.11 us (a launch) against 3.10 ms (computed 12 times)". Empty when nothing changes.
std::string Explain(const FusionCost& cost, const FusionMachine& machine);

int64_t ElementsOf(const Graph& graph, ValueId value);
int64_t BytesOf(const Graph& graph, ValueId value);

/// Of fusing `value` into one of its `users`: alone with it the value is never stored, among
/// several it is still written, but this user needs not read it.
FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users);

/// How many values are in registers at once when the nodes, in order, compute one element each.
int LiveValues(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace tunec
