#include "schedule/sketches/cuda_tensor_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "ir/loop_nest.h"
#include "ir/occupancy.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_loops.h"

namespace tunec {
namespace {

constexpr int64_t kMostSums = 128;  // largest number per lane; leaves registers for operands
constexpr int64_t kTileSums = 4;    // sums of a lane in a tile of the instruction

// A K-block of split operands is a separate sum, with at most this number of instructions along the
// reduced dimension. Tensor cores truncate sums towards zero instead of rounding, so the errors of
// long sums do not cancel. The errors of 32 iterations are smaller than those of a float32 sum
// (docs/decisions/0019_split_float32.md). The planes of longer K-blocks would also need too many
// registers.
constexpr int64_t kMostTermSteps = 2;

// --- the instruction and the operands ---

// Returns the type of the element that the factor reads, directly or inside one cast. Returns
// nothing for any other factor.
std::optional<DataType> FactorType(const Expr& factor) {
  const Expr& read = factor.kind() == ExprKind::kCast ? factor.operands()[0] : factor;
  if (read.kind() != ExprKind::kRead) return std::nullopt;
  return read.type();
}

bool MayUse(const TileIntrinsic& intrinsic, const Accelerator& device,
            const RoundingFreedom& rounding) {
  if (intrinsic.rounds_operands && !rounding.tf32_operands) return false;
  const bool reorders = IsFloat(intrinsic.accumulator.type);
  if (reorders && rounding.order == ReductionOrder::kAsWritten) return false;
  return std::ranges::all_of(intrinsic.features, [&](const std::string& feature) {
    return device.features.contains(feature);
  });
}

}  // namespace

const TileIntrinsic* MatrixInstructionFor(const Statement& sum, const Accelerator& device,
                                          const RoundingFreedom& rounding) {
  if (sum.values.size() != 1 || !sum.values[0].Is(ScalarOp::kMul)) return nullptr;
  const auto left = FactorType(sum.values[0].operands()[0]);
  const auto right = FactorType(sum.values[0].operands()[1]);
  if (!left || left != right) return nullptr;
  const auto fits = [&](const TileIntrinsic& intrinsic) {
    return intrinsic.IsOfWarp() && intrinsic.left.type == *left &&
           sum.reducer == Reducer::Sum(intrinsic.accumulator.type) &&
           MayUse(intrinsic, device, rounding);
  };
  const auto found = std::ranges::find_if(TileIntrinsics(), fits);
  return found == TileIntrinsics().end() ? nullptr : &*found;
}

namespace {

bool HasConditions(const Statement& sum) {
  return !sum.domain.empty() ||
         std::ranges::any_of(sum.reads, [](const Read& read) { return read.guard.has_value(); });
}

// Returns the dimensions in decreasing order of their strides in memory. Dimensions whose index is
// not a single iterator come first.
std::vector<int64_t> StoredOrder(const CudaTilePlan& tile, TensorId tensor,
                                 const std::vector<IndexExpr>& index) {
  std::vector<std::pair<int64_t, int64_t>> by_stride;
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<VarId> iterator = index[d].AsVar();
    int64_t stride = std::numeric_limits<int64_t>::max();
    if (iterator)
      stride = StorageStride(*tile.compute, tile.sum, tensor, index, *iterator).value_or(stride);
    by_stride.emplace_back(-stride, static_cast<int64_t>(d));
  }
  std::ranges::stable_sort(by_stride, {}, &std::pair<int64_t, int64_t>::first);
  std::vector<int64_t> order;
  for (const auto& [stride, dimension] : by_stride) order.push_back(dimension);
  return order;
}

// Returns a divisor of all storage distances between elements at different values of the iterator.
// Without a constant stride (in a quotient), this is the greatest common divisor of the strides of
// the dimensions that use the iterator.
int64_t StepOf(const CudaTilePlan& tile, const Read& read, VarId v) {
  const auto stride = [&](const std::vector<IndexExpr>& index) {
    return StorageStride(*tile.compute, tile.sum, read.tensor, index, v);
  };
  if (const std::optional<int64_t> known = stride(read.index)) return *known;
  int64_t common = 0;
  for (size_t d = 0; d < read.index.size(); ++d) {
    if (!read.index[d].Uses(v)) continue;
    std::vector<IndexExpr> alone(read.index.size(), IndexExpr(0));
    alone[d] = IndexExpr::Var(v);
    common = std::gcd(common, stride(alone).value_or(1));
  }
  return common;
}

// Returns the number of contiguous elements, at most 16 bytes, that a thread copies at once. The
// number divides the extent of `along` and the strides of the other iterators, so that chunks are
// aligned wherever a tile begins. Returns 1 if such a chunk would have less than 4 bytes.
int64_t ChunkOf(const CudaTilePlan& tile, const Read& read, VarId along) {
  constexpr int64_t kLeastBytes = 4;  // least size of an asynchronous copy
  const auto bytes = static_cast<int64_t>(SizeOf(tile.compute->tensors[read.tensor].type));
  int64_t common = std::gcd(kChunkBytes / bytes, tile.Extent(along));
  for (const VarId v : tile.sum.iterators.ids()) {
    if (v == along || tile.Extent(v) == 1 || !UsesIterator(read.index, v)) continue;
    common = std::gcd(common, StepOf(tile, read, v));
  }
  return common * bytes < kLeastBytes ? 1 : common;
}

// Returns the operand. Returns nothing if neither the piecewise reduction nor `across` is
// contiguous in memory.
std::optional<CudaTensorOperand> OperandOf(const CudaTilePlan& tile, const Read& read,
                                           VarId across) {
  const Tensor& tensor = tile.compute->tensors[read.tensor];
  CudaTensorOperand operand{.tensor = tensor.name,
                            .index = read.index,
                            .bytes = static_cast<int64_t>(SizeOf(tensor.type)),
                            .across = across,
                            .dimensions = StoredOrder(tile, read.tensor, read.index)};
  const auto is_contiguous = [&](VarId v) {
    return StorageStride(*tile.compute, tile.sum, read.tensor, read.index, v) == 1;
  };
  operand.along_reduced = is_contiguous(tile.piecewise);
  if (!operand.along_reduced && !is_contiguous(across)) return std::nullopt;
  operand.chunk = ChunkOf(tile, read, operand.along_reduced ? tile.piecewise : across);
  return operand;
}

// Returns the reduction that selects the planes of operands. Returns nothing if there are no
// planes, or if several reductions select them.
std::optional<VarId> FindPartProduct(const CudaTilePlan& tile) {
  std::optional<VarId> part_product;
  for (const CudaTileOperand& operand : tile.operands) {
    for (const size_t d : operand.planes) {
      std::vector<VarId> used;
      operand.index[d].CollectVars(used);
      for (const VarId v : used) {
        if (part_product && *part_product != v) return std::nullopt;
        part_product = v;
      }
    }
  }
  return part_product;
}

void SetPlanes(const CudaTilePlan& tile, VarId part_product, CudaTensorOperand& operand) {
  const Tensor& tensor = tile.compute->tensors[*tile.compute->FindTensor(operand.tensor)];
  for (size_t d = 0; d < operand.index.size(); ++d) {
    if (!operand.index[d].Uses(part_product)) continue;
    operand.plane = d;
    operand.planes = tensor.shape[d];
  }
}

// Sets the left operand, for the rows, and the right operand, for the columns. Returns false if the
// operands do not fit, for example if one does not use all reductions.
bool SetOperands(CudaTensorPlan& plan) {
  const CudaTilePlan& tile = plan.tile;
  if (tile.sum.reads.size() != 2) return false;
  plan.part_product = FindPartProduct(tile);
  const bool boxes = std::ranges::all_of(tile.operands, [&](const CudaTileOperand& operand) {
    return operand.shared ? operand.windows.empty() : plan.part_product && !operand.planes.empty();
  });
  const size_t left = tile.operands[0].depends_on_row ? 0 : 1;
  const CudaTileOperand& rows = tile.operands[left];
  const CudaTileOperand& columns = tile.operands[1 - left];
  if (!boxes || !rows.depends_on_row || rows.depends_on_column || !columns.depends_on_column ||
      columns.depends_on_row)
    return false;
  for (const VarId v : ReducedIterators(tile.sum))
    if (!UsesIterator(rows.index, v) || !UsesIterator(columns.index, v)) return false;
  auto of_rows = OperandOf(tile, tile.sum.reads[left], tile.row.iterator);
  auto of_columns = OperandOf(tile, tile.sum.reads[1 - left], tile.column.iterator);
  if (!of_rows || !of_columns) return false;
  if (plan.part_product) {
    SetPlanes(tile, *plan.part_product, *of_rows);
    SetPlanes(tile, *plan.part_product, *of_columns);
  }
  plan.left = *std::move(of_rows);
  plan.right = *std::move(of_columns);
  return true;
}

// Returns the number of elements of a chunk. Without padding, a chunk has 16 bytes.
int64_t ChunkUnit(const CudaTensorPlan& plan, const CudaTensorOperand& operand) {
  return plan.padded ? operand.chunk : kChunkBytes / operand.bytes;
}
// Return the unit of the rows and that of the columns. Without padding, the extent must be a
// multiple of the unit. The unit is the instruction's extent, or a longer chunk if the operand is
// contiguous along the axis.
int64_t RowUnit(const CudaTensorPlan& plan) {
  const int64_t chunk = plan.left.along_reduced ? 1 : ChunkUnit(plan, plan.left);
  return std::max(plan.Extent(TileAxis::kRow), chunk);
}
int64_t ColumnUnit(const CudaTensorPlan& plan) {
  const int64_t chunk = plan.right.along_reduced ? 1 : ChunkUnit(plan, plan.right);
  return std::max(plan.Extent(TileAxis::kColumn), chunk);
}

bool FillsInstructions(const CudaTensorPlan& plan) {
  if (plan.padded) return plan.tile.pads_pieces;
  return plan.tile.row.extent % RowUnit(plan) == 0 &&
         plan.tile.column.extent % ColumnUnit(plan) == 0 &&
         plan.tile.Extent(plan.tile.piecewise) % plan.Extent(TileAxis::kReduced) == 0;
}

// Sets the order of the fragment's dimensions, with the row and the column last. Returns false
// unless both the row alone and the column alone index the sum's write.
bool SetFragment(CudaTensorPlan& plan) {
  const std::vector<IndexExpr>& index = plan.tile.sum.writes[0].index;
  std::optional<int64_t> row;
  std::optional<int64_t> column;
  for (size_t d = 0; d < index.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    const std::optional<VarId> iterator = index[d].AsVar();
    if (iterator == plan.tile.row.iterator) {
      row = dimension;
    } else if (iterator == plan.tile.column.iterator) {
      column = dimension;
    } else {
      plan.fragment.push_back(dimension);
    }
  }
  if (!row || !column) return false;
  plan.fragment.insert(plan.fragment.end(), {*row, *column});
  return true;
}

void SetLoops(CudaTensorPlan& plan) {
  const CudaTilePlan& tile = plan.tile;
  for (const VarId v : tile.outputs)
    if (v != tile.row.iterator && v != tile.column.iterator) plan.grid.push_back(v);
  for (const VarId v : ReducedIterators(tile.sum))
    if (v != tile.piecewise && v != plan.part_product) plan.outside.push_back(v);
}

// --- sizes ---

int64_t RowsOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  return choice.row_warps * choice.row_tiles * plan.Extent(TileAxis::kRow);
}
int64_t ColumnsOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  return choice.column_warps * choice.column_tiles * plan.Extent(TileAxis::kColumn);
}
int64_t PieceOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  return choice.steps * plan.Extent(TileAxis::kReduced);
}

