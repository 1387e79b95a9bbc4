#include "schedule/sketches/cuda_tile_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/sketches/device_loops.h"

namespace tunec {
namespace {

constexpr int64_t kMostProducts = 1024;  // largest number of a thread's products between branches
constexpr int64_t kShort = 7;            // largest extent of an unrolled `inside` reduction
constexpr int64_t kCopies = 16;          // largest number of elements copied without a loop

// A loop and the number of its iterations.
struct CountedLoop {
  std::string name;
  int64_t extent = 1;
};

class CudaTileWriter {
 public:
  CudaTileWriter(const CudaTilePlan& plan, const CudaTileChoice& choice, Schedule& schedule)
      : plan_(plan), choice_(choice), schedule_(schedule) {}

  void Write() {
    if (plan_.cache_write) Add(*plan_.cache_write);
    std::vector<VarId> blocks = plan_.grid;
    for (const CudaTileAxis& axis : Axes()) blocks.push_back(axis.iterator);
    blocks_ = std::move(blocks);
    CopyOperands();
    if (std::optional<PadStep> pad = PaddingOf(plan_, choice_)) Add(*std::move(pad));
    Split();
    Order();
    Attach();
    Stage();
    Threads();
    BindGrid(*plan_.compute, plan_.sum.name, grid_, schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  // Returns the axes of the tile, outermost first: rows, then columns.
  std::vector<CudaTileAxis> Axes() const {
    std::vector<CudaTileAxis> axes;
    if (plan_.outer_row) axes.push_back(*plan_.outer_row);
    axes.push_back(plan_.row);
    if (plan_.outer_column) axes.push_back(*plan_.outer_column);
    axes.push_back(plan_.column);
    return axes;
  }
  std::string Loop(const std::string& statement, VarId iterator) const {
    return statement + "." + plan_.Name(iterator);
  }
  std::string Loop(VarId iterator) const { return Loop(plan_.sum.name, iterator); }
  int64_t Tile(VarId iterator) const { return TileExtent(plan_, choice_, iterator); }
  int64_t Blocks(VarId iterator) const {
    return CeilDivide(plan_.Extent(iterator), Tile(iterator));
  }
  // Returns true if the tile has several iterations of the iterator.
  bool IsTiled(VarId iterator) const { return Tile(iterator) > 1; }
  // Returns true if the iterator is split into a loop over blocks and a loop over the tile. A tiled
  // column is always split, because the grid needs at least one loop. Padded plans split all tiled
  // iterators. Followers have smaller extents than the padded sum, but need the same loops, so that
  // each thread reads its sums.
  bool IsSplit(VarId iterator) const {
    if (!IsTiled(iterator)) return false;
    return Blocks(iterator) > 1 || iterator == plan_.column.iterator || plan_.padded;
  }
  std::string TileLoop(const std::string& statement, VarId iterator) const {
    return Loop(statement, iterator) + (IsSplit(iterator) ? ".1" : "");
  }
  int64_t PieceLength() const { return tunec::PieceLength(plan_, choice_); }

  // Returns true if blocks along the iterator have separate copies of the operand. The iterator is
  // then in `starts`, or the index does not use it and there are several blocks.
  bool HasCopies(const CudaTileOperand& operand, VarId iterator) const {
    if (std::ranges::find(operand.starts, iterator) != operand.starts.end()) return true;
    return Blocks(iterator) > 1 && !UsesIterator(operand.index, iterator);
  }

  // Adds the copies of shared operands, a separate copy for each block.
  void CopyOperands() {
    for (const CudaTileOperand& operand : plan_.operands) {
      if (!IsShared(plan_, choice_, operand)) continue;
      CopyStep copy{operand.tensor, plan_.sum.name, {}};
      for (const VarId v : blocks_)
        if (HasCopies(operand, v)) copy.groups.push_back({plan_.Name(v), Tile(v)});
      Add(std::move(copy));
    }
  }

  void Split() {
    for (const CudaTileAxis& axis : Axes())
      if (IsSplit(axis.iterator)) Add(SplitStep{Loop(axis.iterator), {Tile(axis.iterator)}});
    Add(SplitStep{Loop(plan_.piecewise), {PieceLength()}});
  }

  void Order() {
    for (const VarId v : blocks_) {
      if (IsTiled(v) && !IsSplit(v)) continue;
      grid_.push_back(Loop(v) + (IsSplit(v) ? ".0" : ""));
    }
    ReorderStep order{grid_};
    for (const VarId v : plan_.outside) order.loops.push_back(Loop(v));
    order.loops.push_back(PieceLoop());
    for (const CudaTileAxis& axis : Axes())
      if (IsTiled(axis.iterator)) order.loops.push_back(TileLoop(plan_.sum.name, axis.iterator));
    order.loops.push_back(Loop(plan_.piecewise) + ".1");
    for (const VarId v : plan_.inside) order.loops.push_back(Loop(v));
    Add(std::move(order));
    Swizzle();
  }
  std::string PieceLoop() const { return Loop(plan_.piecewise) + ".0"; }

  // Runs the blocks in bands of rows, if possible, so that blocks that run near each other in time
  // share rows and columns in L2. Grid loops have constant extents, so the bands must divide the
  // rows of blocks.
  void Swizzle() {
    const VarId row = plan_.row.iterator;
    if (choice_.band < 2 || plan_.outer_column || grid_.size() < 2) return;
    if (!IsSplit(row) || Blocks(row) % choice_.band != 0) return;
    const std::string outer = grid_[grid_.size() - 2];
    const std::string inner = grid_.back();
    Add(SwizzleStep{outer, inner, choice_.band});
    grid_.pop_back();
    grid_.back() = outer + ".0";
    grid_.insert(grid_.end(), {inner, outer + ".1"});
  }

  void Attach() {
    Add(ComputeAtStep{plan_.sum.name + ".init", grid_.back()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, grid_.back()});
    for (const CudaTileOperand& operand : plan_.operands)
      if (IsShared(plan_, choice_, operand))
        Add(ComputeAtStep{operand.tensor + ".copy", PieceLoop()});
  }

  void Stage() {
    for (const std::string& tensor : plan_.registers)
      Add(StageStep{tensor, Scope::kRegister, grid_.back(), {}});
    for (const CudaTileOperand& operand : plan_.operands)
      if (IsShared(plan_, choice_, operand))
        Add(StageStep{operand.tensor + ".copy", Scope::kShared, PieceLoop(), SharedOrder(operand)});
  }

  // Returns the order of a copy's dimensions: groups, other dimensions such as reductions, outer
  // rows or columns, rows or columns. The elements of a thread are thus contiguous.
  std::vector<int64_t> SharedOrder(const CudaTileOperand& operand) const {
    std::vector<int64_t> groups;
    for (const VarId v : blocks_)
      if (HasCopies(operand, v)) groups.push_back(static_cast<int64_t>(groups.size()));
    const auto first = static_cast<int64_t>(groups.size());
    std::vector<std::pair<int, int64_t>> ranked;
    for (size_t d = 0; d < operand.index.size(); ++d)
      ranked.emplace_back(RankOf(operand.index[d]), first + static_cast<int64_t>(d));
    std::ranges::stable_sort(ranked, {}, &std::pair<int, int64_t>::first);
    for (const auto& [rank, dimension] : ranked) groups.push_back(dimension);
    return groups;
  }
  int RankOf(const IndexExpr& index) const {
    if (index.Uses(plan_.column.iterator) || index.Uses(plan_.row.iterator)) return 2;
    const auto uses = [&](const std::optional<CudaTileAxis>& axis) {
      return axis && index.Uses(axis->iterator);
    };
    return uses(plan_.outer_column) || uses(plan_.outer_row) ? 1 : 0;
  }

  // --- threads ---

  void Threads() {
    std::vector<std::string> sums = {plan_.sum.name, plan_.sum.name + ".init"};
    sums.insert(sums.end(), plan_.followers.begin(), plan_.followers.end());
    for (const std::string& statement : sums) ShareOut(statement);
    for (const CudaTileOperand& operand : plan_.operands)
      if (IsShared(plan_, choice_, operand)) ShareOutCopy(operand);
    if (StagesOf(plan_, choice_) > 1)
      Add(PipelineStep{PieceLoop(), static_cast<int>(choice_.stages)});
    for (const std::string& loop : threads_) Add(BindStep{loop, LoopKind::kBlockX});
    UnrollReductions();
  }

  // The loops over an axis: over threads, and over the elements of each thread. With one thread or
  // with one element per thread, the name of the missing loop is empty.
  struct Part {
    std::string thread;
    std::string element;
  };

  Part SplitAxis(const std::string& statement, VarId iterator, int64_t threads, int64_t elements) {
    if (!IsTiled(iterator)) return {};
    const std::string loop = TileLoop(statement, iterator);
    if (elements == 1) return {.thread = loop};
    if (threads == 1) return {.element = loop};
    Add(SplitStep{loop, {elements}});
    return {loop + ".0", loop + ".1"};
  }

  // Distributes the statement's tile over the threads and over the elements of each thread.
  void ShareOut(const std::string& statement) {
    std::vector<std::string> threads;
    std::vector<std::string> elements;
    Part part;
    for (const CudaTileAxis& axis : Axes()) {
      const bool is_row = axis.iterator == plan_.row.iterator;
      const bool is_column = axis.iterator == plan_.column.iterator;
      const int64_t own = is_row ? choice_.row_elements : is_column ? choice_.column_elements : 1;
      const int64_t count = is_row ? choice_.row_threads : choice_.column_threads;
      part = SplitAxis(statement, axis.iterator, count, own);
      if (!part.thread.empty()) threads.push_back(part.thread);
      if (!part.element.empty()) elements.push_back(part.element);
    }
    ReorderStep order{threads};
    if (statement == plan_.sum.name) {
      order.loops.push_back(Loop(plan_.piecewise) + ".1");
      for (const VarId v : plan_.inside) order.loops.push_back(Loop(v));
    }
    order.loops.insert(order.loops.end(), elements.begin(), elements.end());
    if (order.loops.size() > 1) Add(std::move(order));
    if (!threads.empty())
      threads_.push_back(FuseAll(*plan_.compute, statement, "threads", threads, schedule_));
    const std::string& lane = part.element;  // the column is the last axis
    for (const std::string& loop : elements)
      if (loop != lane) Add(UnrollStep{loop});
    if (!lane.empty()) Add(VectorizeStep{lane});
  }

  static bool IsInWindow(const CudaTileOperand& operand, VarId iterator) {
    return std::ranges::any_of(operand.windows,
                               [&](size_t d) { return operand.index[d].Uses(iterator); });
  }

  // Returns the copy's loops within a K-block, in decreasing order of their strides in the source.
  std::vector<CountedLoop> CopyLoops(const CudaTileOperand& operand) const {
    const TensorId tensor = *plan_.compute->FindTensor(operand.tensor);
    std::vector<std::pair<int64_t, CountedLoop>> by_stride;
    const auto add = [&](VarId v, const std::string& loop, int64_t extent) {
      const auto stride = StorageStride(*plan_.compute, plan_.sum, tensor, operand.index, v);
      by_stride.emplace_back(-std::abs(stride.value_or(0)), CountedLoop{loop, extent});
    };
    const std::string copy = operand.tensor + ".copy";
    const auto add_alone = [&](VarId v, const std::string& loop, int64_t extent) {
      if (UsesIterator(operand.index, v) && !IsInWindow(operand, v)) add(v, loop, extent);
    };
    for (const CudaTileAxis& axis : Axes())
      if (IsTiled(axis.iterator))
        add_alone(axis.iterator, TileLoop(copy, axis.iterator), Tile(axis.iterator));
    add_alone(plan_.piecewise, Loop(copy, plan_.piecewise) + ".1", PieceLength());
    for (const VarId v : plan_.inside) add_alone(v, Loop(copy, v), plan_.Extent(v));
    for (const size_t d : operand.windows) {
      const IndexExpr place = PlaceInTile(plan_, choice_, operand.index[d]);
      if (place.IsConstant()) continue;
      const int64_t extent = SideLength(plan_, choice_, place);
      const VarId v = place.terms().back().atom.variable();
      const bool alone = place.AsVar() && !HasCopies(operand, v);
      add(v, alone ? Loop(copy, v) : fmt::format("{}.d{}", copy, d), extent);
    }
    std::ranges::stable_sort(by_stride, {}, &std::pair<int64_t, CountedLoop>::first);
    std::vector<CountedLoop> loops;
    for (auto& [stride, loop] : by_stride) loops.push_back(std::move(loop));
    return loops;
  }

  // Returns the copy's loops of one iteration that could be between the loops along windows.
  // Returns none if the operand has no windows.
  std::vector<std::string> SingleLoops(const CudaTileOperand& operand) const {
    std::vector<std::string> loops;
    if (operand.windows.empty()) return loops;
    for (size_t d = 0; d < operand.index.size(); ++d)
      if (PlaceInTile(plan_, choice_, operand.index[d]).IsConstant() && !operand.index[d].AsVar())
        loops.push_back(fmt::format("{}.copy.d{}", operand.tensor, d));
    return loops;
  }

  // Distributes the copy over the threads. Consecutive threads copy contiguous elements.
  void ShareOutCopy(const CudaTileOperand& operand) {
    const std::string copy = operand.tensor + ".copy";
    const std::vector<CountedLoop> loops = CopyLoops(operand);
    const std::vector<int64_t> along = ThreadsAlong(loops, choice_.Threads());
    std::vector<std::string> threads;
    std::vector<std::string> serial;
    int64_t copies = 1;  // number of elements that a thread copies
    for (size_t i = 0; i < loops.size(); ++i) {
      const auto& [name, extent] = loops[i];
      const bool split = along[i] > 1 && along[i] < extent;
      if (split) Add(SplitStep{name, {along[i]}});
      if (along[i] > 1) threads.push_back(split ? name + ".1" : name);
      // The loop within a K-block may have one iteration, but must not be between the loops over
      // threads.
      const bool is_piece = extent == 1 && name == Loop(copy, plan_.piecewise) + ".1";
      if (along[i] < extent || is_piece) serial.push_back(split ? name + ".0" : name);
      copies *= CeilDivide(extent, along[i]);
    }
    std::vector<std::string> order = threads;
    order.insert(order.end(), serial.begin(), serial.end());
    std::ranges::move(SingleLoops(operand), std::back_inserter(order));
    if (order.size() > 1) Add(ReorderStep{order});
    if (!threads.empty())
      threads_.push_back(FuseAll(*plan_.compute, copy, "threads", threads, schedule_));
    if (copies <= kCopies)
      for (const std::string& loop : serial) Add(UnrollStep{loop});
  }

  // Returns the number of threads along each loop, assigned from the innermost loop outwards. The
  // number divides the extent if more than half of the available threads then have work. The index
  // of an element is then simple and needs no condition. Otherwise all available threads are used,
  // and some have no work at the end.
  static std::vector<int64_t> ThreadsAlong(const std::vector<CountedLoop>& loops, int64_t threads) {
    std::vector<int64_t> along(loops.size(), 1);
    for (size_t i = loops.size(); i-- > 0;) {
      const int64_t extent = loops[i].extent;
      const int64_t most = std::min(extent, threads);
      int64_t dividing = most;
      while (extent % dividing != 0) --dividing;
      along[i] = 2 * dividing > most ? dividing : most;
      threads /= along[i];
      if (along[i] < extent) break;
    }
    return along;
  }

  // --- reductions ---

  // Unrolls reductions from the innermost outwards, as long as a thread has at most kMostProducts
  // products between two branches. The piecewise reduction may be unrolled by a factor.
  void UnrollReductions() {
    int64_t products = choice_.row_elements * choice_.column_elements;
    for (size_t i = plan_.inside.size(); i-- > 0;) {
      const int64_t extent = plan_.Extent(plan_.inside[i]);
      if (extent > kShort || products * extent > kMostProducts) return;
      Add(UnrollStep{Loop(plan_.inside[i])});
      products *= extent;
    }
    const int64_t length = PieceLength();
    int64_t factor = std::min(length, std::max<int64_t>(kMostProducts / products, 1));
    while (length % factor != 0) --factor;
    if (factor == 1) return;
    const bool full = plan_.pads_pieces || plan_.Extent(plan_.piecewise) % length == 0;
    const bool whole = factor == length && full;
    Add(UnrollStep{Loop(plan_.piecewise) + ".1", whole ? 0 : static_cast<int>(factor)});
  }

  const CudaTilePlan& plan_;
  const CudaTileChoice choice_;
  Schedule& schedule_;
  std::vector<VarId> blocks_;
  std::vector<std::string> grid_;     // loops over blocks, outermost first
  std::vector<std::string> threads_;  // loops that become a block's threads
};

}  // namespace

void WriteCudaTile(const CudaTilePlan& plan, const CudaTileChoice& choice, Schedule& schedule) {
  CudaTileWriter(plan, choice, schedule).Write();
}

}  // namespace tunec
