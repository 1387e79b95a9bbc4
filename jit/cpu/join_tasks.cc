#include "jit/cpu/join_tasks.h"

#include <algorithm>
#include <set>

#include "ir/nest/rewrite_loop_nest.h"
#include "ir/nest/sample_instances.h"

namespace tunec {
namespace {

// The greatest cost of a short phase, in instructions on one vector. One core runs one or two of
// them in a cycle.
constexpr double kMostCost = 16384;
constexpr double kVectorBytes = 32;
// Weights may be in the third-level cache, which delivers about 8 bytes per cycle.
constexpr double kWeightBytes = 4;  // per instruction

// Returns the number of instructions of one execution of a store. Equal expressions count once.
double InstructionsOf(const Store& store) {
  std::set<Expr> computed;
  for (const Expr& value : store.values) {
    Visit(value, [&](const Expr& expr) {
      if (!expr.operands().empty()) computed.insert(expr);
    });
  }
  return static_cast<double>(computed.size() + store.reads.size() + store.writes.size());
}

double LanesOf(const SampledStore& sampled, const Tensors& tensors) {
  const bool in_vector = std::ranges::any_of(sampled.loops, [](const RunningLoop& running) {
    return running.loop->kind == LoopKind::kVector;
  });
  if (!in_vector || sampled.store.writes.empty()) return 1;
  const TensorId target = sampled.store.writes.front().tensor;
  return std::max(1.0, kVectorBytes / static_cast<double>(SizeOf(tensors[target].type)));
}

bool IsShort(const LoopNest& nest, const Phase& phase, double weight_bytes) {
  double cost = weight_bytes / kWeightBytes;
  if (cost > kMostCost) return false;
  SampleInstances(phase.body, nest.variables.size(), [&](const SampledStore& sampled) {
    cost += sampled.count * InstructionsOf(sampled.store) / LanesOf(sampled, nest.tensors);
  });
  return cost <= kMostCost;
}

}  // namespace

LoopNest JoinShortTasks(LoopNest nest) {
  double weight_bytes = 0;
  for (const Tensor& tensor : nest.tensors) {
    if (tensor.role == TensorRole::kWeight)
      weight_bytes += static_cast<double>(StorageBytes(tensor));
  }
  auto serial = [](Loop loop) {
    if (loop.kind == LoopKind::kParallel) loop.kind = LoopKind::kSerial;
    return loop;
  };
  for (Phase& phase : nest.phases) {
    if (CountTasks(phase) == 1 || CountWaves(phase) > 1) continue;
    if (IsShort(nest, phase, weight_bytes)) phase.body = RewriteBody(std::move(phase.body), serial);
  }
  return nest;
}

}  // namespace tunec
