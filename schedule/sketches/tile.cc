// Register tiles for reductions.
//
// The output is split into tiles of MR rows by NR columns. A tile is stored in registers while the
// reduction runs. The columns are vector lanes. One operand depends on the columns. It is packed,
// so that the panel of a column tile is contiguous in the order of the reduction's reads. The other
// operand is broadcast. A broadcast operand may have to be computed first. Then it is computed into
// a buffer of the thread, for a block of rows that walks all columns, or in a separate phase. The
// same holds for an operand that the reduction casts to a wider type (f16 to f32). A constant
// operand is cast once, at compile time. Each block of rows with each panel is a task. The
// statements after the reduction are computed on the finished tile.
//
// An operand may be computed from another sum of few elements, as a pointwise convolution reads a
// depthwise one. Then the block computes this sum too, in separate register tiles, whose columns
// are the reduction of the second sum (chain.h).
//
// If each element along the columns is used once, as in a product of one row or a plain sum,
// several rows bring no gain. The columns are then wide, so that memory is read in long pieces, and
// some later steps are prefetched. Products that are too small for a task share one (`batches`).
//
// A long sum is added in K-blocks (pieces.h). The registers contain the sum of a K-block, which
// begins at zero. A buffer in the first-level cache contains the total.
//
// Panels that do not fit in a core's cache come from memory. Then the next panel can be prefetched
// while the current one is multiplied (`prefetch`; off unless tuning selects it).
//
// If the contract and the target allow it, an instruction multiplies pairs of bfloat16
// (dot_plan.h). Then both operands are rounded where they are packed or computed. Pairs of reduced
// neighbours are contiguous. Zeros fill the last vector of columns, the last pair, and the border
// of an image. Another instruction multiplies matrices of bfloat16 (matrix_tile.cc).
//
//   parallel: other outputs, blocks of rows, column tiles
//     row tiles of the block
//       buffer: acc[MR][NR] = 0; without K-blocks: registers, and no lines with (K-blocks)
//         K-blocks of the long reduction                       (K-blocks)
//           registers: part[MR][NR] = 0                        (K-blocks)
//             outer reductions, the long reduction, short reductions unrolled
//               rows unrolled, columns vector: part += a * b
//             rows unrolled, columns vector: acc += part       (K-blocks)
//         rows unrolled, columns vector: out = f(acc)
#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>

#include "schedule/access_analysis.h"
#include "schedule/sketches/chain.h"
#include "schedule/sketches/dot_plan.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/matrix_tile.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/tile_cost.h"
#include "schedule/sketches/tile_operands.h"
#include "schedule/sketches/tile_plan.h"
#include "schedule/sketches/tile_writer.h"
#include "schedule/sketches/wide_operands.h"

