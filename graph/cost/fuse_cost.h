// The benefit and cost of fusion. Usual benefits are saved memory traffic and saved launches. Usual
// costs are repeated computation, idle cores, and values that do not fit into registers.
#pragma once

#include <span>
#include <string>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// The effect of a decision, such as the fusion of two groups that an edge of the graph connects.
struct FusionCost {
  int64_t bytes_saved = 0;  // bytes that need not be written and read again
  int launches_saved = 0;
  double times_computed = 1;    // computations of each element of the value, on average
  double operations_added = 0;  // repeated or staging work; < 0: some elements are not needed
  double parts = 0;             // independent parts of the kernel; 0: enough for all cores
  double seconds_in_parts = 0;  // work confined to the parts, in seconds of one core
  int live_values = 0;          // values of the joined body that are live at once
  double elements = 0;          // elements that the body computes
  bool operator==(const FusionCost&) const = default;
};

/// Returns the seconds that fusion saves; negative if fusion is slower.
double SecondsSaved(const FusionCost& cost, const FusionMachine& machine);

/// Returns the total benefit and, if there is a cost, the total cost, each with its greatest part:
/// "2.11 us (a launch) against 3.10 ms (computed 12 times)". Returns an empty string if nothing
/// changes.
std::string Explain(const FusionCost& cost, const FusionMachine& machine);

int64_t ElementsOf(const Graph& graph, ValueId value);
int64_t BytesOf(const Graph& graph, ValueId value);

/// Returns the memory traffic and the launch that are saved if `value` is fused into one user.
/// `users` is the number of all users. A value with one user is then not stored, unless the graph
/// outputs the value. Any other value is still written, but the fused user need not read it.
FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users);

/// Returns the greatest number of values that are in registers at once if the nodes, in order,
/// compute one element each. Constants of one element and values that no node reads do not count.
int LiveValues(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace tunec
