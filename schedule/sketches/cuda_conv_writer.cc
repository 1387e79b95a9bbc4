#include "schedule/sketches/cuda_conv_writer.h"

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

constexpr int64_t kMostProducts = 64;  // instructions of a warp between two branches
constexpr int64_t kMostCopies = 8;     // lines that a thread copies without a loop

class CudaConvWriter {
 public:
  CudaConvWriter(const CudaConvPlan& plan, const CudaConvChoice& choice, Schedule& schedule)
      : plan_(plan), choice_(choice), schedule_(schedule) {}

  void Write() {
    if (plan_.tile.cache_write) Add(*plan_.tile.cache_write);
    for (const CudaConvOperand* operand : Operands())
      Add(CopyStep{operand->tensor, Sum(), GroupsOf(*operand)});
    Pad();
    for (const VarId v : Tiled()) Add(SplitStep{Loop(Sum(), v), {Tile(v)}});
    Order();
    Attach();
    Stage();
    Multiply();
    ReachFragment(Sum() + ".init");
    for (const std::string& follower : plan_.tile.followers) ReachFragment(follower);
    for (const CudaConvOperand* operand : Operands()) ShareOutCopy(*operand);
    const int64_t stages = StagesOf(plan_, choice_);
    if (stages > 1) Add(PipelineStep{Pieces(), static_cast<int>(stages)});
    threads_.Bind(schedule_);
    BindGrid(*plan_.tile.compute, Sum(), grid_, schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  std::array<const CudaConvOperand*, 2> Operands() const { return {&plan_.image, &plan_.weights}; }
  const std::string& Sum() const { return plan_.tile.sum.name; }
  std::string Loop(const std::string& statement, VarId iterator) const {
    return statement + "." + plan_.tile.Name(iterator);
  }
  // Returns the iterators that are split into tiles or K-blocks. For each of them, Whole returns
  // the loop over blocks or K-blocks, and Part returns the loop inside a block or K-block.
  std::array<VarId, 4> Tiled() const {
    return {plan_.row, plan_.line, plan_.column, plan_.tile.piecewise};
  }
  std::string Whole(VarId iterator) const { return Loop(Sum(), iterator) + ".0"; }
  std::string Part(const std::string& statement, VarId iterator) const {
    return Loop(statement, iterator) + ".1";
  }
  std::string Pieces() const { return Whole(plan_.tile.piecewise); }
  int64_t Tile(VarId iterator) const { return TileExtent(plan_, choice_, iterator); }

  // --- copies and padding ---

  std::vector<VarId> Blocks() const {
    std::vector<VarId> blocks = plan_.grid;
    blocks.insert(blocks.end(), {plan_.row, plan_.line, plan_.column});
    return blocks;
  }

  // Returns the groups of the step `copy`, so that each block has a separate copy. The groups are
  // the iterators in `starts`, and those over several blocks that the index does not use.
  std::vector<CopyStep::Group> GroupsOf(const CudaConvOperand& operand) const {
    std::vector<CopyStep::Group> groups;
    for (const VarId v : Blocks()) {
      const bool starts = std::ranges::find(operand.starts, v) != operand.starts.end();
      const bool several = plan_.tile.Extent(v) > Tile(v);
      if (starts || (several && !UsesIterator(operand.index, v)))
        groups.push_back({plan_.tile.Name(v), Tile(v)});
    }
    return groups;
  }

  // Pads the sum to complete tiles, without the conditions of the image's border. The copies of
  // operands store zeros there.
  void Pad() {
    PadStep pad{Sum(), {}};
    for (const VarId v : Tiled())
      if (plan_.tile.Extent(v) % Tile(v) != 0)
        pad.multiples.push_back({plan_.tile.Name(v), Tile(v)});
    if (!pad.multiples.empty() || !plan_.tile.sum.domain.empty()) Add(std::move(pad));
  }

  // --- loops of the sum ---

  void Order() {
    for (const VarId v : plan_.grid) grid_.push_back(Loop(Sum(), v));
    for (const VarId v : {plan_.row, plan_.line, plan_.column}) grid_.push_back(Whole(v));
    ReorderStep order{grid_};
    order.loops.push_back(Pieces());
    for (const VarId v : plan_.tile.inside) order.loops.push_back(Loop(Sum(), v));
    for (const VarId v : {plan_.row, plan_.line, plan_.tile.piecewise, plan_.column})
      order.loops.push_back(Part(Sum(), v));
    Add(std::move(order));
  }

  void Attach() {
    Add(ComputeAtStep{Sum() + ".init", grid_.back()});
    for (const std::string& follower : plan_.tile.followers)
      Add(ComputeAtStep{follower, grid_.back()});
    for (const CudaConvOperand* operand : Operands())
      Add(ComputeAtStep{operand->tensor + ".copy", Pieces()});
  }

  void Stage() {
    const TensorId sums = plan_.tile.sum.writes[0].tensor;
    Add(StageStep{plan_.tile.compute->tensors[sums].name, Scope::kFragment, grid_.back(),
                  plan_.fragment});
    for (const CudaConvOperand* operand : Operands()) {
      const std::string copy = operand->tensor + ".copy";
      Add(StageStep{copy, Scope::kShared, Pieces(),
                    SharedOrder(std::ssize(GroupsOf(*operand)), operand->dimensions)});
      Add(SwizzleStorageStep{copy, kSwizzledChunks});
    }
  }

  // --- warps ---

  void Multiply() {
    const std::string row = Part(Sum(), plan_.row);
    const std::string line = Part(Sum(), plan_.line);
    const std::string column = Part(Sum(), plan_.column);
    const std::string step = Part(Sum(), plan_.tile.piecewise);
    Add(SplitStep{row, {choice_.row_tiles, plan_.Extent(TileAxis::kRow)}});
    Add(SplitStep{line, {choice_.line_tiles}});
    Add(SplitStep{column, {plan_.Extent(TileAxis::kColumn)}});
    Add(SplitStep{step, {plan_.Extent(TileAxis::kReduced)}});
    ReorderStep order{{row + ".0", line + ".0"}};
    for (const VarId v : plan_.tile.inside) order.loops.push_back(Loop(Sum(), v));
    for (const std::string& loop : {step + ".0", row + ".1", line + ".1", column + ".0", row + ".2",
                                    step + ".1", column + ".1"})
      order.loops.push_back(loop);
    Add(std::move(order));
    for (const std::string& loop : {step + ".0", row + ".1", line + ".1", column + ".0"})
      Add(UnrollStep{loop});
    UnrollTaps();
    Add(TensorizeStep{row + ".2", plan_.intrinsic->name});
    threads_.Warps(row + ".0", line + ".0");
  }

  // Unrolls the loops over taps, from the innermost one outwards, up to kMostProducts instructions.
  void UnrollTaps() {
    int64_t products =
        choice_.steps * choice_.row_tiles * choice_.line_tiles * choice_.column_tiles;
    for (size_t i = plan_.tile.inside.size(); i-- > 0;) {
      products *= plan_.tile.Extent(plan_.tile.inside[i]);
      if (products > kMostProducts) return;
      Add(UnrollStep{Loop(Sum(), plan_.tile.inside[i])});
    }
  }

  // Splits a loop into parts and returns their names, outermost first. A part of one iteration has
  // no loop and an empty name. Otherwise, a condition at the extent's end would keep the loop's
  // variable as a term of indices.
  std::vector<std::string> Parts(const std::string& loop, const std::vector<int64_t>& extents) {
    SplitStep split{loop, {}};
    std::vector<std::string> parts(extents.size());
    int number = 0;
    const auto several = std::ranges::count_if(extents, [](int64_t extent) { return extent > 1; });
    for (size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] == 1) continue;
      if (number > 0) split.factors.push_back(extents[i]);
      parts[i] = several == 1 ? loop : fmt::format("{}.{}", loop, number);
      ++number;
    }
    if (several > 1) Add(std::move(split));
    return parts;
  }

