#include "polyhedral/schedule_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "ir/nest/loop_nest_names.h"
#include "polyhedral/conditions_of_readers.h"
#include "support/check.h"

// The switches have no default: they must list every kind of loop or node.
#pragma GCC diagnostic error "-Wswitch"

namespace tunec {
namespace {

// Returns S.init, which stores the identity into the elements of S. Its iterators are those in S's
// write indices. Conditions of S are left out, so that elements without any contribution also get
// the identity. Only conditions that hold for all elements that are read remain.
Statement InitOf(const Compute& compute, const Statement& update) {
  Statement init{.name = update.name + ".init"};
  std::vector<VarId> used;
  for (const Write& write : update.writes) {
    for (const IndexExpr& index : write.index) index.CollectVars(used);
  }
  std::ranges::sort(used);
  std::vector<IndexExpr> renumbered(update.iterators.size());
  for (const VarId old : used) {
    renumbered[old.index()] = IndexExpr::Var(init.iterators.push_back(update.iterators[old]));
  }
  for (const IndexExpr& condition : ConditionsOfReaders(compute, update))
    init.domain.push_back(Substitute(condition, renumbered));
  for (Write write : update.writes) {
    for (IndexExpr& index : write.index) index = Substitute(index, renumbered);
    init.writes.push_back(std::move(write));
  }
  init.values = update.reducer->identity;
  return init;
}

Statement FinalOf(const Compute& compute, const Statement& update) {
  Statement final = InitOf(compute, update);
  final.name = update.name + ".final";
  for (const Write& write : final.writes) final.reads.push_back({write.tensor, write.index, {}});
  for (size_t k = 0; k < final.values.size(); ++k) {
    final.values[k] = Transform(update.reducer->finalise[k], [&](const Expr& node) {
      if (node.kind() != ExprKind::kAccumulator) return node;
      const int slot = node.node().slot;
      return Expr::Read(slot, compute.tensors[update.writes[slot].tensor].type);
    });
  }
  return final;
}

}  // namespace

Statements ExpandReductions(const Compute& compute) {
  Statements expanded;
  for (const Statement& statement : compute.statements) {
    if (!statement.reducer) {
      expanded.push_back(statement);
      continue;
    }
    expanded.push_back(InitOf(compute, statement));
    expanded.push_back(statement);
    if (statement.reducer->finalise.empty()) continue;
    expanded.back().reducer->finalise.clear();
    expanded.push_back(FinalOf(compute, statement));
  }
  return expanded;
}

ScheduleTree OriginalTree(const Compute& compute) {
  ScheduleTree tree{.name = compute.name, .tensors = compute.tensors};
  tree.statements = ExpandReductions(compute);
  tree.root.kind = TreeNode::Kind::kSequence;
  for (const StatementId s : tree.statements.ids()) {
    const Statement& statement = tree.statements[s];
    TreeNode node{.kind = TreeNode::Kind::kLeaf, .statement = s};
    std::map<VarId, IndexExpr> forward;
    std::vector<IndexExpr> inverse(statement.iterators.size());
    std::vector<VarId> loops;
    for (const VarId i : statement.iterators.ids()) {
      const VarId loop =
          tree.loops.push_back({.name = statement.name + "." + statement.iterators[i].name,
                                .extent = statement.iterators[i].extent});
      loops.push_back(loop);
      forward[loop] = IndexExpr::Var(i);
      inverse[i.index()] = IndexExpr::Var(loop);
    }
    for (const VarId id : std::views::reverse(loops)) {
      TreeNode loop{.kind = TreeNode::Kind::kLoop, .loop = id};
      loop.children.push_back(std::move(node));
      node = std::move(loop);
    }
    tree.root.children.push_back(std::move(node));
    tree.forward.push_back(std::move(forward));
    tree.inverse.push_back(std::move(inverse));
    tree.non_temporal.push_back(false);
  }
  return tree;
}

std::optional<VarId> ScheduleTree::FindLoop(std::string_view loop_name) const {
  for (const VarId v : loops.ids()) {
    if (loops[v].name == loop_name) return v;
  }
  return std::nullopt;
}

std::optional<StatementId> ScheduleTree::FindStatement(std::string_view statement_name) const {
  for (const StatementId s : statements.ids()) {
    if (statements[s].name == statement_name) return s;
  }
  return std::nullopt;
}

std::optional<TensorId> ScheduleTree::FindTensor(std::string_view tensor_name) const {
  for (const TensorId t : tensors.ids()) {
    if (tensors[t].name == tensor_name) return t;
  }
  return std::nullopt;
}

IntervalOf ScheduleTree::LoopIntervals() const {
  return [this](VarId loop) { return Interval{0, loops[loop].extent - 1}; };
}

TreeNode* FindLoopNode(TreeNode& root, VarId loop) {
  if (root.kind == TreeNode::Kind::kLoop && root.loop == loop) return &root;
  for (TreeNode& child : root.children) {
    if (TreeNode* found = FindLoopNode(child, loop)) return found;
  }
  return nullptr;
}

namespace {

template <class Matches>
bool FindPath(const TreeNode& node, const Matches& matches, std::vector<const TreeNode*>& path) {
  path.push_back(&node);
  if (matches(node)) return true;
  for (const TreeNode& child : node.children) {
    if (FindPath(child, matches, path)) return true;
  }
  path.pop_back();
  return false;
}

}  // namespace

std::vector<const TreeNode*> PathToLoop(const TreeNode& root, VarId loop) {
  std::vector<const TreeNode*> path;
  FindPath(
      root,
      [&](const TreeNode& node) { return node.kind == TreeNode::Kind::kLoop && node.loop == loop; },
      path);
  return path;
}

std::vector<StatementId> StatementsBelow(const TreeNode& node) {
  if (node.kind == TreeNode::Kind::kLeaf) return {node.statement};
  std::vector<StatementId> statements;
  for (const TreeNode& child : node.children) {
    const std::vector<StatementId> below = StatementsBelow(child);
    statements.insert(statements.end(), below.begin(), below.end());
  }
  return statements;
}

std::vector<VarId> LoopsAround(const TreeNode& root, StatementId statement) {
  std::vector<const TreeNode*> path;
  FindPath(
      root,
      [&](const TreeNode& node) {
        return node.kind == TreeNode::Kind::kLeaf && node.statement == statement;
      },
      path);
  std::vector<VarId> loops;
  for (const TreeNode* node : path) {
    if (node->kind == TreeNode::Kind::kLoop) loops.push_back(node->loop);
  }
  return loops;
}

namespace {

std::string KindText(LoopKind kind) {
  return kind == LoopKind::kSerial ? "" : fmt::format(" {}", Name(kind));
}

}  // namespace

bool RunsConcurrently(LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial:
    case LoopKind::kUnrolled:
    case LoopKind::kWave:
      return false;
    case LoopKind::kParallel:
    case LoopKind::kVector:
    case LoopKind::kGridX:
    case LoopKind::kGridY:
    case LoopKind::kGridZ:
    case LoopKind::kBlockX:
    case LoopKind::kBlockY:
    case LoopKind::kBlockZ:
    case LoopKind::kWarp:
      return true;
  }
  TUNEC_UNREACHABLE("a loop of no kind");
}

