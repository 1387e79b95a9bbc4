#include "graph/cost/fuse_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tunec {
namespace {

struct Term {
  double seconds = 0;
  std::string what;
};

double MemorySeconds(const FusionCost& cost, const FusionMachine& machine) {
  return static_cast<double>(cost.bytes_saved) / machine.bytes_per_second;
}

double LaunchSeconds(const FusionCost& cost, const FusionMachine& machine) {
  return cost.launches_saved * machine.launch_seconds;
}

double RepeatedSeconds(const FusionCost& cost, const FusionMachine& machine) {
  return cost.operations_added / machine.operations_per_second;
}

// Returns the time that is lost because the parts occupy only some of the cores.
double IdleSeconds(const FusionCost& cost, const FusionMachine& machine) {
  if (cost.parts <= 0 || cost.parts >= machine.cores) return 0;
  return cost.seconds_in_parts * (machine.cores / cost.parts - 1);
}

// Returns the time of spills: each element of a value that has no register is written once and read
// once.
double SpillSeconds(const FusionCost& cost, const FusionMachine& machine) {
  const int excess = std::max(0, cost.live_values - machine.vector_registers);
  return 2.0 * excess * cost.elements / machine.operations_per_second;
}

std::string CountText(double count) {
  return count < 100 ? fmt::format("{:.3g}", count) : fmt::format("{:.0f}", count);
}

std::string TimeText(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ms", seconds * 1e3);
}

// Returns the sum of the positive terms with the name of the greatest, or an empty string if no
// term is positive.
std::string Decisive(std::span<const Term> terms) {
  double sum = 0;
  const Term* greatest = nullptr;
  for (const Term& term : terms) {
    sum += std::max(0.0, term.seconds);
    if (term.seconds > 0 && (greatest == nullptr || term.seconds > greatest->seconds))
      greatest = &term;
  }
  return greatest == nullptr ? "" : fmt::format("{} ({})", TimeText(sum), greatest->what);
}

}  // namespace

double SecondsSaved(const FusionCost& cost, const FusionMachine& machine) {
  return MemorySeconds(cost, machine) + LaunchSeconds(cost, machine) -
         RepeatedSeconds(cost, machine) - IdleSeconds(cost, machine) - SpillSeconds(cost, machine);
}

std::string Explain(const FusionCost& cost, const FusionMachine& machine) {
  const double memory = MemorySeconds(cost, machine);
  const double repeated = RepeatedSeconds(cost, machine);
  const std::string again = cost.times_computed == 1
                                ? "a buffer in the cache"
                                : fmt::format("computed {} times", CountText(cost.times_computed));
  const std::array<Term, 3> gains = {Term{memory, "memory traffic"},
                                     Term{LaunchSeconds(cost, machine), "a launch"},
                                     Term{-repeated, again}};
  const std::array<Term, 4> losses = {
      Term{repeated, again},
      Term{IdleSeconds(cost, machine),
           fmt::format("{} for all cores",
                       cost.parts == 1 ? "one task" : fmt::format("{:.3g} tasks", cost.parts))},
      Term{SpillSeconds(cost, machine), fmt::format("{} values in registers", cost.live_values)},
      Term{-memory, "memory traffic"}};
  std::string gain = Decisive(gains);
  const std::string loss = Decisive(losses);
  if (loss.empty()) return gain;
  return fmt::format("{} against {}", gain.empty() ? "nothing" : gain, loss);
}

int64_t ElementsOf(const Graph& graph, ValueId value) { return graph.value(value).type.Elements(); }

int64_t BytesOf(const Graph& graph, ValueId value) { return graph.value(value).type.Bytes(); }

FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users) {
  const int64_t bytes = BytesOf(graph, value);
  const bool vanishes = users == 1 && !graph.IsOutput(value);
  return {.bytes_saved = vanishes ? 2 * bytes : bytes, .launches_saved = 1};
}

int LiveValues(const Graph& graph, std::span<const NodeId> nodes) {
  // The last node that reads each value. A constant of one element is an operand of an instruction
  // and needs no register.
  std::map<ValueId, size_t> last_use;
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const ValueId input : graph.node(nodes[n]).inputs)
      if (input.valid() && (graph.ConstantOf(input) == nullptr || ElementsOf(graph, input) > 1))
        last_use[input] = n;
  std::map<size_t, int> ends;
  for (const auto& [value, last] : last_use) ++ends[last];
  int live = 0;
  int most = 0;
  std::map<ValueId, bool> loaded;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const ValueId input : graph.node(nodes[n]).inputs)
      if (last_use.contains(input) && !std::exchange(loaded[input], true)) ++live;
    most = std::max(most, live);
    live -= ends[n];
    for (const ValueId output : graph.node(nodes[n]).outputs)
      if (last_use.contains(output) && !std::exchange(loaded[output], true)) ++live;
    most = std::max(most, live);
  }
  return most;
}

}  // namespace tunec
