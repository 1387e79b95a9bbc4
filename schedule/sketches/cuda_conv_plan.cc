#include "schedule/sketches/cuda_conv_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ir/loop_nest.h"
#include "ir/occupancy.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/cuda_tensor_plan.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_loops.h"

namespace tunec {
namespace {

constexpr int64_t kMostSums = 128;  // largest number per lane; leaves registers for operands
constexpr int64_t kTileSums = 4;    // sums of a lane in a tile of the instruction
// Least number of lines of a tile. With one line, the index in a window could be a tap alone, and
// the copy's loop would then have the tap's name.
constexpr int64_t kLeastLines = 2;

bool Contains(const std::vector<VarId>& list, VarId iterator) {
  return std::ranges::find(list, iterator) != list.end();
}

// --- roles ---

// Returns output iterators with more than one iteration. Of the two reads, only number `read` uses
// these iterators.
std::vector<VarId> OwnOutputs(const CudaTilePlan& tile, size_t read) {
  const Read& other = tile.sum.reads[1 - read];
  std::vector<VarId> own;
  for (const VarId v : tile.outputs) {
    const bool is_own =
        UsesIterator(tile.sum.reads[read].index, v) && !UsesIterator(other.index, v);
    if (is_own && tile.Extent(v) > 1) own.push_back(v);
  }
  return own;
}

// Returns the iterators in decreasing order of their strides in the read's storage. Returns nothing
// if a stride is not a positive constant.
std::optional<std::vector<VarId>> ByStride(const CudaTilePlan& tile, const Read& read,
                                           const std::vector<VarId>& iterators) {
  std::vector<std::pair<int64_t, VarId>> strides;
  for (const VarId v : iterators) {
    const auto stride = StorageStride(*tile.compute, tile.sum, read.tensor, read.index, v);
    if (!stride || *stride <= 0) return std::nullopt;
    strides.emplace_back(-*stride, v);
  }
  std::ranges::stable_sort(strides, {}, &std::pair<int64_t, VarId>::first);
  std::vector<VarId> sorted;
  for (const auto& [stride, v] : strides) sorted.push_back(v);
  return sorted;
}

// Returns the position of the read that is the image. Prefers a read with at least two iterators of
// OwnOutputs, then a read with windows, then the first read.
size_t ImageOf(const CudaTilePlan& tile) {
  const auto rank = [&](size_t read) {
    return std::pair(OwnOutputs(tile, read).size() >= 2, !tile.operands[read].windows.empty());
  };
  return rank(1) > rank(0) ? 1 : 0;
}

// Returns the channel that is contiguous in the output, else the channel with the largest extent.
VarId RowOf(const CudaTilePlan& tile, const std::vector<VarId>& channels) {
  if (Contains(channels, tile.column.iterator)) return tile.column.iterator;
  return *std::ranges::max_element(channels, {}, [&](VarId v) { return tile.Extent(v); });
}

bool SetRoles(CudaConvPlan& plan) {
  const CudaTilePlan& tile = plan.tile;
  const size_t image = ImageOf(tile);
  const std::vector<VarId> channels = OwnOutputs(tile, 1 - image);
  const auto pixels = ByStride(tile, tile.sum.reads[image], OwnOutputs(tile, image));
  if (channels.empty() || !pixels || pixels->size() < 2) return false;
  plan.row = RowOf(tile, channels);
  plan.column = pixels->back();
  plan.line = (*pixels)[pixels->size() - 2];
  for (const VarId v : tile.outputs)
    if (v != plan.row && v != plan.line && v != plan.column) plan.grid.push_back(v);
  plan.image.tensor = tile.operands[image].tensor;
  plan.weights.tensor = tile.operands[1 - image].tensor;
  for (CudaConvOperand* const operand : {&plan.image, &plan.weights}) {
    const CudaTileOperand& known =
        tile.operands[operand == &plan.image ? image : size_t{1 - image}];
    operand->index = known.index;
    operand->bytes = known.bytes;
    operand->starts = known.starts;
    for (const VarId v : ReducedIterators(tile.sum))
      if (!UsesIterator(known.index, v)) return false;
  }
  for (const VarId v : {plan.line, plan.column})
    if (!Contains(plan.image.starts, v)) plan.image.starts.push_back(v);
  return true;
}

// Returns true if the sum has two shared operands and no reductions around the K-blocks, and no
// other statement writes workspace.
bool IsProductOfTwo(const CudaTilePlan& tile) {
  return tile.sum.reads.size() == 2 && tile.outside.empty() && tile.registers.size() == 1 &&
         std::ranges::all_of(tile.operands, &CudaTileOperand::shared);
}

// --- dimensions in shared storage ---

// Returns the rank of a dimension in shared storage; dimensions of higher rank are further inside.
// The piecewise reduction is contiguous, and the instruction's rows or columns are around it.
int RankOf(const CudaConvPlan& plan, const IndexExpr& index) {
  if (index.Uses(plan.tile.piecewise)) return 3;
  if (index.Uses(plan.row) || index.Uses(plan.column)) return 2;
  return index.Uses(plan.line) ? 1 : 0;
}

// Returns true if the writer can copy the dimension. The index must be a constant in a dimension of
// one element, a window along either the line or the column, or one iterator. Grid iterators in
// `starts` may be added to the iterator.
bool IsCopied(const CudaConvPlan& plan, const CudaConvOperand& operand, size_t dimension) {
  const IndexExpr& index = operand.index[dimension];
  const TensorId tensor = *plan.tile.compute->FindTensor(operand.tensor);
  if (index.IsConstant()) return plan.tile.compute->tensors[tensor].shape[dimension] == 1;
  if (index.AsVar()) return true;
  if (index.Uses(plan.line) && index.Uses(plan.column)) return false;
  if (index.Uses(plan.line) || index.Uses(plan.column)) return true;
  IndexExpr place = index;
  for (const VarId v : plan.grid)
    if (Contains(operand.starts, v)) place -= IndexExpr::Var(v) * index.Coefficient(v);
  return (place - place.constant()).AsVar().has_value();
}

bool SetPlaces(const CudaConvPlan& plan, CudaConvOperand& operand) {
  std::vector<std::pair<int, int64_t>> ranked;
  for (size_t d = 0; d < operand.index.size(); ++d) {
    if (!IsCopied(plan, operand, d)) return false;
    ranked.emplace_back(RankOf(plan, operand.index[d]), static_cast<int64_t>(d));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int64_t>::first);
  for (const auto& [rank, dimension] : ranked) operand.dimensions.push_back(dimension);
  return true;
}

std::optional<int64_t> PieceStride(const CudaTilePlan& tile, const Read& read) {
  return StorageStride(*tile.compute, tile.sum, read.tensor, read.index, tile.piecewise);
}

// Returns true if each chunk of a copy is completely inside or completely outside of the operand,
// and padded channels are zeros. An index may add the offset of a group to the channel. The next
// group then follows the last channel, so the channels must fill whole instructions.
bool HasWholeChunks(const CudaConvPlan& plan) {
  const int64_t length = plan.tile.Extent(plan.tile.piecewise);
  for (const CudaConvOperand* operand : {&plan.weights, &plan.image}) {
    if (length % (kChunkBytes / operand->bytes) != 0) return false;
    const auto alone = [&](const IndexExpr& index) {
      return !index.Uses(plan.tile.piecewise) || index.AsVar().has_value();
    };
    const bool ends = std::ranges::all_of(operand->index, alone);
    if (!ends && length % plan.Extent(TileAxis::kReduced) != 0) return false;
  }
  return true;
}

bool SetFragment(CudaConvPlan& plan) {
  const std::vector<IndexExpr>& index = plan.tile.sum.writes[0].index;
  std::array<std::optional<int64_t>, 3> last;
  const std::array<VarId, 3> inner = {plan.line, plan.row, plan.column};
  for (size_t d = 0; d < index.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    const auto role = std::ranges::find(inner, index[d].AsVar());
    if (role == inner.end()) {
      plan.fragment.push_back(dimension);
    } else {
      last.at(static_cast<size_t>(role - inner.begin())) = dimension;
    }
  }
  for (const std::optional<int64_t>& dimension : last) {
    if (!dimension) return false;
    plan.fragment.push_back(*dimension);
  }
  return true;
}

// --- sizes ---

int64_t RowsOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return choice.row_warps * choice.row_tiles * plan.Extent(TileAxis::kRow);
}
int64_t LinesOf(const CudaConvChoice& choice) { return choice.line_warps * choice.line_tiles; }
int64_t ColumnsOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return choice.column_tiles * plan.Extent(TileAxis::kColumn);
}
int64_t PieceOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return choice.steps * plan.Extent(TileAxis::kReduced);
}
int64_t Pieces(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return CeilDivide(plan.tile.Extent(plan.tile.piecewise), PieceOf(plan, choice));
}