std::string PrintLoop(const ScheduleTree& tree, VarId id) {
  const TreeLoop& loop = tree.loops[id];
  std::string text = fmt::format("for {} < {}{}{}{}", loop.name, loop.extent, KindText(loop.kind),
                                 loop.isolate ? " isolate" : "",
                                 loop.unroll > 1 ? fmt::format(" unroll {}", loop.unroll) : "");
  if (loop.tile) text += " tile " + loop.tile->intrinsic;
  if (loop.IsPipelined()) text += fmt::format(" pipeline {}", loop.pipeline.stages);
  for (const int64_t cut : loop.cuts) text += fmt::format(" cut {}", cut);
  for (const LoopPrefetch& prefetch : loop.prefetches) {
    text += fmt::format(" prefetch {} {}", tree.tensors[prefetch.tensor].name, prefetch.distance);
    if (prefetch.level > 1) text += fmt::format(" level {}", prefetch.level);
  }
  return text;
}

namespace {

void PrintNode(const ScheduleTree& tree, const TreeNode& node, int indent, std::string& text) {
  const std::string space(static_cast<size_t>(2 * indent), ' ');
  switch (node.kind) {
    case TreeNode::Kind::kLoop:
      text += fmt::format("{}{}\n", space, PrintLoop(tree, node.loop));
      break;
    case TreeNode::Kind::kSequence:
      text += fmt::format("{}sequence\n", space);
      break;
    case TreeNode::Kind::kLeaf:
      text += fmt::format("{}{}\n", space, tree.statements[node.statement].name);
      break;
    case TreeNode::Kind::kAlloc:
      text += fmt::format("{}stage {} {}{}\n", space, tree.tensors[node.tensor].name,
                          Name(node.scope), PrintSwizzle(node.swizzle));
      break;
  }
  for (const TreeNode& child : node.children) PrintNode(tree, child, indent + 1, text);
}

}  // namespace

std::string Print(const ScheduleTree& tree) {
  std::string text;
  PrintNode(tree, tree.root, 0, text);
  return text;
}

}  // namespace tunec
