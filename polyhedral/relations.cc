#include "polyhedral/relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/tile_intrinsic.h"
#include "support/check.h"

// The switch has no default: it must list every kind of node.
#pragma GCC diagnostic error "-Wswitch"

namespace tunec {
namespace {

std::string IteratorName(VarId iterator) { return fmt::format("i{}", iterator); }

std::string Text(const IndexExpr& expr) { return Print(expr, IteratorName); }

std::string Tuple(StatementId id, const Statement& statement) {
  std::string text = fmt::format("S{}[", id);
  for (const VarId i : statement.iterators.ids()) {
    text += fmt::format("{}i{}", i.index() > 0 ? ", " : "", i);
  }
  return text + "]";
}

void AddConditions(const std::vector<IndexExpr>& conditions, std::string& text) {
  for (const IndexExpr& condition : conditions) {
    if (!condition.UsesLoaded()) text += fmt::format(" and {} >= 0", Text(condition));
  }
}

std::string DomainConditions(const Statement& statement) {
  std::string text = "1 = 1";
  for (const VarId i : statement.iterators.ids()) {
    text += fmt::format(" and 0 <= i{} < {}", i, statement.iterators[i].extent);
  }
  AddConditions(statement.domain, text);
  return text;
}

// Returns the lane of a warp that has the accumulator's element, or 0 if no warp executes the tile.
IndexExpr LaneOfTile(const ScheduleTree& tree, StatementId statement, const LoopTile& tile) {
  const TileIntrinsic* intrinsic = FindTileIntrinsic(tile.intrinsic);
  if (intrinsic == nullptr || !intrinsic->IsOfWarp()) return 0;
  const auto& forward = tree.forward[statement];
  return LaneOf(*intrinsic->accumulator.owners, forward.at(tile.loops.front()),
                forward.at(tile.loops.back()));
}

}  // namespace

std::string DomainText(StatementId id, const Statement& statement) {
  return fmt::format("{{ {} : {} }}", Tuple(id, statement), DomainConditions(statement));
}

std::string AccessText(const Statement& statement, const WrittenStorage& storage,
                       const Access& access) {
  std::string element;
  std::string conditions = DomainConditions(statement);
  for (size_t d = 0; d < access.index.size(); ++d) {
    element += fmt::format("{}a{}", d > 0 ? ", " : "", d);
    conditions += access.index[d].UsesLoaded()
                      ? fmt::format(" and 0 <= a{} < {}", d, storage.extents[d])
                      : fmt::format(" and a{} = {}", d, Text(access.index[d]));
  }
  AddConditions(access.guard, conditions);
  return fmt::format("{{ {} -> T{}[{}] : {} }}", Tuple(access.statement, statement), storage.home,
                     element, conditions);
}

std::string AnyOfText(StatementId id, const Statement& statement,
                      const std::vector<IndexExpr>& nonnegative) {
  std::string any = "1 = 0";
  for (const IndexExpr& condition : nonnegative) any += fmt::format(" or {} >= 0", Text(condition));
  return fmt::format("{{ {} : {} and ({}) }}", Tuple(id, statement), DomainConditions(statement),
                     any);
}

std::string TimeText(StatementId id, const Statement& statement,
                     const std::vector<IndexExpr>& time) {
  std::string entries;
  for (const IndexExpr& entry : time) {
    if (!entries.empty()) entries += ", ";
    entries += Text(entry);
  }
  return fmt::format("{{ {} -> [{}] }}", Tuple(id, statement), entries);
}

ThreadNumbers ThreadOf(const ScheduleTree& tree, StatementId statement) {
  ThreadNumbers thread = {IndexExpr(0), IndexExpr(0), IndexExpr(0)};
  for (const auto& [loop, value] : tree.forward[statement]) {
    const LoopKind kind = tree.loops[loop].kind;
    if (IsBlock(kind)) thread.at(BlockAxis(kind)) = value;
    if (tree.loops[loop].tile) thread[0] += LaneOfTile(tree, statement, *tree.loops[loop].tile);
  }
  return thread;
}

bool HasTime(const TreeNode& node) {
  switch (node.kind) {
    case TreeNode::Kind::kLoop:
    case TreeNode::Kind::kSequence:
      return true;
    case TreeNode::Kind::kLeaf:
    case TreeNode::Kind::kAlloc:
      return false;
  }
  TUNEC_UNREACHABLE("a node of no kind");
}

std::vector<IndexExpr> TimeOf(const ScheduleTree& tree, StatementId statement) {
  std::vector<IndexExpr> time;
  const std::function<bool(const TreeNode&)> descend = [&](const TreeNode& node) {
    if (node.kind == TreeNode::Kind::kLeaf) return node.statement == statement;
    const size_t length = time.size();
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (node.kind == TreeNode::Kind::kSequence) time.emplace_back(static_cast<int64_t>(i));
      if (node.kind == TreeNode::Kind::kLoop) {
        const auto& forward = tree.forward[statement];
        const auto found = forward.find(node.loop);
        time.push_back(found == forward.end() ? IndexExpr(0) : found->second);
      }
      if (descend(node.children[i])) return true;
      time.resize(length);
    }
    return false;
  };
  TUNEC_CHECK(descend(tree.root), "statement {} has no leaf", tree.statements[statement].name);
  return time;
}

bool WritesOneElement(const ScheduleTree& tree, StatementId statement, const Statement& written,
                      VarId loop) {
  return std::ranges::all_of(written.writes, [&](const Write& write) {
    return std::ranges::all_of(write.index, [&](const IndexExpr& index) {
      if (index.UsesLoaded()) return false;
      const IndexExpr over_loops = Substitute(index, tree.inverse[statement]);
      return !Simplify(over_loops, tree.LoopIntervals()).Uses(loop);
    });
  });
}

}  // namespace tunec
