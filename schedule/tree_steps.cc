#include "schedule/tree_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

void CollectLoops(const TreeNode& node, std::vector<VarId>& loops) {
  if (node.kind == TreeNode::Kind::kLoop) loops.push_back(node.loop);
  for (const TreeNode& child : node.children) CollectLoops(child, loops);
}

// The loop that the steps below turn into others is gone from the tree; rewrite what was
// said in terms of it.
void ReplaceInInverse(ScheduleTree& tree, const std::vector<StatementId>& statements, VarId loop,
                      const IndexExpr& value) {
  for (const StatementId s : statements) {
    for (IndexExpr& iterator : tree.inverse[s]) {
      iterator = Substitute(iterator, [&](VarId v) -> IndexExpr {
        return v == loop ? value : IndexExpr::Var(v);
      });
    }
  }
}

}  // namespace

Result<VarId> LoopNamed(const ScheduleTree& tree, const std::string& name) {
  std::vector<VarId> present;
  CollectLoops(tree.root, present);
  for (const VarId loop : present) {
    if (tree.loops[loop].name == name) return loop;
  }
  std::vector<std::string> names;
  for (const VarId loop : present) names.push_back(tree.loops[loop].name);
  return Fail(ErrorCode::kInvalidArgument, "there is no loop {}; there are {}", name,
              fmt::join(names, " "));
}

Status Apply(ScheduleTree& tree, const SplitStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  int64_t inner_size = 1;
  for (const int64_t factor : step.factors) {
    if (factor < 1 || factor > tree.loops[loop].extent * 2 + 1024) {
      return Fail(ErrorCode::kInvalidArgument, "split {}: factor {} of a loop of {} iterations",
                  step.loop, factor, tree.loops[loop].extent);
    }
    inner_size *= factor;
  }
  TreeNode* node = FindLoopNode(tree.root, loop);
  const std::vector<StatementId> statements = StatementsBelow(*node);
  // Extents outermost first; value = sum of part * stride.
  std::vector<int64_t> extents = {CeilDivide(tree.loops[loop].extent, inner_size)};
  extents.insert(extents.end(), step.factors.begin(), step.factors.end());
  IndexExpr value(0);
  int64_t stride = inner_size;
  std::vector<VarId> parts;
  for (size_t level = 0; level < extents.size(); ++level) {
    if (level > 0) stride /= extents[level];
    const auto part = static_cast<VarId>(tree.loops.size());
    tree.loops.push_back({.name = fmt::format("{}.{}", step.loop, level), .extent = extents[level]});
    parts.push_back(part);
    value += IndexExpr::Var(part) * stride;
    for (const StatementId s : statements) {
      IndexExpr quotient = IndexExpr::FloorDiv(tree.forward[s].at(loop), stride);
      if (level > 0) quotient = IndexExpr::Mod(quotient, extents[level]);
      tree.forward[s][part] = std::move(quotient);
    }
  }
  ReplaceInInverse(tree, statements, loop, value);
  for (const StatementId s : statements) tree.forward[s].erase(loop);
  std::vector<TreeNode> body = std::move(node->children);
  for (size_t level = parts.size(); level-- > 1;) {
    TreeNode inner{.kind = TreeNode::Kind::kLoop, .loop = parts[level]};
    inner.children = std::move(body);
    body.clear();
    body.push_back(std::move(inner));
  }
  node->loop = parts[0];
  node->children = std::move(body);
  return {};
}

Status Apply(ScheduleTree& tree, const ReorderStep& step) {
  std::vector<VarId> wanted;
  for (const std::string& name : step.loops) {
    TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, name));
    if (std::ranges::find(wanted, loop) != wanted.end()) {
      return Fail(ErrorCode::kInvalidArgument, "reorder: loop {} is named twice", name);
    }
    wanted.push_back(loop);
  }
  // The chain starts at whichever of them is outermost.
  TreeNode* node = nullptr;
  for (const VarId loop : wanted) {
    TreeNode* candidate = FindLoopNode(tree.root, loop);
    std::vector<VarId> below;
    CollectLoops(*candidate, below);
    const bool outermost = std::ranges::all_of(wanted, [&](VarId other) {
      return std::ranges::find(below, other) != below.end();
    });
    if (outermost) node = candidate;
  }
  std::vector<TreeNode*> places;
  for (TreeNode* at = node; at != nullptr && places.size() < wanted.size();) {
    if (at->kind == TreeNode::Kind::kLoop && std::ranges::find(wanted, at->loop) != wanted.end()) {
      places.push_back(at);
    }
    const bool goes_on = at->kind == TreeNode::Kind::kLoop && at->children.size() == 1;
    at = goes_on ? &at->children[0] : nullptr;
  }
  if (places.size() != wanted.size()) {
    return Fail(ErrorCode::kInvalidArgument, "reorder {}: the loops are not one chain",
                fmt::join(step.loops, " "));
  }
  for (size_t i = 0; i < wanted.size(); ++i) places[i]->loop = wanted[i];
  return {};
}

