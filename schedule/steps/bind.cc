// bind: maps iterations to blocks of threads, or to the threads of a block.
//
// Loops over threads are inside the loops over blocks. Several loops over threads may follow each
// other: each runs one part of the block's work. The threads with number 0 along an axis run the
// stores outside of its loops. Barriers are inserted later (ir/nest/insert_barriers.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/nest/loop_nest_names.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const BindStep& step, std::string why) {
  return Fail(ErrorCode::kInvalidArgument, "bind {} {}: {}", step.loop, Name(step.kind), why);
}

// Returns a loop of this kind at or below the node, or null.
const TreeLoop* SameAxis(const ScheduleTree& tree, const TreeNode& node, LoopKind kind) {
  if (node.kind == TreeNode::Kind::kLoop && tree.loops[node.loop].kind == kind) {
    return &tree.loops[node.loop];
  }
  for (const TreeNode& child : node.children) {
    if (const TreeLoop* found = SameAxis(tree, child, kind)) return found;
  }
  return nullptr;
}

Status CheckAxis(const ScheduleTree& tree, const std::vector<const TreeNode*>& path,
                 const BindStep& step) {
  const TreeLoop* other = SameAxis(tree, *path.back(), step.kind);
  for (const TreeNode* node : path) {
    const bool same =
        node->kind == TreeNode::Kind::kLoop && tree.loops[node->loop].kind == step.kind;
    if (same) other = &tree.loops[node->loop];
  }
  if (other == nullptr) return {};
  return Reject(step, fmt::format("loop {} is bound to it already", other->name));
}

void CountThreads(const ScheduleTree& tree, const TreeNode& node, std::array<int64_t, 3>& threads) {
  if (node.kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node.loop].kind)) {
    int64_t& axis = threads.at(BlockAxis(tree.loops[node.loop].kind));
    axis = std::max(axis, tree.loops[node.loop].extent);
  }
  for (const TreeNode& child : node.children) CountThreads(tree, child, threads);
}

// Checks the number of threads of a block. All blocks of a phase have as many threads as its loops
// need along each axis.
Status CheckThreads(const ScheduleTree& tree, const TreeNode& phase, VarId loop,
                    const BindStep& step) {
  std::array<int64_t, 3> threads = {1, 1, 1};
  CountThreads(tree, phase, threads);
  int64_t& axis = threads.at(BlockAxis(step.kind));
  axis = std::max(axis, tree.loops[loop].extent);
  int64_t product = 1;
  for (const int64_t extent : threads) {
    product *= extent;
    if (product > kMostBlockThreads) {
      return Reject(step, fmt::format("{} x {} x {} threads a block, at most {}", threads[0],
                                      threads[1], threads[2], kMostBlockThreads));
    }
  }
  return {};
}

bool HoldsSharedStorage(const TreeNode& node) {
  if (node.kind == TreeNode::Kind::kAlloc && node.scope == Scope::kShared) return true;
  return std::ranges::any_of(node.children, HoldsSharedStorage);
}

bool HoldsPipeline(const ScheduleTree& tree, const TreeNode& node) {
  if (node.kind == TreeNode::Kind::kLoop && tree.loops[node.loop].IsPipelined()) return true;
  return std::ranges::any_of(node.children,
                             [&](const TreeNode& child) { return HoldsPipeline(tree, child); });
}

bool IsParallel(LoopKind kind) { return kind == LoopKind::kParallel; }

// Checks that the last loop of `path` can be a loop over threads. Nested loops over threads must be
// directly inside each other. The loop may not be inside a kParallel loop. It may not contain
// shared storage or a pipelined loop.
Status CheckBlock(const ScheduleTree& tree, const std::vector<const TreeNode*>& path,
                  const BindStep& step) {
  const auto is_block = [&](const TreeNode& node) {
    return node.kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node.loop].kind);
  };
  bool around = false;
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    if (path[i]->kind == TreeNode::Kind::kLoop && IsParallel(tree.loops[path[i]->loop].kind)) {
      return Reject(step, "it is inside tasks");
    }
    around |= is_block(*path[i]);
  }
  const TreeNode& node = *path.back();
  const bool below = ContainsKind(tree, node.children[0], IsBlock);
  if ((around && !is_block(*path[path.size() - 2])) || (below && !is_block(node.children[0]))) {
    return Reject(step, "loops over threads must be directly inside each other");
  }
  if (HoldsSharedStorage(node)) return Reject(step, "it holds storage that threads share");
  if (HoldsPipeline(tree, node)) return Reject(step, "it holds a pipelined loop");
  return {};
}

}  // namespace

Status Apply(ScheduleTree& tree, const BindStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "bind", step.loop));
  const std::vector<const TreeNode*> path = PathToLoop(tree.root, loop);
  TUNEC_RETURN_IF_ERROR(CheckAxis(tree, path, step));
  if (IsGrid(step.kind)) {
    const auto may_be_around = [](LoopKind kind) {
      return IsGrid(kind) || kind == LoopKind::kWave;
    };
    if (!IsInLoopChain(tree, loop, may_be_around)) {
      return Reject(step, "only the outermost loops of a phase can be blocks");
    }
    if (ContainsKind(tree, *path.back(), IsParallel)) return Reject(step, "tasks are inside it");
  } else {
    TUNEC_RETURN_IF_ERROR(CheckBlock(tree, path, step));
    TUNEC_RETURN_IF_ERROR(CheckThreads(tree, *path[1], loop, step));
  }
  return SetKind(tree, step.loop, step.kind);
}

}  // namespace tunec