// Returns the bytes of both operands in shared storage, for one stage.
int64_t PieceBytes(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  return PieceOf(plan, choice) * (RowsOf(plan, choice) * plan.left.bytes * plan.left.planes +
                                  ColumnsOf(plan, choice) * plan.right.bytes * plan.right.planes);
}

// Returns the number of products of bf16 parts for one product of elements; 1 if operands are not
// split.
int64_t ProductsOf(const CudaTensorPlan& plan) {
  return plan.part_product ? plan.tile.Extent(*plan.part_product) : 1;
}

// Returns the number of sums in a lane's registers. With split operands, the number includes the
// separate sums of the current K-block.
int64_t SumsOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  return (plan.part_product ? 2 : 1) * choice.row_tiles * choice.column_tiles * kTileSums;
}

BlockUse UseOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  // Besides its sums, a lane has registers for addresses and copies (kOthers), and for the operands
  // of one step and half of the next step. With split operands, a plane stays in registers for all
  // steps.
  constexpr int64_t kOthers = 48;
  constexpr int64_t kLeftRegisters = 4;
  constexpr int64_t kRightRegisters = 2;
  const int64_t operands =
      (choice.row_tiles * kLeftRegisters + choice.column_tiles * kRightRegisters) *
      (plan.part_product ? choice.steps : 1);
  return {.threads = choice.Warps() * kWarpThreads,
          .registers = SumsOf(plan, choice) + operands * 3 / 2 + kOthers,
          .shared_bytes = PieceBytes(plan, choice) * StagesOf(plan, choice)};
}