  // Distributes a statement over warps and lanes. The lane that owns an element of the fragment
  // computes the statement's values for it.
  void ReachFragment(const std::string& statement) {
    const int64_t halves = plan_.Extent(TileAxis::kRow) / kLaneRows;
    const auto rows = Parts(Part(statement, plan_.row),
                            {choice_.row_warps, choice_.row_tiles, halves, kLaneRows});
    const auto lines = Parts(Part(statement, plan_.line), {choice_.line_warps, choice_.line_tiles});
    const auto columns =
        Parts(Part(statement, plan_.column), {choice_.column_tiles, kLanePairs, kPair});
    std::vector<std::string> own = {rows[1], rows[2], lines[1], columns[0], columns[2]};
    ReorderStep order{{rows[0], lines[0], rows[3], columns[1]}};
    order.loops.insert(order.loops.end(), own.begin(), own.end());
    std::erase(order.loops, "");
    std::erase(own, "");
    Add(std::move(order));
    const std::string lanes =
        FuseAll(*plan_.tile.compute, statement, "lanes", {rows[3], columns[1]}, schedule_);
    for (const std::string& loop : own) Add(UnrollStep{loop});
    threads_.Warps(rows[0], lines[0]);
    threads_.Lanes(lanes);
  }

  // --- distribution of copies ---

