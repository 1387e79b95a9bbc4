// The implementation of skew, peel and distribute, which are classical loop transformations like
// split, reorder and fuse.
#include <fmt/format.h>

#include <algorithm>

#include "ir/sizes.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

// Limits of a skewed loop's extent and factor. They keep the loop's bounds far from overflow.
constexpr int64_t kLongestLoop = int64_t{1} << 50;
constexpr int64_t kLargestFactor = int64_t{1} << 20;

}  // namespace

Status Apply(ScheduleTree& tree, const SkewStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "skew", step.loop));
  TUNEC_ASSIGN(const VarId by, LoopNamed(tree, step.by));
  if (loop == by || step.factor < 1 || step.factor > kLargestFactor) {
    return Fail(ErrorCode::kInvalidArgument, "skew {}: {} times loop {}", step.loop, step.factor,
                step.by);
  }
  TreeNode* node = FindLoopNode(tree.root, loop);
  const std::vector<StatementId> statements = StatementsBelow(*node);
  const bool shared =
      std::ranges::all_of(statements, [&](StatementId s) { return tree.forward[s].contains(by); });
  if (!shared) {
    return Fail(ErrorCode::kInvalidArgument, "skew {}: loop {} is not around all of its statements",
                step.loop, step.by);
  }
  const int64_t reach = MultiplySizes(step.factor, std::max<int64_t>(tree.loops[by].extent - 1, 0));
  const int64_t extent = tree.loops[loop].extent + reach;
  if (extent > kLongestLoop) {
    return Fail(ErrorCode::kInvalidArgument, "skew {}: it would have {} iterations", step.loop,
                extent);
  }
  TUNEC_ASSIGN(const VarId skewed, NewLoop(tree, "skew", step.name, extent));
  for (const StatementId s : statements) {
    auto& forward = tree.forward[s];
    forward[skewed] = forward.at(loop) + forward.at(by) * step.factor;
    forward.erase(loop);
  }
  ReplaceInInverse(tree, statements, loop,
                   IndexExpr::Var(skewed) - IndexExpr::Var(by) * step.factor);
  node->loop = skewed;
  return {};
}

Status Apply(ScheduleTree& tree, const PeelStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (tree.loops[loop].IsPipelined()) {
    return Fail(ErrorCode::kInvalidArgument, "peel: loop {} is pipelined already", step.loop);
  }
  std::vector<int64_t>& cuts = tree.loops[loop].cuts;
  for (const int64_t point : step.points) {
    if (point < 1 || point >= tree.loops[loop].extent) {
      return Fail(ErrorCode::kInvalidArgument, "peel {}: no part of its {} iterations begins at {}",
                  step.loop, tree.loops[loop].extent, point);
    }
    cuts.push_back(point);
  }
  if (step.points.empty() || tree.loops[loop].in_tile) {
    return Fail(ErrorCode::kInvalidArgument, "peel {}: no part is named", step.loop);
  }
  std::ranges::sort(cuts);
  if (std::ranges::adjacent_find(cuts) != cuts.end()) {
    return Fail(ErrorCode::kInvalidArgument, "peel {}: two parts begin at one iteration",
                step.loop);
  }
  return {};
}

namespace {

// Adds a loop for a part of another loop's body. The new name begins with the name of the part's
// first statement.
VarId LoopOfPart(ScheduleTree& tree, VarId whole, const TreeNode& part) {
  const TreeLoop& loop = tree.loops[whole];
  const std::string& statement = tree.statements[StatementsBelow(part).front()].name;
  const size_t dot = loop.name.find_last_of('.');
  std::string name =
      statement + "." + (dot == std::string::npos ? loop.name : loop.name.substr(dot + 1));
  while (LoopNamed(tree, name)) name += "_";
  return tree.loops.push_back(
      {.name = std::move(name), .extent = loop.extent, .isolate = loop.isolate});
}

// Returns the index of the part that keeps the original loop. If the loop is named S.ITERATOR and a
// part has the statement S, it is that part; otherwise the first part.
size_t FindLoopOwner(const ScheduleTree& tree, VarId loop, const std::vector<TreeNode>& parts) {
  const std::string& name = tree.loops[loop].name;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const StatementId s : StatementsBelow(parts[i])) {
      const std::string prefix = tree.statements[s].name + ".";
      const bool named = name.starts_with(prefix) && name.find('.', prefix.size()) == name.npos;
      if (named) return i;
    }
  }
  return 0;
}

// Returns a loop node for `own` whose body is the part. In the part's statements, `own` replaces
// `whole`.
TreeNode InLoop(ScheduleTree& tree, VarId whole, VarId own, TreeNode part) {
  const std::vector<StatementId> statements = StatementsBelow(part);
  if (own != whole) {
    ReplaceInInverse(tree, statements, whole, IndexExpr::Var(own));
    for (const StatementId s : statements) {
      tree.forward[s][own] = tree.forward[s].at(whole);
      tree.forward[s].erase(whole);
    }
  }
  TreeNode loop{.kind = TreeNode::Kind::kLoop, .loop = own};
  loop.children.push_back(std::move(part));
  return loop;
}

// Replaces a loop's node by several nodes. If the parent is a sequence, the nodes become its
// children; otherwise they form a new sequence. Returns false if the loop is not below `node`.
bool ReplaceLoop(TreeNode& node, VarId loop, std::vector<TreeNode>& parts) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    TreeNode& child = node.children[i];
    if (child.kind != TreeNode::Kind::kLoop || child.loop != loop) {
      if (ReplaceLoop(child, loop, parts)) return true;
      continue;
    }
    if (node.kind == TreeNode::Kind::kSequence) {
      const auto at = node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(i));
      node.children.insert(at, std::make_move_iterator(parts.begin()),
                           std::make_move_iterator(parts.end()));
    } else {
      child = TreeNode{.kind = TreeNode::Kind::kSequence, .children = std::move(parts)};
    }
    return true;
  }
  return false;
}

}  // namespace

Status Apply(ScheduleTree& tree, const DistributeStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "distribute", step.loop));
  TreeNode& body = FindLoopNode(tree.root, loop)->children[0];
  if (body.kind != TreeNode::Kind::kSequence) {
    return Fail(ErrorCode::kInvalidArgument,
                "distribute {}: its body is one node, or shares storage", step.loop);
  }
  std::vector<TreeNode> parts = std::move(body.children);
  const size_t owner = FindLoopOwner(tree, loop, parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    const VarId own = i == owner ? loop : LoopOfPart(tree, loop, parts[i]);
    parts[i] = InLoop(tree, loop, own, std::move(parts[i]));
  }
  ReplaceLoop(tree.root, loop, parts);
  return {};
}

}  // namespace tunec