int64_t BlocksOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  int64_t blocks = 1;
  for (const VarId v : plan.tile.outputs)
    blocks *= CeilDivide(plan.tile.Extent(v), TileExtent(plan, choice, v));
  return blocks;
}

// Returns the number of K-blocks that one block processes.
double PiecesOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  const int64_t length = plan.tile.Extent(plan.tile.piecewise);
  return plan.tile.reductions / static_cast<double>(length * ProductsOf(plan)) *
         static_cast<double>(CeilDivide(length, PieceOf(plan, choice)));
}

// --- time ---

}  // namespace

double MatrixRate(const TileIntrinsic& intrinsic, const Accelerator& device) {
  switch (intrinsic.left.type) {
    case DataType::kF32:
      return static_cast<double>(device.matrix_tf32);
    case DataType::kI8:
      return static_cast<double>(device.matrix_i8);
    default:
      return static_cast<double>(device.matrix_f16);
  }
}

namespace {

// Returns the clocks of the load unit for one warp's operand of one matrix instruction. Operands
// that are loaded as matrices, in rows of 16 bytes, need one clock per 128 bytes. Other operands
// are loaded one element per lane at a time, with bank conflicts.
double LoadClocks(const TileOperand& fragment, const CudaTensorOperand& operand) {
  constexpr double kLineBytes = 128;
  constexpr double kShareBank = 2;
  const auto elements = static_cast<double>(ElementsOfLane(*fragment.owners));
  const bool matrices = operand.along_reduced || operand.bytes == 2;
  if (!matrices) return kShareBank * elements;
  return elements * static_cast<double>(operand.bytes * kWarpThreads) / kLineBytes;
}

// Returns the additional clocks of a K-block's copies if chunks have less than 16 bytes.
double NarrowCopyClocks(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  constexpr double kClocks = 2;  // for one copy by a warp, with its address and its condition
  double copies = 0;             // additional copies by single lanes
  for (const auto& [operand, lines] : {std::pair(&plan.left, RowsOf(plan, choice)),
                                       std::pair(&plan.right, ColumnsOf(plan, choice))}) {
    const auto elements = static_cast<double>(lines * PieceOf(plan, choice));
    const int64_t wide = kChunkBytes / operand->bytes;
    copies += elements * (1 / static_cast<double>(operand->chunk) - 1 / static_cast<double>(wide));
  }
  return kClocks * copies / kWarpThreads;
}

// Returns true if an operand's chunks are too small for asynchronous copies. Each K-block then
// waits for its own copy.
bool LoadsAtOnce(const CudaTensorPlan& plan) {
  constexpr int64_t kLeastBytes = 4;
  return std::min(plan.left.chunk * plan.left.bytes, plan.right.chunk * plan.right.bytes) <
         kLeastBytes;
}

// Returns the clocks in which lanes add the sums of a K-block to the total sums; 0 if operands are
// not split.
double AddClocks(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                 const Accelerator& device) {
  if (!plan.part_product) return 0;
  const auto sums = static_cast<double>(RowsOf(plan, choice) * ColumnsOf(plan, choice));
  return sums / static_cast<double>(device.multiply_adds);
}

double PieceClocks(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                   const Accelerator& device) {
  const auto products =
      static_cast<double>(RowsOf(plan, choice) * ColumnsOf(plan, choice) * PieceOf(plan, choice));
  const double multiply =
      products * static_cast<double>(ProductsOf(plan)) / MatrixRate(*plan.intrinsic, device);
  const double of_warp = static_cast<double>(choice.row_tiles * plan.left.planes) *
                             LoadClocks(plan.intrinsic->left, plan.left) +
                         static_cast<double>(choice.column_tiles * plan.right.planes) *
                             LoadClocks(plan.intrinsic->right, plan.right);
  const double load = static_cast<double>(choice.Warps() * choice.steps) * of_warp;
  constexpr double kBeside = 0.2;        // fraction of the shorter time that does not overlap
  constexpr double kBarrierClocks = 50;  // a barrier and the start of a K-block
  return std::max(multiply, load) + kBeside * std::min(multiply, load) + kBarrierClocks +
         NarrowCopyClocks(plan, choice) + AddClocks(plan, choice, device);
}

// Returns the clocks of a block. The wait for the first K-block is the same for all choices and is
// left out.
double BlockClocks(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                   const Accelerator& device, int64_t resident) {
  const double pieces = PiecesOf(plan, choice);
  const double clocks = PieceClocks(plan, choice, device);
  if (pieces == 1) return clocks;
  const auto ahead = LoadsAtOnce(plan) ? 0 : static_cast<double>(StagesOf(plan, choice) - 1);
  return PiecesClocks(pieces, clocks, ahead, resident);
}

// --- choices ---

void Halve(int64_t& number) { number = std::max<int64_t>(number / 2, 1); }

// Halves the number of warps, then that of tiles, until warps * tiles * unit divides the extent or
// both are 1.
void FitAxis(int64_t extent, int64_t unit, int64_t& warps, int64_t& tiles) {
  while (extent % (warps * tiles * unit) != 0 && warps * tiles > 1)
    Halve(warps > 1 ? warps : tiles);
}

// Halves the number of warps, then that of tiles, until warps * tiles * unit is less than twice the
// extent or both are 1.
void FitPaddedAxis(int64_t extent, int64_t unit, int64_t& warps, int64_t& tiles) {
  while (warps * tiles * unit >= 2 * extent && warps * tiles > 1) Halve(warps > 1 ? warps : tiles);
}

int64_t RoundUp(int64_t number, int64_t multiple) {
  return CeilDivide(number, multiple) * multiple;
}

void FitAxes(const CudaTensorPlan& plan, CudaTensorChoice& choice) {
  const auto fit = plan.padded ? FitPaddedAxis : FitAxis;
  fit(RoundUp(plan.tile.row.extent, RowUnit(plan)), plan.Extent(TileAxis::kRow), choice.row_warps,
      choice.row_tiles);
  fit(RoundUp(plan.tile.column.extent, ColumnUnit(plan)), plan.Extent(TileAxis::kColumn),
      choice.column_warps, choice.column_tiles);
  const int64_t reduced = plan.tile.Extent(plan.tile.piecewise);
  const auto too_long = [&] {
    const int64_t piece = PieceOf(plan, choice);
    return plan.padded ? choice.steps > 1 && piece >= 2 * reduced : reduced % piece != 0;
  };
  while (too_long()) Halve(choice.steps);
}

bool FitsBlock(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
               const Accelerator& device) {
  constexpr int64_t kMostThreads = 1024;
  const BlockUse use = UseOf(plan, choice);
  return use.threads <= kMostThreads && use.threads * use.registers <= device.registers;
}

std::optional<CudaTensorPlan> PlanOf(const Compute& compute, std::optional<CudaTilePlan> tile,
                                     const Accelerator& device, const RoundingFreedom& rounding) {
  const TileIntrinsic* const intrinsic =
      MatrixInstructionFor(compute.statements.front(), device, rounding);
  if (intrinsic == nullptr || !tile) return std::nullopt;
  CudaTensorPlan plan{.tile = *std::move(tile), .intrinsic = intrinsic};
  plan.padded = plan.tile.padded;
  // The sums must be the only workspace tensor that the statements write.
  if (plan.tile.registers.size() != 1) return std::nullopt;
  if (!SetOperands(plan) || !FillsInstructions(plan) || !SetFragment(plan)) return std::nullopt;
  SetLoops(plan);
  // With split operands, a fragment has the sums of one K-block only, so no reduction may be around
  // the K-blocks. Padding does not support planes.
  if (plan.part_product && (plan.padded || !plan.outside.empty())) return std::nullopt;
  return plan;
}

}  // namespace

