// Register tiles of an instruction on matrices (amx.bf16).
//
// A group of two by two accumulators stays in registers during a K-block. If the output has only
// one row or column of accumulators, a group has up to four in the other direction. Rows, columns
// and depth are padded to complete instructions, because an incomplete instruction costs as much.
// Both operands are bfloat16, rounded if necessary. They are stored in tiles of one instruction, in
// the order of the loops. The left operand of a block of rows can also be stored row by row in the
// task's buffer. The task also stores the sums in a buffer, from which the followers read them.
//
//   parallel: other outputs, blocks of rows, groups of columns
//     sums[rows of the block][columns] = 0
//     outer reductions, K-blocks of the long reduction
//       groups of rows
//         steps of the K-block: load left x 2, right x 2; 2 x 2 products
//     rows, columns vector: out = f(sums)
#include "schedule/sketches/matrix_tile.h"

#include <algorithm>

#include "schedule/sketches/knobs.h"
#include "schedule/sketches/matrix_writer.h"

namespace tunec {
namespace {

// Number of accumulators of AMX that a loop may keep in registers.
constexpr int64_t kAccumulators = 4;
// Number of steps (of 32 bfloat16) in a K-block. A group of tiles reads at most 32 KiB of each
// operand in a K-block. Repeated reads hit the second-level cache, or even the first. A reduction
// of at most kMostStepsUncut steps is not split.
constexpr int64_t kStepsOfBlock = 16;
constexpr int64_t kMostStepsUncut = 24;

// Largest number of groups in the initial block; their sums take 32 KiB.
constexpr int64_t kGroupsOfSums = 8;

int64_t TilesOf(const TilePlan& plan, VarId iterator, TileAxis axis) {
  return CeilDivide(plan.Extent(iterator), plan.dot->intrinsic->Extent(axis));
}

int64_t DefaultDepth(const TilePlan& plan) {
  return StepsOf(plan) > kMostStepsUncut ? kStepsOfBlock : 0;
}

// Returns the initial number of groups in a block. The left operand of a block should fit in half
// of the second-level cache, and every thread should have four tasks.
int64_t DefaultBlock(const TilePlan& plan, const Target& target, const MatrixChoice& tile) {
  const int64_t groups = CeilDivide(TilesOf(plan, *plan.row, TileAxis::kRow), tile.rows);
  int64_t others = CeilDivide(TilesOf(plan, plan.column, TileAxis::kColumn), tile.columns);
  for (const VarId iterator : plan.shared) others *= plan.Extent(iterator);
  const int64_t bytes_of_row =
      plan.reduction_size * plan.dot->row_planes * static_cast<int64_t>(SizeOf(DataType::kBF16));
  const int64_t bytes_of_group =
      std::max<int64_t>(1, tile.rows * plan.dot->intrinsic->Extent(TileAxis::kRow) * bytes_of_row);
  int64_t block = std::clamp<int64_t>(target.host.l2_bytes / 2 / bytes_of_group, 1,
                                      std::min(groups, kGroupsOfSums));
  while (block > 1 && CeilDivide(groups, block) * others < 4 * target.host.threads) block /= 2;
  return block;
}

MatrixChoice DefaultTile(const TilePlan& plan) {
  const int64_t rows = TilesOf(plan, *plan.row, TileAxis::kRow);
  const int64_t columns = TilesOf(plan, plan.column, TileAxis::kColumn);
  MatrixChoice tile{.rows = std::min<int64_t>(2, rows)};
  tile.columns = std::min(kAccumulators / tile.rows, columns);
  tile.columns = tile.columns == 3 ? 2 : tile.columns;
  if (tile.columns == 1) tile.rows = rows >= kAccumulators ? kAccumulators : tile.rows;
  return tile;
}

}  // namespace

int64_t InitialBlocksOfSum(const TilePlan& plan) {
  const int64_t depth = DefaultDepth(plan);
  return depth == 0 ? 1 : CeilDivide(StepsOf(plan), depth);
}

Sketch MatrixTileSketch(const std::string& name, const TilePlan& plan, const Target& target) {
  MatrixChoice initial = DefaultTile(plan);
  initial.block = DefaultBlock(plan, target, initial);
  initial.depth = DefaultDepth(plan);
  const int64_t panels = plan.panel_bytes_per_column * plan.Extent(plan.column);
  initial.columns_outside = panels > target.host.l2_bytes / 2;
  initial.operand_vector = 4 * plan.dot->intrinsic->Extent(TileAxis::kColumn);
  Knobs<MatrixChoice> knobs(initial);
  knobs.AddAround("rows", {1, 2, 4}, &MatrixChoice::rows);
  knobs.AddAround("columns", {1, 2, 4}, &MatrixChoice::columns);
  knobs.AddAround("block", {1, 2, 4, 8, 16, 32}, &MatrixChoice::block);
  knobs.AddAround("depth", {0, 4, 8, 16, 24, 32}, &MatrixChoice::depth);
  knobs.Add(KnobAt("columns_outside", {0, 1}, initial.columns_outside ? 1 : 0),
            &MatrixChoice::columns_outside);
  if (plan.operand) {
    knobs.Add(KnobAt("operand_by_block", {0, 1}, 0), &MatrixChoice::operand_by_block);
  }
  return MakeSketch(name, std::move(knobs), [plan](MatrixChoice choice) {
    choice.columns = std::min(choice.columns, TilesOf(plan, plan.column, TileAxis::kColumn));
    choice.rows = std::min(choice.rows, TilesOf(plan, *plan.row, TileAxis::kRow));
    choice.rows = std::clamp<int64_t>(kAccumulators / choice.columns, 1, choice.rows);
    const int64_t groups = CeilDivide(TilesOf(plan, *plan.row, TileAxis::kRow), choice.rows);
    choice.block = std::min(choice.block, groups);
    return WriteMatrixSchedule(plan, choice);
  });
}

}  // namespace tunec