namespace tunec {
namespace {

bool IsChain(const TilePlan& plan) { return plan.operand && plan.operand->sum; }

HoldsColumns HoldsColumnsOf(const TilePlan& plan, const IsPacked& packed) {
  if (!packed || !plan.pack) return {};
  return [&](int64_t columns) { return packed(PackForColumns(plan, columns)); };
}

// Returns the tile that covers the output at the least cost.
TileSizes BestTile(const TilePlan& plan, const SketchQuestion& question, int64_t lanes) {
  const int64_t rows = plan.row ? plan.Extent(*plan.row) : 1;
  constexpr int64_t kMostVectors = 4;
  return CheapestTile(IsChain(plan) ? ChainTiles(plan, question.target, lanes, kMostVectors)
                                    : TilesFor(rows, plan.Extent(plan.column), question.target,
                                               lanes, kMostVectors, BroadcastOf(plan)),
                      HoldsColumnsOf(plan, question.packed));
}

// Returns the number of columns of the first sum's tiles, which have the rows of the second sum's
// tiles.
int64_t ChainedColumns(const TilePlan& plan, const SketchQuestion& question, int64_t rows,
                       int64_t lanes) {
  const HoldsColumns holds = HoldsColumnsOf(plan.operand->sum->plan, question.packed);
  return CheapestTile(FirstTiles(plan, question.target, rows, lanes), holds).columns;
}

// Returns the number of tasks if each block is one tile of rows.
int64_t MostBlocks(const TilePlan& plan, const TileSizes& tile) {
  int64_t blocks = plan.row ? CeilDivide(plan.Extent(*plan.row), tile.rows) : 1;
  for (const VarId iterator : plan.shared) blocks *= plan.Extent(iterator);
  for (const VarId iterator : plan.outer_rows) blocks *= plan.Extent(iterator);
  return blocks;
}

int64_t PanelsBytes(const TilePlan& plan) {
  return plan.panel_bytes_per_column * plan.Extent(plan.column);
}

// Returns 1 if each block of rows computes its part of a computed operand, 0 if a separate phase
// computes the operand. Blocks are chosen if there are enough of them for all threads. Each block
// reads all panels, so a cast has a separate phase if the panels do not fit in a core's cache.
int64_t OperandByBlock(const TilePlan& plan, const Target& target, const TileSizes& tile) {
  if (!plan.operand || !plan.row) return 0;
  if (IsChain(plan)) return 1;
  const bool is_cast = !plan.widened.empty() || plan.dot;
  if (is_cast && PanelsBytes(plan) > target.host.l2_bytes) return 0;
  return MostBlocks(plan, tile) >= 2 * target.host.threads ? 1 : 0;
}

int64_t DefaultBlock(const TilePlan& plan, const Target& target, const TileSizes& tile) {
  if (!plan.row) return 1;
  const int64_t row_tiles = CeilDivide(plan.Extent(*plan.row), tile.rows);
  int64_t column_tiles = CeilDivide(plan.Extent(plan.column), tile.columns);
  int64_t others = 1;
  for (const VarId iterator : plan.shared) others *= plan.Extent(iterator);
  if (OperandByBlock(plan, target, tile) != 0) {
    column_tiles = 1;  // the loop over column tiles is inside the tasks
    for (const VarId iterator : plan.outer_rows) others *= plan.Extent(iterator);
  }
  // A block of rows uses at most half of the second-level cache, and leaves enough tasks for all
  // threads.
  const int64_t bytes_per_tile = std::max<int64_t>(1, tile.rows * plan.panel_bytes_per_column);
  int64_t block = std::clamp<int64_t>(target.host.l2_bytes / 2 / bytes_per_tile, 1, row_tiles);
  while (block > 1 &&
         CeilDivide(row_tiles, block) * column_tiles * others < 4 * target.host.threads) {
    block /= 2;
  }
  // A block of all rows is rounded up, so that few blocks have a border. Otherwise the block is not
  // rounded, because it would store all its rows of a computed operand.
  if (block == row_tiles && (IsChain(plan) || OperandByBlock(plan, target, tile) == 0))
    block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(block)));
  return block;
}

// Returns the number of steps of the loop over the long reduction.
int64_t Steps(const TilePlan& plan) {
  const int64_t group = plan.dot ? plan.dot->intrinsic->Extent(TileAxis::kGroup) : 1;
  return plan.LongSteps() / group;
}

int64_t DefaultUnroll(const TilePlan& plan) {
  int64_t unrolled = 1;
  for (const VarId iterator : plan.short_reductions) unrolled *= plan.Extent(iterator);
  if (!plan.long_reduction) return 1;
  return unrolled >= 3 ? 1 : std::min<int64_t>(4, Steps(plan));
}

// Returns the name of the sketch. It has the column, `wide` if operands are cast beforehand, the
// instruction, and `chain` if a first sum computes the operand.
std::string NameOf(const TilePlan& plan) {
  std::string name = "tile/" + plan.reduction.iterators[plan.column].name;
  if (!plan.widened.empty()) name += "/wide";
  if (plan.dot) {
    const std::string& instruction = plan.dot->intrinsic->name;
    name += "/" + instruction.substr(0, instruction.find('.'));
  }
  if (IsChain(plan)) name += "/chain";
  return name;
}

// Returns a number of columns that is wide enough for the hardware to prefetch, and that leaves
// enough tasks for all threads. Returns 0 if there is none, or if no operand is streamed.
int64_t StreamedColumns(const TilePlan& plan, const Target& target, int64_t lanes) {
  if (StreamedOperands(plan).empty()) return 0;
  const int64_t extent = plan.Extent(plan.column);
  const int64_t others = plan.ResultsOfColumn();
  for (const int64_t columns : {16 * lanes, 8 * lanes}) {
    if (others * (extent / columns) >= 4 * target.host.threads) return columns;
  }
  return 0;
}

