#include "schedule/sketches/cuda_tensor_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/loop_nest.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/device_loops.h"
#include "schedule/sketches/warp_loops.h"

namespace tunec {
namespace {

class CudaTensorWriter {
 public:
  CudaTensorWriter(const CudaTensorPlan& plan, const CudaTensorChoice& choice, Schedule& schedule)
      : plan_(plan), choice_(choice), schedule_(schedule) {}

  void Write() {
    if (plan_.tile.cache_write) Add(*plan_.tile.cache_write);
    if (InTerms()) SplitSum();
    for (const CudaTensorOperand* operand : Operands()) CopyOperand(*operand);
    if (std::optional<PadStep> pad = PaddingOf(plan_, choice_)) Add(*std::move(pad));
    Split();
    Order();
    Attach();
    Stage();
    Multiply();
    ReachFragment(Sum() + ".init");
    if (InTerms()) {
      ReachFragment(Total());
      ReachFragment(Total() + ".init");
    }
    for (const std::string& follower : plan_.tile.followers) ReachFragment(follower);
    for (const CudaTensorOperand* operand : Operands()) ShareOutCopy(*operand);
    const int64_t stages = StagesOf(plan_, choice_);
    if (stages > 1) Add(PipelineStep{Pieces(), static_cast<int>(stages)});
    threads_.Bind(schedule_);
    BindGrid(*plan_.tile.compute, Sum(), grid_, schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  std::array<const CudaTensorOperand*, 2> Operands() const { return {&plan_.left, &plan_.right}; }
  // Returns true if operands are split into bfloat16 parts. Each K-block is then a separate sum,
  // made by `reduce_split`, which also names the loops.
  bool InTerms() const { return plan_.part_product.has_value(); }
  const std::string& Total() const { return plan_.tile.sum.name; }
  // Returns the statement that the instructions compute.
  std::string Sum() const { return Total() + (InTerms() ? ".part" : ""); }
  std::string Loop(const std::string& statement, VarId iterator) const {
    return statement + "." + plan_.tile.Name(iterator);
  }
  // Return the loop over blocks or K-blocks, and the loop inside one of them. The iterator is the
  // row, the column, or the reduction that is split into K-blocks.
  std::string Whole(VarId iterator) const { return Loop(Sum(), iterator) + ".0"; }
  std::string Part(const std::string& statement, VarId iterator) const {
    const bool is_split = InTerms() && iterator == plan_.tile.piecewise;
    return Loop(statement, iterator) + (is_split ? "i" : ".1");
  }
  std::string PieceIterator() const { return plan_.tile.Name(plan_.tile.piecewise) + "o"; }
  std::string Pieces() const {
    return InTerms() ? Sum() + "." + PieceIterator() : Whole(plan_.tile.piecewise);
  }
  // Returns the loop whose iterations each begin new sums of the instructions.
  std::string Sums() const { return InTerms() ? Pieces() : grid_.back(); }
  int64_t Tile(VarId iterator) const { return TileExtent(plan_, choice_, iterator); }
  VarId Row() const { return plan_.tile.row.iterator; }
  VarId Column() const { return plan_.tile.column.iterator; }

  std::vector<VarId> Blocks() const {
    std::vector<VarId> blocks = plan_.grid;
    blocks.insert(blocks.end(), {Row(), Column()});
    return blocks;
  }

  // Returns the groups of the step `copy`, so that each block has a separate copy. The groups are
  // the iterators over several blocks that the index does not use. If operands are split into
  // parts, each K-block has a separate copy too.
  std::vector<CopyStep::Group> GroupsOf(const CudaTensorOperand& operand) const {
    std::vector<CopyStep::Group> groups;
    for (const VarId v : Blocks()) {
      const bool several = plan_.tile.Extent(v) > Tile(v);
      if (several && !UsesIterator(operand.index, v))
        groups.push_back({plan_.tile.Name(v), Tile(v)});
    }
    if (InTerms()) groups.push_back({PieceIterator(), 1});
    return groups;
  }

  void SplitSum() {
    const std::string& reduced = plan_.tile.Name(plan_.tile.piecewise);
    Add(ReduceSplitStep{Total(), reduced, Tile(plan_.tile.piecewise),
                        ReduceSplitStep::Parallel::kOuter});
    Add(PrecisionStep{.statement = Sum(), .bf16_parts = plan_.Bf16Parts()});
  }

  void CopyOperand(const CudaTensorOperand& operand) {
    Add(CopyStep{operand.tensor, Sum(), GroupsOf(operand)});
  }

  void Split() {
    for (const VarId v : {Row(), Column()}) Add(SplitStep{Loop(Sum(), v), {Tile(v)}});
    if (!InTerms()) Add(SplitStep{Loop(Sum(), plan_.tile.piecewise), {Tile(plan_.tile.piecewise)}});
  }

  void Order() {
    for (const VarId v : plan_.grid) grid_.push_back(Loop(Sum(), v));
    grid_.insert(grid_.end(), {Whole(Row()), Whole(Column())});
    ReorderStep order{grid_};
    for (const VarId v : plan_.outside) order.loops.push_back(Loop(Sum(), v));
    order.loops.push_back(Pieces());
    if (InTerms()) order.loops.push_back(Bf16Parts());
    for (const VarId v : {Row(), plan_.tile.piecewise, Column()})
      order.loops.push_back(Part(Sum(), v));
    Add(std::move(order));
    Band();
  }

  // Orders the blocks in bands, because blocks that run near each other in time share rows and
  // columns in L2. Bands divide the rows of blocks (Fitted).
  void Band() {
    if (choice_.band < 2) return;
    const std::string row = Whole(Row());
    const std::string column = Whole(Column());
    Add(SwizzleStep{row, column, choice_.band});
    grid_.resize(grid_.size() - 2);
    grid_.insert(grid_.end(), {row + ".0", column, row + ".1"});
  }

  void Attach() {
    Add(ComputeAtStep{Sum() + ".init", Sums()});
    if (InTerms()) {
      Add(ComputeAtStep{Total(), Sums()});
      Add(ComputeAtStep{Total() + ".init", grid_.back()});
    }
    for (const std::string& follower : plan_.tile.followers)
      Add(ComputeAtStep{follower, grid_.back()});
    for (const CudaTensorOperand* operand : Operands())
      Add(ComputeAtStep{operand->tensor + ".copy", Pieces()});
  }

  // Stores the instructions' sums in fragments, and the copies of operands in shared storage. If
  // each K-block is a separate sum, the total is in registers of the lanes.
  void Stage() {
    const auto& write = plan_.tile.sum.writes[0];
    const std::string& sums = plan_.tile.compute->tensors[write.tensor].name;
    std::vector<int64_t> order = plan_.fragment;
    if (InTerms()) {
      Add(StageStep{.tensor = sums, .scope = Scope::kRegister, .loop = grid_.back()});
      order.insert(order.begin(), std::ssize(write.index));  // the dimension of the K-blocks
    }
    Add(StageStep{InTerms() ? Sum() : sums, Scope::kFragment, Sums(), std::move(order)});
    for (const CudaTensorOperand* operand : Operands()) {
      const std::string copy = operand->tensor + ".copy";
      Add(StageStep{copy, Scope::kShared, Pieces(),
                    SharedOrder(std::ssize(GroupsOf(*operand)), operand->dimensions)});
      Add(SwizzleStorageStep{copy, kSwizzledChunks});
    }
  }

  // --- warps ---

  void Multiply() {
    const std::string row = Part(Sum(), Row());
    const std::string column = Part(Sum(), Column());
    const std::string step = Part(Sum(), plan_.tile.piecewise);
    Add(SplitStep{row, {choice_.row_tiles, plan_.Extent(TileAxis::kRow)}});
    Add(SplitStep{column, {choice_.column_tiles, plan_.Extent(TileAxis::kColumn)}});
    Add(SplitStep{step, {plan_.Extent(TileAxis::kReduced)}});
    ReorderStep order{{row + ".0", column + ".0"}};
    if (InTerms()) order.loops.push_back(Bf16Parts());
    order.loops.insert(order.loops.end(), {step + ".0", row + ".1", column + ".1", row + ".2",
                                           step + ".1", column + ".2"});
    Add(std::move(order));
    if (InTerms()) Add(UnrollStep{Bf16Parts()});
    for (const std::string& loop : {step + ".0", row + ".1", column + ".1"}) Add(UnrollStep{loop});
    Add(TensorizeStep{row + ".2", plan_.intrinsic->name});
    threads_.Warps(row + ".0", column + ".0");
  }

  // Distributes a statement over warps and lanes. The lane that owns an element of the fragment
  // computes the statement's values for it.
  void ReachFragment(const std::string& statement) {
    const std::string row = Part(statement, Row());
    const std::string column = Part(statement, Column());
    const int64_t halves = plan_.Extent(TileAxis::kRow) / kLaneRows;
    Add(SplitStep{row, {choice_.row_tiles, halves, kLaneRows}});
    Add(SplitStep{column, {choice_.column_tiles, kLanePairs, kPair}});
    Add(ReorderStep{{row + ".0", column + ".0", row + ".3", column + ".2", row + ".1", row + ".2",
                     column + ".1", column + ".3"}});
    const std::string lanes =
        FuseAll(*plan_.tile.compute, statement, "lanes", {row + ".3", column + ".2"}, schedule_);
    for (const std::string& loop : {row + ".1", row + ".2", column + ".1", column + ".3"})
      Add(UnrollStep{loop});
    threads_.Warps(row + ".0", column + ".0");
    threads_.Lanes(lanes);
  }

  // --- copies ---

  // Returns the loop over products of bfloat16 parts.
  std::string Bf16Parts() const { return Loop(Sum(), *plan_.part_product); }

  // Returns the copy's loop over planes. If the plane's index is an iterator, this is the copied
  // loop over products of parts, else the loop over the dimension. Returns an empty list for an
  // operand without planes.
  std::vector<std::string> LoopsOfPlanes(const CudaTensorOperand& operand) const {
    if (!operand.plane) return {};
    const std::string copy = operand.tensor + ".copy";
    const bool is_term = operand.index[*operand.plane].AsVar().has_value();
    return {is_term ? Loop(copy, *plan_.part_product)
                    : fmt::format("{}.d{}", copy, *operand.plane)};
  }

  // Returns the copy's loops over dimensions of one element, to which no loop of the sum
  // corresponds.
  static std::vector<std::string> LoopsOfOne(const CudaTensorOperand& operand) {
    std::vector<std::string> loops;
    for (size_t d = 0; d < operand.index.size(); ++d)
      if (operand.index[d].IsConstant())
        loops.push_back(fmt::format("{}.copy.d{}", operand.tensor, d));
    return loops;
  }

  // Distributes a copy over warps and lanes. Consecutive lanes copy consecutive chunks of a line,
  // and other lanes and warps copy other lines.
  void ShareOutCopy(const CudaTensorOperand& operand) {
    const std::string copy = operand.tensor + ".copy";
    const VarId reduced = plan_.tile.piecewise;
    const VarId inner = operand.along_reduced ? reduced : operand.across;
    const VarId outer = operand.along_reduced ? operand.across : reduced;
    const int64_t lines = Tile(outer);
    const int64_t chunk = operand.chunk;
    const int64_t lanes_along = std::min(Tile(inner) / chunk, kWarpThreads);
    const int64_t lanes_across = std::min(kWarpThreads / lanes_along, lines);
    const int64_t columns = std::min(choice_.column_warps, lines / lanes_across);
    const int64_t rows = std::min(choice_.row_warps, lines / lanes_across / columns);
    const std::string line = Part(copy, outer);
    const std::string along = Part(copy, inner);
    Add(SplitStep{line, {rows, columns, lanes_across}});
    SplitStep pieces{along, {lanes_along}};
    if (chunk > 1) pieces.factors.push_back(chunk);
    Add(std::move(pieces));
    ReorderStep order{LoopsOfOne(operand)};
    const std::vector<std::string> planes = LoopsOfPlanes(operand);
    const auto add = [&](const std::vector<std::string>& loops) {
      order.loops.insert(order.loops.end(), loops.begin(), loops.end());
    };
    add({line + ".1", line + ".2", line + ".3", along + ".1"});
    add(planes);
    add({line + ".0", along + ".0"});
    if (chunk > 1) order.loops.push_back(along + ".2");
    Add(std::move(order));
    for (const std::string& loop : planes) Add(UnrollStep{loop});
    const std::string lanes =
        FuseAll(*plan_.tile.compute, copy, "lanes", {line + ".3", along + ".1"}, schedule_);
    for (const std::string& loop : {line + ".0", along + ".0"}) Add(UnrollStep{loop});
    if (chunk > 1) Add(VectorizeStep{along + ".2"});
    threads_.Warps(line + ".1", line + ".2");
    threads_.Lanes(lanes);
  }

  const CudaTensorPlan& plan_;
  const CudaTensorChoice choice_;
  Schedule& schedule_;
  std::vector<std::string> grid_;  // loops over blocks, outermost first
  WarpLoops threads_;
};

}  // namespace

void WriteCudaTensor(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                     Schedule& schedule) {
  CudaTensorWriter(plan, choice, schedule).Write();
}

}  // namespace tunec
