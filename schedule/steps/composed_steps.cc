// The implementation of unroll_jam and swizzle, which apply other steps, and of prefetch.
#include <algorithm>

#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

constexpr int64_t kFarthestPrefetch = int64_t{1} << 20;

// Returns the names of the serial loops directly inside this loop and each other, outermost first.
std::vector<std::string> SerialLoopsInside(const ScheduleTree& tree, VarId loop) {
  std::vector<std::string> names;
  const TreeNode* node = PathToLoop(tree.root, loop).back();
  while (node->children[0].kind == TreeNode::Kind::kLoop) {
    node = &node->children[0];
    if (!SerialLoop(tree, "", tree.loops[node->loop].name)) break;
    names.push_back(tree.loops[node->loop].name);
  }
  return names;
}

}  // namespace

Status Apply(ScheduleTree& tree, const UnrollJamStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "unroll_jam", step.loop));
  std::vector<std::string> inside = SerialLoopsInside(tree, loop);
  if (inside.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "unroll_jam {}: no serial loop is directly inside it",
                step.loop);
  }
  TUNEC_RETURN_IF_ERROR(Apply(tree, SplitStep{step.loop, {step.factor}}));
  const std::string group = step.loop + ".1";
  inside.push_back(group);
  TUNEC_RETURN_IF_ERROR(Apply(tree, ReorderStep{inside}));
  TUNEC_RETURN_IF_ERROR(Apply(tree, IsolateStep{step.loop + ".0"}));
  return Apply(tree, UnrollStep{group});
}

Status Apply(ScheduleTree& tree, const SwizzleStep& step) {
  TUNEC_ASSIGN(const VarId outer, SerialLoop(tree, "swizzle", step.outer));
  TUNEC_ASSIGN(const VarId inner, SerialLoop(tree, "swizzle", step.inner));
  const TreeNode& below = PathToLoop(tree.root, outer).back()->children[0];
  if (below.kind != TreeNode::Kind::kLoop || below.loop != inner) {
    return Fail(ErrorCode::kInvalidArgument, "swizzle: {} is not directly inside {}", step.inner,
                step.outer);
  }
  TUNEC_RETURN_IF_ERROR(Apply(tree, SplitStep{step.outer, {step.factor}}));
  return Apply(tree, ReorderStep{{step.inner, step.outer + ".1"}});
}

Status Apply(ScheduleTree& tree, const PrefetchStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  const std::optional<TensorId> tensor = tree.FindTensor(step.tensor);
  if (!tensor || tree.tensors[*tensor].role == TensorRole::kLocal) {
    return Fail(ErrorCode::kInvalidArgument, "prefetch: {} is not a tensor in memory", step.tensor);
  }
  if (step.distance < 1 || step.distance > kFarthestPrefetch) {
    return Fail(ErrorCode::kInvalidArgument, "prefetch {}: {} iterations ahead", step.tensor,
                step.distance);
  }
  bool used = false;
  for (const StatementId s : StatementsBelow(*FindLoopNode(tree.root, loop))) {
    const auto visit = [&](const auto& access) -> Status {
      if (access.tensor != *tensor) return {};
      used = true;
      if (std::ranges::none_of(access.index, &IndexExpr::UsesLoaded)) return {};
      return Fail(ErrorCode::kInvalidArgument, "prefetch {}: {} accesses it at a loaded index",
                  step.tensor, tree.statements[s].name);
    };
    for (const Read& read : tree.statements[s].reads) TUNEC_RETURN_IF_ERROR(visit(read));
    for (const Write& write : tree.statements[s].writes) TUNEC_RETURN_IF_ERROR(visit(write));
  }
  if (!used) {
    return Fail(ErrorCode::kInvalidArgument, "prefetch {}: nothing in loop {} uses it", step.tensor,
                step.loop);
  }
  tree.loops[loop].prefetches.push_back({*tensor, step.distance, std::max(step.level, 1)});
  return {};
}

}  // namespace tunec
