// The generation of a Tile, one instruction, from a loop and its inner loops.
#include <algorithm>
#include <ranges>

#include "polyhedral/generate/generator.h"

namespace tunec {

bool IsWholeTile(const ScheduleTree& tree, const TreeNode& node, const Conditions& conditions) {
  const std::optional<LoopTile>& tile = tree.loops[node.loop].tile;
  if (!tile) return false;
  const auto full = [&](VarId loop) {
    return conditions.range(loop) == Interval{0, tree.loops[loop].extent - 1};
  };
  return std::ranges::all_of(tile->loops, full) &&
         conditions.Of(StatementsBelow(node).front()).empty();
}

Body GenerateTile(Generator& generator, const TreeNode& node, Context context) {
  const ScheduleTree& tree = generator.tree;
  const LoopTile& tile = *tree.loops[node.loop].tile;
  const StatementId statement = StatementsBelow(node).front();
  Conditions first = context.conditions;  // prefetches are requested once per tile
  for (const VarId loop : tile.loops) first.SetValue(loop, IndexExpr(0));
  Body result = PrefetchesOf(tree, statement, first);
  std::vector<Loop> loops;
  for (const VarId loop : tile.loops) {
    const VarId variable = generator.NewVariable(tree.loops[loop].name);
    context.conditions.SetValue(loop, IndexExpr::Var(variable));
    loops.push_back({.var = variable,
                     .kind = LoopKind::kUnrolled,
                     .lower = {IndexExpr(0)},
                     .upper = {IndexExpr(tree.loops[loop].extent)}});
  }
  loops.back().kind = LoopKind::kVector;
  Body body = BodyOf(InstanceOf(tree, statement, context.conditions));
  for (Loop& loop : std::views::reverse(loops)) {
    loop.body = std::move(body);
    body = BodyOf(std::move(loop));
  }
  result.emplace_back(Tile{tile.intrinsic, std::move(body)});
  return result;
}

}  // namespace tunec
