#include "schedule/sketches/cuda_tensor_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/loop_nest.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/device_loops.h"

namespace tunec {
namespace {

// A lane has two neighbours of a row, in every eighth row: the accumulator's owner map, as loops
// reach it.
constexpr int64_t kLaneRows = 8;
constexpr int64_t kLanePairs = 4;
constexpr int64_t kPair = 2;

constexpr int64_t kChunkBytes = 16;  // that a thread copies at once
constexpr int kSwizzledChunks = 8;   // of the 128 bytes that shared memory gives at once

class CudaTensorWriter {
 public:
  CudaTensorWriter(const CudaTensorPlan& plan, const CudaTensorChoice& choice, Schedule& schedule)
      : plan_(plan), choice_(choice), schedule_(schedule) {}

  void Write() {
    if (plan_.tile.cache_write) Add(*plan_.tile.cache_write);
    for (const CudaTensorOperand* operand : Operands()) CopyOperand(*operand);
    Split();
    Order();
    Attach();
    Stage();
    Multiply();
    ReachFragment(Sum() + ".init");
    if (InParts()) {
      ReachFragment(Total());
      ReachFragment(Total() + ".init");
    }
    for (const std::string& follower : plan_.tile.followers) ReachFragment(follower);
    for (const CudaTensorOperand* operand : Operands()) ShareOutCopy(*operand);
    const int64_t stages = StagesOf(plan_, choice_);
    if (stages > 1) Add(PipelineStep{pieces_, static_cast<int>(stages)});
    for (BindStep& bind : threads_) Add(std::move(bind));
    BindGrid(*plan_.tile.compute, Sum(), grid_, schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  std::array<const CudaTensorOperand*, 2> Operands() const { return {&plan_.left, &plan_.right}; }
  // Whether parts of the sum are summed first, each in a fragment.
  bool InParts() const { return plan_.part > 0; }
  const std::string& Total() const { return plan_.tile.sum.name; }
  // What matrix instructions add up; its names are those that reduce_split gives.
  std::string Sum() const { return Total() + (InParts() ? ".part" : ""); }
  std::string Name(VarId iterator) const {
    const bool is_split = InParts() && iterator == plan_.tile.piecewise;
    return plan_.tile.Name(iterator) + (is_split ? "i" : "");
  }
  std::string PartIterator() const { return plan_.tile.Name(plan_.tile.piecewise) + "o"; }
  std::string PartLoop() const { return Sum() + "." + PartIterator(); }
  // In each iteration of which sums begin anew.
  std::string SumsLoop() const { return InParts() ? PartLoop() : grid_.back(); }
  std::string Loop(const std::string& statement, VarId iterator) const {
    return statement + "." + Name(iterator);
  }
  // Of a row, a column or what is reduced in pieces: the loop over blocks or pieces, and that over
  // what one of them has.
  std::string Whole(VarId iterator) const { return Loop(Sum(), iterator) + ".0"; }
  std::string Part(const std::string& statement, VarId iterator) const {
    return Loop(statement, iterator) + ".1";
  }
  int64_t Tile(VarId iterator) const { return TileExtent(plan_, choice_, iterator); }
  VarId Row() const { return plan_.tile.row.iterator; }
  VarId Column() const { return plan_.tile.column.iterator; }

  std::vector<VarId> Blocks() const {
    std::vector<VarId> blocks = plan_.grid;
    blocks.insert(blocks.end(), {Row(), Column()});
    return blocks;
  }

  // One copy for each block, so for each of the loops over blocks that the operand does not know,
  // and for each time that a plane is chosen.
  std::vector<CopyStep::Group> GroupsOf(const CudaTensorOperand& operand) const {
    std::vector<CopyStep::Group> groups;
    for (const VarId v : Blocks()) {
      const bool several = plan_.tile.Extent(v) > Tile(v);
      if (several && !UsesIterator(operand.index, v)) groups.push_back({Name(v), Tile(v)});
    }
    if (InParts()) groups.push_back({PartIterator(), 1});
    for (const VarId v : operand.planes) groups.push_back({Name(v), 1});
    return groups;
  }

  void CopyOperand(const CudaTensorOperand& operand) {
    Add(CopyStep{operand.tensor, Sum(), GroupsOf(operand)});
  }

  void Split() {
    for (const VarId v : {Row(), Column(), plan_.tile.piecewise})
      Add(SplitStep{Loop(Sum(), v), {Tile(v)}});
  }

  void Order() {
    for (const VarId v : plan_.grid) grid_.push_back(Loop(Sum(), v));
    grid_.insert(grid_.end(), {Whole(Row()), Whole(Column())});
    std::vector<std::string> pieces;
    for (const VarId v : plan_.outside) pieces.push_back(Loop(Sum(), v));
    pieces.push_back(Whole(plan_.tile.piecewise));
    ReorderStep order{grid_};
    if (InParts()) order.loops.push_back(PartLoop());
    order.loops.insert(order.loops.end(), pieces.begin(), pieces.end());
    for (const VarId v : {Row(), plan_.tile.piecewise, Column()})
      order.loops.push_back(Part(Sum(), v));
    Add(std::move(order));
    pieces_ = plan_.IsOneLoop() ? FuseAll(*plan_.tile.compute, Sum(), "pieces", pieces, schedule_)
                                : pieces.back();
    Band();
  }

  // Blocks near in time share rows and columns in L2. Bands divide the rows of blocks.
  void Band() {
    if (choice_.band < 2) return;
    const std::string row = Whole(Row());
    const std::string column = Whole(Column());
    Add(SwizzleStep{row, column, choice_.band});
    grid_.resize(grid_.size() - 2);
    grid_.insert(grid_.end(), {row + ".0", column, row + ".1"});
  }

  void Attach() {
    Add(ComputeAtStep{Sum() + ".init", SumsLoop()});
    if (InParts()) {
      Add(ComputeAtStep{Total(), PartLoop()});
      Add(ComputeAtStep{Total() + ".init", grid_.back()});
    }
    for (const std::string& follower : plan_.tile.followers)
      Add(ComputeAtStep{follower, grid_.back()});
    for (const CudaTensorOperand* operand : Operands())
      Add(ComputeAtStep{operand->tensor + ".copy", pieces_});
  }

  // An instruction's sums are in a fragment; their totals in registers of the lanes that add them.
  void Stage() {
    const auto& write = plan_.tile.sum.writes[0];
    const std::string& sums = plan_.tile.compute->tensors[write.tensor].name;
    std::vector<int64_t> order = plan_.fragment;
    if (InParts()) {
      Add(StageStep{.tensor = sums, .scope = Scope::kRegister, .loop = grid_.back()});
      order.insert(order.begin(), std::ssize(write.index));  // the dimension of parts
    }
    Add(StageStep{InParts() ? Sum() : sums, Scope::kFragment, SumsLoop(), std::move(order)});
    for (const CudaTensorOperand* operand : Operands()) {
      const std::string copy = operand->tensor + ".copy";
      Add(StageStep{copy, Scope::kShared, pieces_, SharedOrder(*operand)});
      Add(SwizzleStorageStep{copy, kSwizzledChunks});
    }
  }

  // As the operand lies in memory, so that what is copied lies side by side at both ends.
  std::vector<int64_t> SharedOrder(const CudaTensorOperand& operand) const {
    std::vector<int64_t> order;
    const auto groups = std::ssize(GroupsOf(operand));
    for (int64_t group = 0; group < groups; ++group) order.push_back(group);
    for (const int64_t dimension : operand.dimensions) order.push_back(groups + dimension);
    return order;
  }

  // --- warps ---

  void Multiply() {
    const std::string row = Part(Sum(), Row());
    const std::string column = Part(Sum(), Column());
    const std::string step = Part(Sum(), plan_.tile.piecewise);
    Add(SplitStep{row, {choice_.row_tiles, plan_.Extent(TileAxis::kRow)}});
    Add(SplitStep{column, {choice_.column_tiles, plan_.Extent(TileAxis::kColumn)}});
    Add(SplitStep{step, {plan_.Extent(TileAxis::kReduced)}});
    Add(ReorderStep{{row + ".0", column + ".0", step + ".0", row + ".1", column + ".1", row + ".2",
                     step + ".1", column + ".2"}});
    for (const std::string& loop : {step + ".0", row + ".1", column + ".1"}) Add(UnrollStep{loop});
    Add(TensorizeStep{row + ".2", plan_.intrinsic->name});
    BindWarps(row + ".0", column + ".0");
  }

  void BindWarps(const std::string& rows, const std::string& columns) {
    threads_.push_back({rows, LoopKind::kBlockZ});
    threads_.push_back({columns, LoopKind::kBlockY});
  }

  // What is done element by element is done by the lane that has the element.
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
    BindWarps(row + ".0", column + ".0");
    threads_.push_back({lanes, LoopKind::kBlockX});
  }

  // --- copies ---

  // Over dimensions of one element, which no loop of the sum walks.
  static std::vector<std::string> LoopsOfOne(const CudaTensorOperand& operand) {
    std::vector<std::string> loops;
    for (size_t d = 0; d < operand.index.size(); ++d)
      if (operand.index[d].IsConstant())
        loops.push_back(fmt::format("{}.copy.d{}", operand.tensor, d));
    return loops;
  }

  // Lanes that are neighbours copy neighbours, warps other lines.
  void ShareOutCopy(const CudaTensorOperand& operand) {
    const std::string copy = operand.tensor + ".copy";
    const VarId reduced = plan_.tile.piecewise;
    const VarId inner = operand.along_reduced ? reduced : operand.across;
    const VarId outer = operand.along_reduced ? operand.across : reduced;
    const int64_t lines = Tile(outer);
    const int64_t chunk = kChunkBytes / operand.bytes;
    const int64_t lanes_along = std::min(Tile(inner) / chunk, kWarpThreads);
    const int64_t lanes_across = std::min(kWarpThreads / lanes_along, lines);
    const int64_t columns = std::min(choice_.column_warps, lines / lanes_across);
    const int64_t rows = std::min(choice_.row_warps, lines / lanes_across / columns);
    const std::string line = Part(copy, outer);
    const std::string along = Part(copy, inner);
    Add(SplitStep{line, {rows, columns, lanes_across}});
    Add(SplitStep{along, {lanes_along, chunk}});
    ReorderStep order{LoopsOfOne(operand)};
    const std::array<std::string, 7> loops = {line + ".1", line + ".2",  line + ".3", along + ".1",
                                              line + ".0", along + ".0", along + ".2"};
    order.loops.insert(order.loops.end(), loops.begin(), loops.end());
    Add(std::move(order));
    const std::string lanes =
        FuseAll(*plan_.tile.compute, copy, "lanes", {line + ".3", along + ".1"}, schedule_);
    for (const std::string& loop : {line + ".0", along + ".0"}) Add(UnrollStep{loop});
    Add(VectorizeStep{along + ".2"});
    BindWarps(line + ".1", line + ".2");
    threads_.push_back({lanes, LoopKind::kBlockX});
  }

  const CudaTensorPlan& plan_;
  const CudaTensorChoice choice_;
  Schedule& schedule_;
  std::vector<std::string> grid_;  // loops over blocks, outermost first
  std::string pieces_;             // the loop over pieces
  std::vector<BindStep> threads_;  // of a block
};

}  // namespace

void WriteCudaTensor(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                     Schedule& schedule) {
  CudaTensorWriter(plan, choice, schedule).Write();
}

}  // namespace tunec