// Returns the number of the instruction's tiles that one warp computes.
int64_t TilesOfWarp(const CudaConvChoice& choice) {
  return choice.row_tiles * choice.line_tiles * choice.column_tiles;
}

int64_t PieceBytes(const CudaConvPlan& plan, const CudaConvChoice& choice,
                   const CudaConvOperand& operand) {
  constexpr int64_t kAlignment = 64;
  int64_t bytes = operand.bytes;
  for (const IndexExpr& index : operand.index) bytes *= SideLength(plan, choice, index);
  return CeilDivide(bytes, kAlignment) * kAlignment;
}

// Returns the bytes of both operands in shared storage, for one stage.
int64_t PieceBytes(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return PieceBytes(plan, choice, plan.weights) + PieceBytes(plan, choice, plan.image);
}

BlockUse UseOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  // Besides its sums, a lane has registers for the addresses and conditions of copies (kOthers),
  // and for the operands of one tap and half of the next tap.
  constexpr int64_t kOthers = 64;
  constexpr int64_t kLeftRegisters = 4;
  constexpr int64_t kRightRegisters = 2;
  const int64_t operands =
      choice.row_tiles * kLeftRegisters + choice.line_tiles * choice.column_tiles * kRightRegisters;
  return {.threads = choice.Warps() * kWarpThreads,
          .registers = TilesOfWarp(choice) * kTileSums + operands * 3 / 2 + kOthers,
          .shared_bytes = PieceBytes(plan, choice) * StagesOf(plan, choice)};
}