// Returns the number of batches of a task. Batches are added while a task has less work than pays
// for its start, and while each thread still has several tasks.
int64_t DefaultBatches(const TilePlan& plan, const Target& target) {
  constexpr double kLeastWork = 32768;
  if (plan.shared.empty() || !plan.row || plan.dot) return 1;
  int64_t others = 1;
  for (const VarId iterator : plan.shared) others *= plan.Extent(iterator);
  const double work = ProductOfExtents(plan.reduction) / static_cast<double>(others);
  int64_t batches = 1;
  while (batches < 32 && static_cast<double>(batches) * work < kLeastWork &&
         2 * batches <= plan.Extent(plan.shared.back()) &&
         others / (2 * batches) >= 8 * target.host.threads) {
    batches *= 2;
  }
  return batches;
}

// Returns the nearest choice whose accumulators fit in registers.
TileChoice Fitting(const TilePlan& plan, const Target& target, int64_t lanes, TileChoice choice) {
  const int64_t most = MostRows(target, choice.columns / lanes, BroadcastOf(plan));
  choice.rows = std::clamp<int64_t>(most, 1, choice.rows);
  if (IsChain(plan)) {
    const int64_t vectors = std::max<int64_t>(1, AccumulatorRegisters(target) / choice.rows);
    choice.operand_vector = std::min(choice.operand_vector, vectors * lanes);
  }
  if (plan.long_reduction) choice.unroll = std::min(choice.unroll, Steps(plan));
  return choice;
}

Sketch TileSketch(const TilePlan& plan, const SketchQuestion& question) {
  const Target& target = question.target;
  const Tensor& accumulator = plan.compute->tensors[plan.reduction.writes[0].tensor];
  const int64_t lanes = target.host.Lanes(static_cast<int>(SizeOf(accumulator.type)));
  TileSizes tile = BestTile(plan, question, lanes);
  const int64_t streamed = StreamedColumns(plan, target, lanes);
  if (streamed > 0) tile = {.rows = 1, .columns = streamed};
  std::vector<int64_t> columns = {lanes, 2 * lanes, 3 * lanes, 4 * lanes};
  if (streamed > 0) columns.insert(columns.end(), {8 * lanes, 16 * lanes});
  const int64_t panels_bytes = PanelsBytes(plan);
  const bool is_chain = IsChain(plan);
  Knobs<TileChoice> knobs({.operand_vector = 4 * lanes, .operand_by_block = is_chain});
  knobs.Add(KnobNear("rows", RowChoices(plan.row ? plan.Extent(*plan.row) : 1), tile.rows),
            &TileChoice::rows);
  knobs.Add(KnobNear("columns", columns, tile.columns), &TileChoice::columns);
  knobs.Add(KnobNear("block", {1, 2, 4, 8, 16, 32}, DefaultBlock(plan, target, tile)),
            &TileChoice::block);
  knobs.Add(KnobNear("unroll", {1, 2, 4, 8}, DefaultUnroll(plan)), &TileChoice::unroll);
  knobs.Add(KnobNear("columns_outside", {0, 1}, panels_bytes > target.host.l2_bytes / 2 ? 1 : 0),
            &TileChoice::columns_outside);
  knobs.Add(plan.pack_is_optional ? KnobNear("pack", {0, 1}, plan.pack_by_default ? 1 : 0)
                                  : KnobNear("pack", {plan.pack ? 1 : 0}, 1),
            &TileChoice::pack);
  if (is_chain) {
    knobs.Add(KnobNear("operand_columns", {lanes, 2 * lanes, 3 * lanes, 4 * lanes},
                       ChainedColumns(plan, question, tile.rows, lanes)),
              &TileChoice::operand_vector);
    if (!plan.outer_rows.empty()) {
      knobs.Add(KnobNear("operand_prefetch", {0, 1}, 0), &TileChoice::operand_prefetch);
    }
  } else if (plan.operand && plan.row) {
    knobs.Add(KnobNear("operand_by_block", {0, 1}, OperandByBlock(plan, target, tile)),
              &TileChoice::operand_by_block);
  }
  // Panels that do not fit in a core's cache come from memory, and the first row tile waits for
  // them.
  if (plan.pack && panels_bytes > target.host.l2_bytes / 2) {
    knobs.Add(KnobNear("prefetch", {0, 1}, 0), &TileChoice::prefetch);
  }
  if (streamed > 0) {
    const bool far = CountWork(*plan.compute).bytes > static_cast<double>(target.host.l2_bytes);
    knobs.Add(KnobNear("ahead", {0, 4, 8, 16}, far ? 8 : 0), &TileChoice::ahead);
  }
  if (const int64_t batches = DefaultBatches(plan, target); batches > 1) {
    knobs.Add(KnobNear("batches", {1, 2, 4, 8, 16, 32}, batches), &TileChoice::batches);
  }
  return MakeSketch(NameOf(plan), std::move(knobs), [plan, target, lanes](TileChoice choice) {
    return WriteTileSchedule(plan, Fitting(plan, target, lanes, choice));
  });
}

