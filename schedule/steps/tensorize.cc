// tensorize: replaces a loop and the loops inside it, around one sum of products, by one
// instruction of the table in ir/tile_intrinsic.h.
//
// A loop is over rows or columns if the accumulator's index uses it; the other loops are reduced.
// Several orders of the loops may fit the extents (a square tile). The first of them that matches
// the layout of all operands is used. If none matches, the error of the first one is reported.
//
// The instances of a tile depend on each other only through the accumulator that they add to. If
// the accuracy contract allows any order of a reduction, it therefore allows any order of these
// instances.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "ir/tile_intrinsic.h"
#include "polyhedral/generate/make_store.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const TensorizeStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "tensorize {} {}: {}", step.loop, step.intrinsic, why);
}

// A chain of loops from a node down to the only statement inside.
struct Chain {
  std::vector<VarId> loops;
  StatementId statement;
};

Result<Chain> CollectChain(const ScheduleTree& tree, const TensorizeStep& step, VarId outermost) {
  Chain chain;
  const TreeNode* node = PathToLoop(tree.root, outermost).back();
  for (; node->kind == TreeNode::Kind::kLoop; node = &node->children[0]) {
    const TreeLoop& loop = tree.loops[node->loop];
    if (loop.in_tile || !loop.cuts.empty() || !loop.prefetches.empty() || NumbersTasks(loop.kind) ||
        IsBlock(loop.kind)) {
      return Reject(
          step,
          fmt::format("loop {} is of a tile, of tasks or threads, peeled or prefetches already",
                      loop.name));
    }
    chain.loops.push_back(node->loop);
  }
  if (node->kind != TreeNode::Kind::kLeaf) {
    return Reject(step, "it must contain one statement and no storage");
  }
  chain.statement = node->statement;
  return chain;
}

std::vector<int> AxesOf(const TileIntrinsic& intrinsic) {
  std::vector<int> axes;
  for (int axis = 0; axis < kTileAxes; ++axis) {
    if (intrinsic.extents[axis] > 1) axes.push_back(axis);
  }
  return axes;
}

// Checks that each loop has the extent of its axis. The written index must use a loop exactly if
// the loop's axis is rows or columns.
bool Fits(const ScheduleTree& tree, const TileIntrinsic& intrinsic, const std::vector<int>& axes,
          const std::vector<VarId>& loops, const Store& store) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<TileAxis>(axes[i]);
    const bool reduced = axis == TileAxis::kReduced || axis == TileAxis::kGroup;
    const bool written = std::ranges::any_of(
        store.writes[0].index, [&](const IndexExpr& index) { return index.Uses(loops[i]); });
    if (tree.loops[loops[i]].extent != intrinsic.extents[axes[i]] || written == reduced) {
      return false;
    }
  }
  return true;
}

// Returns a nest with the tile only. Its loops have the order of `loops` and the variables of the
// tree's loops.
LoopNest TrialNest(const ScheduleTree& tree, const std::string& intrinsic,
                   const std::vector<VarId>& loops, const Store& store) {
  Body body;
  body.emplace_back(store);
  for (size_t i = loops.size(); i-- > 0;) {
    Loop loop{.var = loops[i],
              .lower = {IndexExpr(0)},
              .upper = {IndexExpr(tree.loops[loops[i]].extent)}};
    loop.body = std::move(body);
    body = {};
    body.emplace_back(std::move(loop));
  }
  LoopNest nest{.tensors = tree.tensors};
  nest.phases.push_back({"", {}});
  nest.phases[0].body.emplace_back(Tile{intrinsic, std::move(body)});
  return nest;
}

std::string Describe(const ScheduleTree& tree, const TileIntrinsic& intrinsic,
                     const std::vector<int>& axes, const std::vector<VarId>& loops) {
  std::vector<std::string> expected, found;
  for (const int axis : axes) {
    expected.push_back(
        fmt::format("{} of {}", Name(static_cast<TileAxis>(axis)), intrinsic.extents[axis]));
  }
  for (const VarId loop : loops) {
    found.push_back(fmt::format("{} of {}", tree.loops[loop].name, tree.loops[loop].extent));
  }
  return fmt::format("expected loops over {}; there are {}", fmt::join(expected, ", "),
                     fmt::join(found, ", "));
}

}  // namespace

Status Apply(ScheduleTree& tree, const TensorizeStep& step) {
  const TileIntrinsic* intrinsic = FindTileIntrinsic(step.intrinsic);
  if (intrinsic == nullptr) return Reject(step, "there is no such intrinsic");
  TUNEC_ASSIGN(const VarId outermost, LoopNamed(tree, step.loop));
  TUNEC_ASSIGN(const Chain chain, CollectChain(tree, step, outermost));
  const std::vector<int> axes = AxesOf(*intrinsic);
  const Statement& statement = tree.statements[chain.statement];
  const StoreSite site{.ranges = tree.LoopIntervals(), .to_nest = [&](const IndexExpr& index) {
                         return Simplify(index, tree.LoopIntervals());
                       }};
  const Store store = MakeStore(statement, tree.inverse[chain.statement], site);
  for (const Read& read : store.reads) {
    const auto home = [&](TensorId id) { return tree.tensors[id].alias.value_or(id); };
    if (home(read.tensor) != home(store.writes[0].tensor)) continue;
    return Reject(
        step, fmt::format("{} is an operand and the accumulator", tree.tensors[read.tensor].name));
  }
  if (chain.loops.size() != axes.size()) {
    return Reject(step, Describe(tree, *intrinsic, axes, chain.loops));
  }
  std::vector<VarId> loops = chain.loops;
  std::ranges::sort(loops);
  std::optional<std::string> why;
  do {
    if (!Fits(tree, *intrinsic, axes, loops, store)) continue;
    const LoopNest trial = TrialNest(tree, step.intrinsic, loops, store);
    const auto parts = MatchTile(std::get<Tile>(trial.phases[0].body[0].value), trial);
    if (parts) {
      for (const VarId loop : loops) tree.loops[loop].in_tile = true;
      tree.loops[outermost].tile = LoopTile{step.intrinsic, loops};
      return {};
    }
    if (!why) why = parts.error().message;
  } while (std::ranges::next_permutation(loops).found);
  return Reject(step, why ? *why : Describe(tree, *intrinsic, axes, chain.loops));
}

}  // namespace tunec