// --- time ---

// Returns the clocks that a processor needs for one K-block of a block.
double PieceClocks(const CudaConvPlan& plan, const CudaConvChoice& choice,
                   const Accelerator& device) {
  constexpr double kLineBytes = 128;  // bytes that shared storage delivers per clock
  constexpr double kCopyClocks = 2;   // clocks in which a warp copies one chunk per lane
  constexpr double kBeside = 0.2;     // fraction of the shorter time that does not overlap
  constexpr double kBarrierClocks = 50;
  const int64_t depth = PieceOf(plan, choice) * plan.Taps();
  const auto products =
      static_cast<double>(RowsOf(plan, choice) * LinesOf(choice) * ColumnsOf(plan, choice) * depth);
  const double multiply = products / MatrixRate(*plan.intrinsic, device);
  const int64_t of_warp =
      choice.row_tiles * plan.Extent(TileAxis::kRow) * plan.weights.bytes +
      choice.line_tiles * ColumnsOf(plan, choice) * plan.image.bytes;  // bytes per iteration
  const double load = static_cast<double>(choice.Warps() * of_warp * depth) / kLineBytes;
  const double copy = static_cast<double>(PieceBytes(plan, choice)) /
                      static_cast<double>(kChunkBytes * kWarpThreads) * kCopyClocks;
  return std::max(multiply, load) + kBeside * std::min(multiply, load) + copy + kBarrierClocks;
}

