#include "ir/loop_nest.h"

#include <algorithm>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

int64_t ConstantExtent(const Loop& loop) {
  int64_t lower = loop.lower.front().constant();
  for (const IndexExpr& bound : loop.lower) lower = std::max(lower, bound.constant());
  int64_t upper = loop.upper.front().constant();
  for (const IndexExpr& bound : loop.upper) upper = std::min(upper, bound.constant());
  return std::max<int64_t>(upper - lower, 0);
}

const Loop* AsLoop(const NestNode& node, bool (*accepts)(LoopKind)) {
  const auto* loop = std::get_if<Loop>(&node.value);
  return loop != nullptr && accepts(loop->kind) ? loop : nullptr;
}

// Returns the product of the extents of the chain of loops at the top of a part. All loops of the
// chain have an accepted kind, and each but the last contains just the next.
int64_t CountOfPart(const NestNode& part, bool (*accepts)(LoopKind)) {
  int64_t count = 1;
  const NestNode* node = &part;
  while (const Loop* loop = AsLoop(*node, accepts)) {
    count *= ConstantExtent(*loop);
    if (loop->body.size() != 1) break;
    node = &loop->body.front();
  }
  return count;
}

}  // namespace

NestNode::NestNode(const NestNode& node) = default;
NestNode::NestNode(NestNode&& node) noexcept = default;
NestNode& NestNode::operator=(const NestNode& node) = default;
NestNode& NestNode::operator=(NestNode&& node) noexcept = default;
NestNode::~NestNode() = default;

int64_t CountTasks(const Phase& phase) {
  int64_t tasks = 0;
  for (const NestNode& part : phase.body) tasks += CountOfPart(part, NumbersTasks);
  return tasks;
}

int64_t CountWaves(const Phase& phase) {
  if (phase.body.size() != 1) return 1;
  return CountOfPart(phase.body[0], [](LoopKind kind) { return kind == LoopKind::kWave; });
}

Launch LaunchOf(const Phase& phase) {
  Launch launch;
  const bool several = phase.body.size() > 1;
  if (several) launch.grid[0] = CountTasks(phase);
  ForEach<Loop>(phase.body, [&](const Loop& loop) {
    if (IsBlock(loop.kind)) {
      // Threads are numbered from 0, so a loop over threads 16 to 31 needs 32 threads.
      int64_t& threads = launch.block.at(BlockAxis(loop.kind));
      int64_t upper = loop.upper.front().constant();
      for (const IndexExpr& bound : loop.upper) upper = std::min(upper, bound.constant());
      threads = std::max(threads, upper);
    }
    if (IsGrid(loop.kind) && !several) {
      launch.grid.at(static_cast<size_t>(loop.kind) - static_cast<size_t>(LoopKind::kGridX)) =
          ConstantExtent(loop);
    }
  });
  return launch;
}

bool HoldsBlockLoop(const Body& body) {
  bool holds = false;
  ForEach<Loop>(body, [&](const Loop& loop) { holds |= IsBlock(loop.kind); });
  return holds;
}

std::vector<TensorId> Arguments(const LoopNest& nest) {
  std::vector<TensorId> arguments;
  for (const TensorId t : nest.tensors.ids()) {
    const TensorRole role = nest.tensors[t].role;
    if (role == TensorRole::kInput || role == TensorRole::kOutput || role == TensorRole::kWeight) {
      arguments.push_back(t);
    }
  }
  return arguments;
}

bool operator==(const LoopNest& a, const LoopNest& b) { return Print(a) == Print(b); }

}  // namespace tunec