std::optional<CudaTensorPlan> MakeCudaTensorPlan(const Compute& compute, const Accelerator& device,
                                                 const RoundingFreedom& rounding) {
  if (HasConditions(compute.statements.front())) return std::nullopt;
  return PlanOf(compute, MakeCudaTilePlan(compute), device, rounding);
}

std::optional<CudaTensorPlan> MakePaddedCudaTensorPlan(const Compute& compute,
                                                       const Accelerator& device,
                                                       const RoundingFreedom& rounding) {
  return PlanOf(compute, MakePaddedCudaTilePlan(compute, rounding.order), device, rounding);
}

int64_t TileExtent(const CudaTensorPlan& plan, const CudaTensorChoice& choice, VarId iterator) {
  if (iterator == plan.tile.row.iterator) return RowsOf(plan, choice);
  if (iterator == plan.tile.column.iterator) return ColumnsOf(plan, choice);
  return iterator == plan.tile.piecewise ? PieceOf(plan, choice) : 1;
}

int64_t StagesOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  const int64_t length = plan.tile.Extent(plan.tile.piecewise);
  return std::min(choice.stages, CeilDivide(length, PieceOf(plan, choice)));
}

std::optional<PadStep> PaddingOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice) {
  PadStep pad{plan.tile.sum.name, {}};
  for (const VarId v : {plan.tile.row.iterator, plan.tile.column.iterator, plan.tile.piecewise}) {
    const int64_t tile = TileExtent(plan, choice, v);
    if (plan.tile.Extent(v) % tile != 0) pad.multiples.push_back({plan.tile.Name(v), tile});
  }
  const bool has_conditions = !plan.tile.compute->statements.front().domain.empty();
  return pad.multiples.empty() && !has_conditions ? std::nullopt : std::optional(std::move(pad));
}