double BlockClocks(const CudaConvPlan& plan, const CudaConvChoice& choice,
                   const Accelerator& device, int64_t resident) {
  const auto ahead = static_cast<double>(StagesOf(plan, choice) - 1);
  return WaitClocks(resident) + PiecesClocks(static_cast<double>(Pieces(plan, choice)),
                                             PieceClocks(plan, choice, device), ahead, resident);
}

// --- choices ---

void Halve(int64_t& number) { number = std::max<int64_t>(number / 2, 1); }

// Halves the number of warps, then that of tiles, while half of the tile still covers the extent.
void FitAxis(int64_t extent, int64_t unit, int64_t& warps, int64_t& tiles) {
  while (warps * tiles > 1 && warps * tiles / 2 * unit >= extent) Halve(warps > 1 ? warps : tiles);
}

bool FitsBlock(const CudaConvPlan& plan, const CudaConvChoice& choice, const Accelerator& device) {
  constexpr int64_t kMostThreads = 1024;
  const BlockUse use = UseOf(plan, choice);
  return use.threads <= kMostThreads && use.threads * use.registers <= device.registers;
}

}  // namespace

int64_t CudaConvPlan::Taps() const {
  int64_t taps = 1;
  for (const VarId v : tile.inside) taps *= tile.Extent(v);
  return taps;
}

std::vector<PackStep> PacksOfCudaConv(const Compute& compute) {
  std::vector<PackStep> packs;
  std::optional<CudaTilePlan> tile = MakeCudaTilePlan(compute);
  if (!tile || !IsProductOfTwo(*tile)) return packs;
  for (const Read& read : tile->sum.reads) {
    if (PieceStride(*tile, read) == 1) continue;
    PackStep pack{.tensor = tile->compute->tensors[read.tensor].name, .axes = {}};
    std::vector<PackStep::Axis> last;
    for (size_t d = 0; d < read.index.size(); ++d) {
      const PackStep::Axis axis{.dimension = static_cast<int>(d)};
      (read.index[d].Uses(tile->piecewise) ? last : pack.axes).push_back(axis);
    }
    pack.axes.insert(pack.axes.end(), last.begin(), last.end());
    packs.push_back(std::move(pack));
  }
  return packs;
}

std::optional<CudaConvPlan> MakeCudaConvPlan(const Compute& compute, const Accelerator& device,
                                             const RoundingFreedom& rounding) {
  const TileIntrinsic* const intrinsic =
      MatrixInstructionFor(compute.statements.front(), device, rounding);
  if (intrinsic == nullptr) return std::nullopt;
  std::optional<CudaTilePlan> tile = MakeCudaTilePlan(compute);
  if (!tile || !IsProductOfTwo(*tile)) return std::nullopt;
  for (const Read& read : tile->sum.reads)
    if (PieceStride(*tile, read) != 1) return std::nullopt;
  CudaConvPlan plan{.tile = *std::move(tile), .intrinsic = intrinsic};
  if (!SetRoles(plan) || !SetPlaces(plan, plan.weights) || !SetPlaces(plan, plan.image) ||
      !HasWholeChunks(plan) || !SetFragment(plan))
    return std::nullopt;
  return plan;
}

int64_t TileExtent(const CudaConvPlan& plan, const CudaConvChoice& choice, VarId iterator) {
  if (iterator == plan.row) return RowsOf(plan, choice);
  if (iterator == plan.line) return LinesOf(choice);
  if (iterator == plan.column) return ColumnsOf(plan, choice);
  if (iterator == plan.tile.piecewise) return PieceOf(plan, choice);
  return Contains(plan.tile.inside, iterator) ? plan.tile.Extent(iterator) : 1;
}

int64_t BlocksOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  int64_t blocks = 1;
  for (const VarId v : plan.tile.outputs)
    blocks *= CeilDivide(plan.tile.Extent(v), TileExtent(plan, choice, v));
  return blocks;
}

int64_t SideLength(const CudaConvPlan& plan, const CudaConvChoice& choice, const IndexExpr& index) {
  int64_t length = 1;
  for (const IndexTerm& term : index.terms())
    length += term.coefficient * (TileExtent(plan, choice, term.atom.variable()) - 1);
  return length;
}

