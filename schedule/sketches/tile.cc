// Register tiles for reductions.
//
// The output is cut into tiles of MR rows by NR columns that stay in registers while the
// reduction runs; the columns are vector lanes. One operand varies along the columns and is
// packed so that a column tile's panel is contiguous in the order in which the reduction reads
// it; the other is broadcast. A broadcast operand that has to be computed first is computed into a
// buffer of the thread, for a block of rows that then walks all columns, or in a phase of its own.
// So is one that the reduction casts to a wider type (f16 to f32); a constant one is cast once,
// when compiling. Blocks of rows by one panel are the tasks. What follows the reduction is computed
// on the finished tile.
//
// Where the operand is made of another sum of few elements, a depthwise convolution before a
// pointwise one, that sum is part of the block too: in register tiles of its own, whose columns are
// what this one reduces (chain.h).
//
// Where each element along the columns is used once, a product of one row or a plain sum, nothing
// is gained by rows: the columns are wide, so that memory is read in long pieces, and asked for
// some steps ahead. Products too small for a task share one (`batches`).
//
// A long sum is added in pieces (pieces.h): the registers have those of a piece, which begin at
// zero, and a buffer in the first-level cache has the total.
//
// Panels that a core's cache does not keep come from memory. Then the next one may be asked for
// while this one is multiplied (`prefetch`, off unless the tuner finds that it gains).
//
// Where the contract and the target allow it, an instruction multiplies pairs of bfloat16
// (dot_plan.h). Then both operands are rounded, each where it is packed or computed; pairs of
// reduced neighbours lie side by side; and zeros fill the last vector of columns, the last pair,
// and the border of an image. Or one multiplies matrices of them (matrix_tile.cc).
//
//   parallel: other outputs, blocks of rows, column tiles
//     row tiles of the block
//       buffer: acc[MR][NR] = 0; without pieces these are registers, and what is marked goes
//         pieces of the long reduction                         (pieces)
//           registers: part[MR][NR] = 0                        (pieces)
//             outer reductions, the long reduction, short reductions unrolled
//               rows unrolled, columns vector: part += a * b
//             rows unrolled, columns vector: acc += part       (pieces)
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

// The tile that covers the output at the least cost.
TileSizes BestTile(const TilePlan& plan, const SketchQuestion& question, int64_t lanes) {
  const int64_t rows = plan.row ? plan.Extent(*plan.row) : 1;
  constexpr int64_t kMostVectors = 4;
  return CheapestTile(IsChain(plan) ? ChainTiles(plan, question.target, lanes, kMostVectors)
                                    : TilesFor(rows, plan.Extent(plan.column), question.target,
                                               lanes, kMostVectors, BroadcastOf(plan)),
                      HoldsColumnsOf(plan, question.packed));
}

// Those of the first sum's tiles, which have the rows of the second one's.
int64_t ChainedColumns(const TilePlan& plan, const SketchQuestion& question, int64_t rows,
                       int64_t lanes) {
  const HoldsColumns holds = HoldsColumnsOf(plan.operand->sum->plan, question.packed);
  return CheapestTile(FirstTiles(plan, question.target, rows, lanes), holds).columns;
}

// Tasks when each block is one tile of rows.
int64_t MostBlocks(const TilePlan& plan, const TileSizes& tile) {
  int64_t blocks = plan.row ? CeilDivide(plan.Extent(*plan.row), tile.rows) : 1;
  for (const VarId iterator : plan.shared) blocks *= plan.Extent(iterator);
  for (const VarId iterator : plan.outer_rows) blocks *= plan.Extent(iterator);
  return blocks;
}

int64_t PanelsBytes(const TilePlan& plan) {
  return plan.panel_bytes_per_column * plan.Extent(plan.column);
}

// A computed operand is done once for a block of rows if that leaves work for every thread. Each
// block reads all panels; where those are beyond a core's cache, a cast is cheaper in a phase.
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
    column_tiles = 1;  // inside the tasks
    for (const VarId iterator : plan.outer_rows) others *= plan.Extent(iterator);
  }
  // Half of the second-level cache for the block of rows; enough tasks for every thread.
  const int64_t bytes_per_tile = std::max<int64_t>(1, tile.rows * plan.panel_bytes_per_column);
  int64_t block = std::clamp<int64_t>(target.host.l2_bytes / 2 / bytes_per_tile, 1, row_tiles);
  while (block > 1 &&
         CeilDivide(row_tiles, block) * column_tiles * others < 4 * target.host.threads) {
    block /= 2;
  }
  // Whole rows, so that few blocks have a border. A block stores all its rows of a computed
  // operand.
  if (block == row_tiles && (IsChain(plan) || OperandByBlock(plan, target, tile) == 0))
    block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(block)));
  return block;
}

// Of the long reduction's loop.
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

// Told apart by the column, by whether operands are cast beforehand, and by the instruction.
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

// Columns that lie far enough for the hardware to read ahead, as many as leave tasks for all
// threads; 0: those of the tile.
int64_t StreamedColumns(const TilePlan& plan, const Target& target, int64_t lanes) {
  if (StreamedOperands(plan).empty()) return 0;
  const int64_t extent = plan.Extent(plan.column);
  const int64_t others = plan.ResultsOfColumn();
  for (const int64_t columns : {16 * lanes, 8 * lanes}) {
    if (others * (extent / columns) >= 4 * target.host.threads) return columns;
  }
  return 0;
}

// Of a task: one has to be worth its start, and there have to be several for each thread.
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

// More accumulators than registers spill: the nearest tile that fits stands for them.
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
  // Panels that do not stay in a core's cache come from memory, and the first row tile waits.
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

// What no estimate knows, an instruction has to make up for.
constexpr double kWorthRounding = 1.1;

// By an instruction that multiplies pairs.
struct DotSketch {
  Sketch sketch;
  double gain = 0;  // over plain multiply-adds; 0: not known
};

DotSketch MakeDotSketch(const TilePlan& plan, const TilePlan& plain,
                        const SketchQuestion& question) {
  const TileIntrinsic& intrinsic = *plan.dot->intrinsic;
  const double gain = question.gain ? GainOf(plan, plain, question.gain(intrinsic)) : 0;
  if (intrinsic.Extent(TileAxis::kRow) == 1) return {TileSketch(plan, question), gain};
  return {MatrixTileSketch(NameOf(plan), plan, question.target), gain};
}

// Each plain plan by the instructions that multiply pairs, where there are some and they may; those
// that are expected to be faster first.
std::vector<DotSketch> DotSketches(const NamedCompute& lowering, const std::optional<Chain>& chain,
                                   const SketchQuestion& question) {
  std::vector<DotSketch> sketches;
  const auto instructions = DotInstructions(question.target);
  if (instructions.empty()) return {};
  const std::vector<TilePlan> plains = MakeTilePlans(lowering, question.target);
  for (const TileIntrinsic* intrinsic : instructions) {
    for (const TilePlan& plain : plains) {
      // Matrices want rows padded, which the first sum of a chain knows nothing of.
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