// The least estimated gain of an instruction that is tried first. The estimate does not include all
// costs of rounding.
constexpr double kWorthRounding = 1.1;

// A sketch with an instruction that multiplies pairs or matrices of bfloat16.
struct DotSketch {
  Sketch sketch;
  double gain = 0;  // estimated speed-up over plain multiply-adds; 0: unknown
};

DotSketch MakeDotSketch(const TilePlan& plan, const TilePlan& plain,
                        const SketchQuestion& question) {
  const TileIntrinsic& intrinsic = *plan.dot->intrinsic;
  const double gain = question.gain ? GainOf(plan, plain, question.gain(intrinsic)) : 0;
  if (intrinsic.Extent(TileAxis::kRow) == 1) return {TileSketch(plan, question), gain};
  return {MatrixTileSketch(NameOf(plan), plan, question.target), gain};
}

// Returns a sketch for each plain plan and each instruction that the contract allows. The sketches
// with the greatest estimated gain come first.
std::vector<DotSketch> DotSketches(const NamedCompute& lowering, const std::optional<Chain>& chain,
                                   const SketchQuestion& question) {
  std::vector<DotSketch> sketches;
  const auto instructions = DotInstructions(question.target);
  if (instructions.empty()) return {};
  const std::vector<TilePlan> plains = MakeTilePlans(lowering, question.target);
  for (const TileIntrinsic* intrinsic : instructions) {
    for (const TilePlan& plain : plains) {
      // Instructions on matrices pad the rows, which the first sum of a chain does not support.
      if (chain && intrinsic->Extent(TileAxis::kRow) > 1) continue;
      auto plan = MakeDotPlan(plain, lowering, *intrinsic, question.rounding);
      if (plan && chain && !AddFirstSum(*chain, *plan)) plan.reset();
      if (plan) sketches.push_back(MakeDotSketch(*plan, plains.front(), question));
    }
  }
  std::ranges::stable_sort(sketches, std::ranges::greater{}, &DotSketch::gain);
  return sketches;
}

}  // namespace

void AddTileSketches(const NamedCompute& lowering, const SketchQuestion& question,
                     std::vector<Sketch>& sketches) {
  const size_t first = sketches.size();
  const std::optional<Chain> chain = FindChain(lowering, question.target);
  const NamedCompute& tiled = chain ? chain->second : lowering;
  for (const WideLowering& wide : WideLowerings(tiled)) {
    for (TilePlan& plan : MakeTilePlans(wide.lowering, question.target)) {
      plan.widened = wide.steps;
      if (chain && !AddFirstSum(*chain, plan)) continue;
      CutLongSum(question.rounding, plan);
      sketches.push_back(TileSketch(plan, question));
    }
  }
  auto place = sketches.begin() + static_cast<std::ptrdiff_t>(first);
  for (DotSketch& dot : DotSketches(tiled, chain, question)) {
    if (dot.gain >= kWorthRounding) {
      place = sketches.insert(place, std::move(dot.sketch)) + 1;
    } else {
      place = sketches.insert(sketches.end(), std::move(dot.sketch));
    }
  }
}

}  // namespace tunec