Status Apply(ScheduleTree& tree, const FuseStep& step) {
  TUNEC_ASSIGN(const VarId outer, LoopNamed(tree, step.outer));
  TUNEC_ASSIGN(const VarId inner, LoopNamed(tree, step.inner));
  TreeNode* node = FindLoopNode(tree.root, outer);
  TreeNode* child = &node->children[0];
  if (child->kind != TreeNode::Kind::kLoop || child->loop != inner) {
    return Fail(ErrorCode::kInvalidArgument, "fuse: {} is not directly inside {}", step.inner,
                step.outer);
  }
  if (LoopNamed(tree, step.name)) {
    return Fail(ErrorCode::kInvalidArgument, "fuse: there is a loop {} already", step.name);
  }
  const int64_t inner_extent = tree.loops[inner].extent;
  const auto fused = static_cast<VarId>(tree.loops.size());
  tree.loops.push_back({.name = step.name, .extent = tree.loops[outer].extent * inner_extent});
  const std::vector<StatementId> statements = StatementsBelow(*node);
  for (const StatementId s : statements) {
    tree.forward[s][fused] = tree.forward[s].at(outer) * inner_extent + tree.forward[s].at(inner);
    tree.forward[s].erase(outer);
    tree.forward[s].erase(inner);
  }
  const IndexExpr value = IndexExpr::Var(fused);
  ReplaceInInverse(tree, statements, outer, IndexExpr::FloorDiv(value, inner_extent));
  ReplaceInInverse(tree, statements, inner, IndexExpr::Mod(value, inner_extent));
  std::vector<TreeNode> body = std::move(child->children);
  node->loop = fused;
  node->children = std::move(body);
  return {};
}

Status Apply(ScheduleTree& tree, const IsolateStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  tree.loops[loop].isolate = true;
  return {};
}

namespace {

// A loop's kind may be chosen once.
Status SetKind(ScheduleTree& tree, const std::string& name, LoopKind kind) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, name));
  if (tree.loops[loop].kind != LoopKind::kSerial) {
    return Fail(ErrorCode::kInvalidArgument, "loop {} is not serial any more", name);
  }
  tree.loops[loop].kind = kind;
  return {};
}

}  // namespace

Status Apply(ScheduleTree& tree, const UnrollStep& step) {
  if (step.factor == 0) return SetKind(tree, step.loop, LoopKind::kUnrolled);
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (step.factor < 0) return Fail(ErrorCode::kInvalidArgument, "unroll by {}", step.factor);
  tree.loops[loop].unroll = step.factor;
  return {};
}

Status Apply(ScheduleTree& tree, const VectorizeStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (FindLoopNode(tree.root, loop)->children[0].kind != TreeNode::Kind::kLeaf) {
    return Fail(ErrorCode::kInvalidArgument,
                "vectorize {}: it must be the innermost loop of one statement", step.loop);
  }
  return SetKind(tree, step.loop, LoopKind::kVector);
}

Status Apply(ScheduleTree& tree, const ParallelizeStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  const std::vector<const TreeNode*> path = PathToLoop(tree.root, loop);
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    if (path[i]->kind != TreeNode::Kind::kLoop ||
        tree.loops[path[i]->loop].kind != LoopKind::kParallel) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parallelize {}: only the outermost loops of a phase can be tasks", step.loop);
    }
  }
  return SetKind(tree, step.loop, LoopKind::kParallel);
}

Status Apply(ScheduleTree& tree, const NonTemporalStep& step) {
  const std::optional<StatementId> statement = tree.FindStatement(step.statement);
  if (!statement) {
    return Fail(ErrorCode::kInvalidArgument, "non_temporal: there is no statement {}",
                step.statement);
  }
  tree.non_temporal[*statement] = true;
  return {};
}

}  // namespace tunec
