#include "compiler/sized/worth_joining.h"

#include <algorithm>
#include <set>

#include "graph/count_graph.h"

namespace tunec {
namespace {

constexpr int64_t kMostJoined = 256;
// The least ratio of the arithmetic of joined runs to the cost that each single run repeats. With a
// larger ratio, short runs of large batches would be nearer to the speed of exact executables. But
// each doubling adds one executable to compile for each size of the other dimensions.
constexpr double kMakesUp = 1.5;
// The assumed bandwidth of the last-level cache, as a multiple of the memory's. The parts of a run
// are executed together (SizedExecutable), so all parts but the first find a step's weights in the
// cache. The value was chosen by requests (bench/shapes), not by measurements of caches. With 4, no
// runs of bert_base are joined, and 8 x 21 took 1.38 of its exact time. With 2, lengths up to 23
// are joined in pairs, and the lengths still need no more executables than are cached.
constexpr double kCacheOverMemory = 2;
// The same for weights that are inputs. Each run packs them, which took 4.5 ms for the 28 MB of a
// layer of bert_base (AMD EPYC, Zen 3, one thread): 0.6 of the memory's assumed bandwidth. The
// ratio to this cost is larger, since 8 x 32 took 1.8 of its exact time without joining.
constexpr double kPackingOverMemory = 0.6;
constexpr double kMakesUpPacking = 4;

double MultiplyAdds(const Graph& graph, const Node& node) {
  if (PatternOf(node.op) != OpPattern::kContraction) return 0;
  const auto results = static_cast<double>(graph.value(node.outputs[0]).type.Elements());
  const ValueType& second = graph.value(node.inputs[1]).type;
  const auto& first = graph.value(node.inputs[0]).type.dims;
  switch (node.op) {
    case Op::kMatmul: {
      const size_t axis = first.size() - 1;
      const bool transposed = node.Int("transpose_a") != 0 && first.size() > 1;
      return results * static_cast<double>(first[transposed ? axis - 1 : axis].Value());
    }
    case Op::kAttention: {
      const auto keys = static_cast<double>(second.dims[second.dims.size() - 2].Value());
      return 2 * results * keys;
    }
    default:
      return results * static_cast<double>(second.Elements()) /
             static_cast<double>(std::max<int64_t>(1, second.dims[0].Value()));
  }
}

/// Returns the values that some node reads completely. A gather takes only rows of its table.
std::set<ValueId> ReadCompletely(const Graph& graph) {
  std::set<ValueId> read;
  for (const Node& node : graph.nodes()) {
    const bool is_gather = node.op == Op::kGather;
    for (size_t i = is_gather ? 1 : 0; i < node.inputs.size(); ++i) read.insert(node.inputs[i]);
  }
  return read;
}

}  // namespace

int64_t WorthJoining(const Graph& graph, std::span<const ValueId> shared,
                     const FusionMachine& machine) {
  const std::set<ValueId> read = ReadCompletely(graph);
  const auto bytes_of = [&](ValueId weight) {
    return read.contains(weight) ? static_cast<double>(graph.value(weight).type.Bytes()) : 0;
  };
  double multiply_adds = 0, constants = 0, inputs = 0;
  for (const Node& node : graph.nodes()) {
    multiply_adds += MultiplyAdds(graph, node);
    if (node.op == Op::kConstant) constants += bytes_of(node.outputs[0]);
  }
  for (const ValueId input : shared) inputs += bytes_of(input);
  const Result<GraphCounts> counts = CountGraph(graph);
  const double launches = counts ? static_cast<double>(counts->nodes) * machine.launch_seconds : 0;
  const double reading = constants / (kCacheOverMemory * machine.bytes_per_second);
  const double packing = inputs / (kPackingOverMemory * machine.bytes_per_second);
  const double least_work = kMakesUp * (reading + launches) + kMakesUpPacking * packing;
  const double per_second =
      machine.operations_per_second * static_cast<double>(machine.vector_lanes) / 4;
  const double work = multiply_adds / per_second;
  int64_t joined = 1;
  while (joined < kMostJoined && static_cast<double>(joined) * work < least_work) joined *= 2;
  return joined;
}

}  // namespace tunec
