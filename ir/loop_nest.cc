#include "ir/loop_nest.h"

#include <algorithm>

namespace tunec {
namespace {

int64_t ConstantExtent(const Loop& loop) {
  int64_t lower = loop.lower.front().constant();
  for (const IndexExpr& bound : loop.lower) lower = std::max(lower, bound.constant());
  int64_t upper = loop.upper.front().constant();
  for (const IndexExpr& bound : loop.upper) upper = std::min(upper, bound.constant());
  return std::max<int64_t>(upper - lower, 0);
}

const Loop* AsParallel(const NestNode& node) {
  const auto* loop = std::get_if<Loop>(&node.value);
  return loop != nullptr && loop->kind == LoopKind::kParallel ? loop : nullptr;
}

int64_t CountTasksOfPart(const NestNode& part) {
  int64_t tasks = 1;
  const NestNode* node = &part;
  while (const Loop* loop = AsParallel(*node)) {
    tasks *= ConstantExtent(*loop);
    if (loop->body.size() != 1) break;
    node = &loop->body.front();
  }
  return tasks;
}

}  // namespace

int64_t CountTasks(const Phase& phase) {
  int64_t tasks = 0;
  for (const NestNode& part : phase.body) tasks += CountTasksOfPart(part);
  return tasks;
}

std::vector<TensorId> Arguments(const LoopNest& nest) {
  std::vector<TensorId> arguments;
  for (size_t t = 0; t < nest.tensors.size(); ++t) {
    const TensorRole role = nest.tensors[t].role;
    if (role == TensorRole::kInput || role == TensorRole::kOutput || role == TensorRole::kWeight) {
      arguments.push_back(static_cast<TensorId>(t));
    }
  }
  return arguments;
}

bool operator==(const LoopNest& a, const LoopNest& b) { return Print(a) == Print(b); }

}  // namespace tunec
