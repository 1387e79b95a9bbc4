// The invariants of a schedule tree.
//   Each loop of a node has a name, an extent of at least 0, and cut values that ascend within the
//   extent. A tile begins at one of its loops. A pipeline has at least one stage. (A step may leave
//   unused loops, which are not checked.) The root is a sequence. A loop and an alloc have one
//   child, and a leaf has none. A loop occurs at most once on the path to a leaf, and each
//   statement has one leaf. `forward` has a value for each loop around the statement. `inverse`
//   has an expression for each iterator of the statement. The legality check
//   (instances.h) decides whether `inverse` inverts `forward`, so that each instance runs once.
#include <algorithm>

#include "polyhedral/schedule_tree.h"

namespace tunec {
namespace {

std::unexpected<Error> Broken(const ScheduleTree& tree, std::string_view what,
                              std::string_view of) {
  return Fail(ErrorCode::kInternal, "schedule tree {}: {}: {}", tree.name, of, what);
}

Status VerifyLoop(const ScheduleTree& tree, const TreeLoop& loop) {
  if (loop.name.empty()) return Broken(tree, "a loop without a name", "loops");
  if (loop.extent < 0) return Broken(tree, "a loop of negative extent", loop.name);
  if (!std::ranges::is_sorted(loop.cuts)) return Broken(tree, "cuts out of order", loop.name);
  for (const int64_t cut : loop.cuts) {
    if (cut <= 0 || cut >= loop.extent) return Broken(tree, "a cut outside of it", loop.name);
  }
  if (loop.tile &&
      std::ranges::none_of(loop.tile->loops, [&](VarId v) { return &tree.loops[v] == &loop; })) {
    return Broken(tree, "a tile that its own loop is no part of", loop.name);
  }
  if (loop.pipeline.stages < 1) return Broken(tree, "a pipeline without stages", loop.name);
  return {};
}

// A walk over the nodes, which checks them. `around_` has the enclosing loops.
class NodeWalk {
 public:
  explicit NodeWalk(const ScheduleTree& tree) : tree_(tree), leaves_(tree.statements.size(), 0) {}

  Status Run() {
    if (tree_.root.kind != TreeNode::Kind::kSequence) {
      return Broken(tree_, "its root is no sequence", "root");
    }
    TUNEC_RETURN_IF_ERROR(Visit(tree_.root));
    for (const StatementId s : leaves_.ids()) {
      if (leaves_[s] != 1) return Broken(tree_, "expected one leaf", tree_.statements[s].name);
    }
    return {};
  }

 private:
  Status Visit(const TreeNode& node) {
    using Kind = TreeNode::Kind;
    const bool one_child = node.kind == Kind::kLoop || node.kind == Kind::kAlloc;
    if (one_child && node.children.size() != 1) {
      return Broken(tree_, "expected one child", node.kind == Kind::kLoop ? "loop" : "alloc");
    }
    if (node.kind == Kind::kLeaf) return VisitLeaf(node);
    if (node.kind == Kind::kLoop) {
      if (!tree_.loops.contains(node.loop)) {
        return Broken(tree_, "there is no such loop", fmt::format("loop {}", node.loop));
      }
      if (std::ranges::find(around_, node.loop) != around_.end()) {
        return Broken(tree_, "the loop is inside itself", tree_.loops[node.loop].name);
      }
      TUNEC_RETURN_IF_ERROR(VerifyLoop(tree_, tree_.loops[node.loop]));
      around_.push_back(node.loop);
    }
    if (node.kind == Kind::kAlloc && !tree_.tensors.contains(node.tensor))
      return Broken(tree_, "there is no such tensor", fmt::format("tensor {}", node.tensor));
    for (const TreeNode& child : node.children) TUNEC_RETURN_IF_ERROR(Visit(child));
    if (node.kind == Kind::kLoop) around_.pop_back();
    return {};
  }

  Status VisitLeaf(const TreeNode& node) {
    if (!node.children.empty()) return Broken(tree_, "expected no child", "leaf");
    if (!tree_.statements.contains(node.statement)) {
      return Broken(tree_, "there is no such statement", fmt::format("leaf {}", node.statement));
    }
    ++leaves_[node.statement];
    return {};
  }

  const ScheduleTree& tree_;
  std::vector<VarId> around_;
  IdVector<StatementId, int> leaves_;  // by statement
};

Status VerifyStatement(const ScheduleTree& tree, StatementId s) {
  const Statement& statement = tree.statements[s];
  const std::vector<VarId> around = LoopsAround(tree.root, s);
  for (const VarId loop : around) {
    if (tree.forward[s].contains(loop)) continue;
    return Broken(tree, "no value of loop " + tree.loops[loop].name, statement.name);
  }
  if (tree.inverse[s].size() != statement.iterators.size()) {
    return Broken(tree, "expected an expression for each iterator", statement.name);
  }
  return {};
}

}  // namespace

Status Verify(const ScheduleTree& tree) {
  const size_t count = tree.statements.size();
  if (tree.forward.size() != count || tree.inverse.size() != count ||
      tree.non_temporal.size() != count) {
    return Broken(tree, "expected an entry for each statement", "its maps");
  }
  TUNEC_RETURN_IF_ERROR(NodeWalk(tree).Run());
  for (const StatementId s : tree.statements.ids()) {
    TUNEC_RETURN_IF_ERROR(VerifyStatement(tree, s));
  }
  return {};
}

}  // namespace tunec