int64_t StagesOf(const CudaConvPlan& plan, const CudaConvChoice& choice) {
  return std::min(choice.stages, Pieces(plan, choice));
}

CudaConvChoice Fitted(const CudaConvPlan& plan, CudaConvChoice choice, const Accelerator& device) {
  const auto extent = [&](VarId v) { return plan.tile.Extent(v); };
  FitAxis(extent(plan.row), plan.Extent(TileAxis::kRow), choice.row_warps, choice.row_tiles);
  FitAxis(extent(plan.line), 1, choice.line_warps, choice.line_tiles);
  choice.column_tiles = std::min(choice.column_tiles,
                                 CeilDivide(extent(plan.column), plan.Extent(TileAxis::kColumn)));
  if (LinesOf(choice) < kLeastLines) choice.line_tiles = kLeastLines;
  while (TilesOfWarp(choice) * kTileSums > kMostSums)
    Halve(choice.row_tiles > 1 ? choice.row_tiles : choice.column_tiles);
  const int64_t length = extent(plan.tile.piecewise);
  const bool divides = length % plan.Extent(TileAxis::kReduced) == 0;
  while (choice.steps > 1 &&
         (divides ? length % PieceOf(plan, choice) != 0 : PieceOf(plan, choice) / 2 >= length))
    Halve(choice.steps);
  while (!FitsBlock(plan, choice, device) && choice.row_warps > 1) Halve(choice.row_warps);
  while (!FitsBlock(plan, choice, device) && LinesOf(choice) > kLeastLines && choice.line_warps > 1)
    Halve(choice.line_warps);
  const auto too_much = [&] { return UseOf(plan, choice).shared_bytes > device.shared_bytes; };
  while (too_much() && choice.stages > 2) --choice.stages;
  while (too_much() && choice.steps > 1) Halve(choice.steps);
  for (int64_t* const rows : {&choice.row_warps, &choice.row_tiles})
    while (too_much() && *rows > 1) Halve(*rows);
  while (too_much() && LinesOf(choice) > kLeastLines)
    Halve(choice.line_warps > 1 ? choice.line_warps : choice.line_tiles);
  while (too_much() && choice.column_tiles > 1) Halve(choice.column_tiles);
  if (too_much()) choice.stages = 1;
  return choice;
}

double EstimateSeconds(const CudaConvPlan& plan, const CudaConvChoice& choice,
                       const Accelerator& device) {
  const PhaseCost cost{
      .blocks = BlocksOf(plan, choice),
      .use = UseOf(plan, choice),
      .l2_bytes = static_cast<double>(Pieces(plan, choice) * PieceBytes(plan, choice))};
  return EstimateWarpSeconds(
      cost, device, [&](int64_t resident) { return BlockClocks(plan, choice, device, resident); });
}

CudaConvChoice BestCudaConv(const CudaConvPlan& plan, const Accelerator& device) {
  Cheapest<CudaConvChoice> cheapest;
  const auto consider = [&](const CudaConvChoice& wanted) {
    const CudaConvChoice choice = Fitted(plan, wanted, device);
    cheapest.Consider(choice, EstimateSeconds(plan, choice, device));
  };
  for (const int64_t row_warps : {1, 2, 4})
    for (const int64_t line_warps : {1, 2, 4})
      for (const int64_t row_tiles : {1, 2, 4})
        for (const int64_t line_tiles : {1, 2, 4})
          for (const int64_t column_tiles : {1, 2, 4, 7})
            for (const int64_t steps : {4, 2, 1})
              for (const int64_t stages : {4, 3, 2})
                consider({.row_warps = row_warps,
                          .line_warps = line_warps,
                          .row_tiles = row_tiles,
                          .line_tiles = line_tiles,
                          .column_tiles = column_tiles,
                          .steps = steps,
                          .stages = stages});
  return cheapest.Best();
}

}  // namespace tunec