CudaTensorChoice Fitted(const CudaTensorPlan& plan, CudaTensorChoice choice,
                        const Accelerator& device) {
  const int64_t least_columns = ColumnUnit(plan) / plan.Extent(TileAxis::kColumn);
  choice.column_tiles = std::max(choice.column_tiles, least_columns);
  while (SumsOf(plan, choice) > kMostSums)
    Halve(choice.row_tiles > choice.column_tiles ? choice.row_tiles : choice.column_tiles);
  if (plan.part_product) choice.steps = std::min(choice.steps, kMostTermSteps);
  FitAxes(plan, choice);
  while (!FitsBlock(plan, choice, device) && choice.Warps() > 1)
    Halve(choice.row_warps > 1 ? choice.row_warps : choice.column_warps);
  const auto too_much = [&] { return UseOf(plan, choice).shared_bytes > device.shared_bytes; };
  while (too_much() && choice.stages > 2) --choice.stages;
  while (too_much() && choice.steps > 1) Halve(choice.steps);
  for (int64_t* const warps : {&choice.row_warps, &choice.column_warps})
    while (too_much() && *warps > 1) Halve(*warps);
  if (too_much()) choice.stages = 1;
  const int64_t rows = CeilDivide(plan.tile.row.extent, RowsOf(plan, choice));
  while (rows % choice.band != 0) Halve(choice.band);
  return choice;
}