  // Returns an index of the operand without its constant, and without the iterators in `starts` of
  // which a tile has one iteration.
  IndexExpr PlaceOf(const CudaConvOperand& operand, const IndexExpr& index) const {
    IndexExpr place = index;
    for (const VarId v : plan_.grid)
      if (std::ranges::find(operand.starts, v) != operand.starts.end())
        place -= IndexExpr::Var(v) * index.Coefficient(v);
    return place - place.constant();
  }

  // The loops of a copy over lines, in the order of shared storage. A line is contiguous along the
  // dimension that is reduced in K-blocks.
  struct Lines {
    std::vector<std::string> ones;
    std::vector<std::string> loops;
    int64_t count = 1;
  };
  Lines LinesOf(const CudaConvOperand& operand) const {
    const std::string copy = operand.tensor + ".copy";
    Lines lines;
    for (const int64_t dimension : operand.dimensions) {
      const IndexExpr& index = operand.index[static_cast<size_t>(dimension)];
      const std::string own = fmt::format("{}.d{}", copy, dimension);
      const std::optional<VarId> alone = PlaceOf(operand, index).AsVar();
      const bool window = index.Uses(plan_.line) || index.Uses(plan_.column);
      if (index.IsConstant()) {
        lines.ones.push_back(own);
      } else if (window) {
        lines.loops.push_back(own);
      } else if (alone == plan_.row) {
        lines.loops.push_back(Part(copy, plan_.row));
      } else if (alone && std::ranges::find(plan_.tile.inside, *alone) != plan_.tile.inside.end()) {
        lines.loops.push_back(Loop(copy, *alone));
      } else {
        continue;  // a grid iterator, or the dimension along a line
      }
      lines.count *= SideLength(plan_, choice_, index);
    }
    return lines;
  }

  // Distributes a copy over warps and lanes. Consecutive lanes copy consecutive chunks of a line,
  // and other lanes and warps copy other lines.
  void ShareOutCopy(const CudaConvOperand& operand) {
    const std::string copy = operand.tensor + ".copy";
    const Lines lines = LinesOf(operand);
    const std::string along = Part(copy, plan_.tile.piecewise);
    const int64_t chunk = kChunkBytes / operand.bytes;
    const int64_t lanes_along = std::min(Tile(plan_.tile.piecewise) / chunk, kWarpThreads);
    const int64_t lanes_across = kWarpThreads / lanes_along;
    ReorderStep order{lines.ones};
    order.loops.insert(order.loops.end(), lines.loops.begin(), lines.loops.end());
    order.loops.push_back(along);
    Add(order);
    const std::string line = FuseAll(*plan_.tile.compute, copy, "lines", lines.loops, schedule_);
    Add(SplitStep{line, {choice_.row_warps, choice_.line_warps, lanes_across}});
    Add(SplitStep{along, {lanes_along, chunk}});
    Add(ReorderStep{{line + ".1", line + ".2", line + ".3", along + ".1", line + ".0", along + ".0",
                     along + ".2"}});
    const std::string lanes =
        FuseAll(*plan_.tile.compute, copy, "lanes", {line + ".3", along + ".1"}, schedule_);
    Add(UnrollStep{along + ".0"});
    if (CeilDivide(lines.count, choice_.Warps() * lanes_across) <= kMostCopies)
      Add(UnrollStep{line + ".0"});
    Add(VectorizeStep{along + ".2"});
    threads_.Warps(line + ".1", line + ".2");
    threads_.Lanes(lanes);
  }

  const CudaConvPlan& plan_;
  const CudaConvChoice choice_;
  Schedule& schedule_;
  std::vector<std::string> grid_;  // loops over blocks, outermost first
  WarpLoops threads_;
};

}  // namespace

void WriteCudaConv(const CudaConvPlan& plan, const CudaConvChoice& choice, Schedule& schedule) {
  CudaConvWriter(plan, choice, schedule).Write();
}

}  // namespace tunec