double EstimateSeconds(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                       const Accelerator& device) {
  const PhaseCost cost{
      .blocks = BlocksOf(plan, choice),
      .use = UseOf(plan, choice),
      .l2_bytes = PiecesOf(plan, choice) * static_cast<double>(PieceBytes(plan, choice))};
  return EstimateWarpSeconds(
      cost, device, [&](int64_t resident) { return BlockClocks(plan, choice, device, resident); });
}

CudaTensorChoice BestCudaTensor(const CudaTensorPlan& plan, const Accelerator& device) {
  Cheapest<CudaTensorChoice> cheapest;
  const auto consider = [&](const CudaTensorChoice& wanted) {
    const CudaTensorChoice choice = Fitted(plan, wanted, device);
    cheapest.Consider(choice, EstimateSeconds(plan, choice, device));
  };
  for (const int64_t row_warps : {1, 2, 4})
    for (const int64_t column_warps : {1, 2, 4})
      for (const int64_t row_tiles : {1, 2, 4})
        for (const int64_t column_tiles : {1, 2, 4, 8})
          for (const int64_t steps : {4, 2, 1})
            for (const int64_t stages : {4, 3, 2})
              consider({.row_warps = row_warps,
                        .column_warps = column_warps,
                        .row_tiles = row_tiles,
                        .column_tiles = column_tiles,
                        .steps = steps,
                        .stages = stages});
  return cheapest.Best();
}

}  // namespace tunec
