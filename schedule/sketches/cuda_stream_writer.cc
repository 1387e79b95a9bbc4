#include "schedule/sketches/cuda_stream_writer.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "ir/loop_nest.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/device_loops.h"

namespace tunec {
namespace {

// Greatest number of a thread's multiply-adds in an unrolled loop of a sum. The addresses of more
// products would fill the registers.
constexpr int64_t kMostProducts = 64;
constexpr int64_t kTogether = 4;  // consecutive keys that a thread loads at once

class CudaStreamWriter {
 public:
  CudaStreamWriter(const CudaStreamPlan& plan, const CudaStreamChoice& choice)
      : plan_(plan), stream_(plan.stream), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = stream_.lowering;
    for (const CudaStreamOperand* operand : {&plan_.keys, &plan_.values})
      if (operand->copy) Add(*operand->copy);
    Gather();
    CutFirst();
    CutLast();
    Stage();
    for (const StatementId s : All()) ShareOut(s);
    if (plan_.keys.copy) ShareOutCopy(plan_.keys, Depths(), stream_.columns, Column());
    if (plan_.values.copy) ShareOutCopy(plan_.values, Columns(), stream_.widths, Width());
    Pipeline(plan_.keys, KeyPieces(), Depths());
    Pipeline(plan_.values, ValuePieces(), Columns());
    for (BindStep& bind : threads_) Add(std::move(bind));
    std::vector<std::string> grid;
    for (const int outer : stream_.outer) grid.push_back(Loop(stream_.first, outer));
    BindGrid(*stream_.compute, First(), grid, schedule_);
    return std::move(schedule_);
  }

 private:
  // The dimension that a product sums over, which is split into K-blocks.
  struct Summed {
    std::string loop;  // suffix of the loop's name, after the statement's name
    int64_t extent = 1;
    int64_t piece = 1;
  };

  void Add(auto step) { schedule_.Add(std::move(step)); }
  IdRange<StatementId> All() const { return stream_.compute->statements.ids(); }
  const Statement& At(StatementId s) const { return stream_.statement(s); }
  const std::string& First() const { return At(stream_.first).name; }
  const std::string& Last() const { return At(stream_.last).name; }
  bool Has(StatementId s, int dimension) const {
    return stream_.IteratorOf(s, dimension).has_value();
  }
  std::string Name(int dimension) const { return "." + stream_.NameOf(dimension); }
  std::string Row() const { return Name(stream_.row); }
  std::string Column() const { return Name(stream_.column); }
  std::string Width() const { return Name(stream_.width); }
  std::string Depth() const { return Name(stream_.depth); }
  std::string Loop(StatementId s, int dimension) const { return At(s).name + Name(dimension); }
  std::string BlockLoop() const { return Loop(stream_.first, stream_.outer.back()); }
  std::string ChunkLoop() const {
    return stream_.chunk ? Loop(stream_.first, *stream_.chunk) : BlockLoop();
  }
  std::string LoopOf(StatementId s) const {
    return stream_.chunk && Has(s, *stream_.chunk) ? ChunkLoop() : BlockLoop();
  }
  Summed Depths() const { return {Depth(), stream_.depths, choice_.depth_piece}; }
  Summed Columns() const { return {Column(), stream_.columns, choice_.column_piece}; }
  std::string KeyPieces() const { return First() + Depth() + ".0"; }
  std::string ValuePieces() const { return Last() + Column() + ".0"; }

  // Moves each statement, with its initialisation, into the loop over KV blocks. A statement that
  // does not depend on the KV block moves into the loop over blocks of rows.
  void Gather() {
    for (const StatementId s : All()) {
      if (s != stream_.first) Add(ComputeAtStep{At(s).name, LoopOf(s)});
      if (At(s).reducer) Add(ComputeAtStep{At(s).name + ".init", LoopOf(s)});
    }
  }

  void CutFirst() { Cut(First(), Depths(), {First() + Column(), First() + Row()}, plan_.keys); }
  void CutLast() { Cut(Last(), Columns(), {Last() + Row(), Last() + Width()}, plan_.values); }

  // Splits a product's sum into K-blocks, whose loop goes outside of the loops over results. Moves
  // the copy of the operand into the loop over K-blocks.
  void Cut(const std::string& product, const Summed& summed,
           const std::vector<std::string>& results, const CudaStreamOperand& operand) {
    const std::string loop = product + summed.loop;
    Add(SplitStep{loop, {summed.piece}});
    ReorderStep order{{loop + ".0"}};
    order.loops.insert(order.loops.end(), results.begin(), results.end());
    order.loops.push_back(loop + ".1");
    Add(std::move(order));
    if (operand.copy) Add(ComputeAtStep{operand.copied, loop + ".0"});
  }

  // --- storage ---

  void Stage() {
    for (const StatementId s : All()) {
      const TensorId tensor = At(s).writes[0].tensor;
      if (stream_.compute->tensors[tensor].role != TensorRole::kWorkspace) continue;
      const std::string& name = stream_.compute->tensors[tensor].name;
      const std::string loop = plan_.StaysInChunk(tensor) ? ChunkLoop() : BlockLoop();
      if (plan_.IsPrivate(tensor)) {
        Add(StageStep{name, Scope::kRegister, loop, {}});
        continue;
      }
      Add(StageStep{name, Scope::kShared, loop, RowByRow(s)});
      // With the swizzle, the elements of different rows in one column are in different banks.
      if (plan_.WorkOf(s) == StreamWork::kCells) Swizzle(name, stream_.columns * SizeOf(tensor));
    }
    for (const auto& [operand, pieces, summed] :
         {std::tuple(&plan_.keys, KeyPieces(), Depths()),
          std::tuple(&plan_.values, ValuePieces(), Columns())}) {
      if (!operand->copy) continue;
      Add(StageStep{operand->copied, Scope::kShared, pieces, operand->order});
      if (operand->along_reduced) Swizzle(operand->copied, summed.piece * operand->bytes);
    }
  }

  int64_t SizeOf(TensorId tensor) const {
    return static_cast<int64_t>(tunec::SizeOf(stream_.compute->tensors[tensor].type));
  }

  void Swizzle(const std::string& tensor, int64_t row_bytes) {
    const bool fits =
        std::has_single_bit(static_cast<uint64_t>(row_bytes)) && row_bytes >= kChunkBytes;
    if (fits) Add(SwizzleStorageStep{tensor, kSwizzledChunks});
  }

  // Returns the order of dimensions of the tensor that the statement writes. Dimensions that use
  // the column or the depth are last, the row's are before them, and all others are first.
  std::vector<int64_t> RowByRow(StatementId s) const {
    std::vector<std::pair<int, int64_t>> ranked;
    const std::vector<IndexExpr>& index = At(s).writes[0].index;
    const auto uses = [&](size_t d, int dimension) {
      const auto v = stream_.IteratorOf(s, dimension);
      return v && index[d].Uses(*v);
    };
    for (size_t d = 0; d < index.size(); ++d) {
      const bool along = uses(d, stream_.column) || uses(d, stream_.depth);
      ranked.emplace_back(along ? 2 : uses(d, stream_.row) ? 1 : 0, static_cast<int64_t>(d));
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<int, int64_t>::first);
    std::vector<int64_t> order;
    for (const auto& [rank, dimension] : ranked) order.push_back(dimension);
    return order;
  }

  // --- threads ---

  // The loops over one dimension of a statement, distributed over the threads.
  struct Shares {
    std::string threads;
    std::vector<std::string> own;  // loops over a thread's elements, outermost first
    std::string lanes;             // vector loop; may be empty
  };

  // Splits a loop so that consecutive threads process consecutive groups of `lanes` elements.
  Shares Interleave(const std::string& loop, int64_t extent, int64_t lanes) {
    const int64_t threads = choice_.column_threads;
    if (lanes == 1 && extent <= threads) return {.threads = loop, .own = {}, .lanes = {}};
    if (lanes == 1) {
      Add(SplitStep{loop, {threads}});
      return {.threads = loop + ".1", .own = {loop + ".0"}, .lanes = {}};
    }
    Add(SplitStep{loop, {threads, lanes}});
    return {.threads = loop + ".1", .own = {loop + ".0"}, .lanes = loop + ".2"};
  }

  Shares CutRows(const std::string& loop) {
    if (choice_.row_elements == 1) return {.threads = loop, .own = {}, .lanes = {}};
    Add(SplitStep{loop, {choice_.row_elements}});
    return {.threads = loop + ".0", .own = {loop + ".1"}, .lanes = {}};
  }

  void ShareOut(StatementId s) {
    const std::string& name = At(s).name;
    switch (plan_.WorkOf(s)) {
      case StreamWork::kFirst:
        ShareOutElements(name + ".init", Column(), stream_.columns, 1, {});
        return ShareOutElements(name, Column(), stream_.columns, 1, CutDepths());
      case StreamWork::kLast:
        ShareOutElements(name + ".init", Width(), stream_.widths, Lanes(), {});
        return ShareOutElements(name, Width(), stream_.widths, Lanes(),
                                {Last() + Column() + ".1", choice_.column_piece, ""});
      case StreamWork::kCells:
        return ShareOutElements(name, Column(), stream_.columns, 1, {});
      case StreamWork::kWidths:
        return ShareOutElements(name, Width(), stream_.widths, Lanes(), {});
      case StreamWork::kQueries:
        return ShareOutElements(name, Depth(), stream_.depths, LanesOf(stream_.depths, choice_),
                                {});
      case StreamWork::kColumns:
        ShareOutRows(name + ".init");
        return ReduceColumns(name);
      case StreamWork::kRows:
        return ShareOutRows(name);
    }
  }

  int64_t Lanes() const { return LanesOf(stream_.widths, choice_); }

  void BindRows(const std::string& loop) { threads_.push_back({loop, LoopKind::kBlockY}); }
  void BindColumns(const std::string& loop) { threads_.push_back({loop, LoopKind::kBlockX}); }

  // The loops over the iterations of a sum in one K-block. The names are empty if the statement
  // sums nothing.
  struct Sum {
    std::string loop;
    int64_t length = 1;
    std::string neighbours;
  };

  // Returns the loops of the first product over a K-block. If the copied keys are contiguous along
  // the depth, a thread loads kTogether consecutive keys at once. All of these are used before the
  // next column's keys are loaded.
  Sum CutDepths() {
    const std::string loop = First() + Depth() + ".1";
    const bool together = plan_.keys.copy && plan_.keys.along_reduced &&
                          choice_.depth_piece % kTogether == 0 && choice_.depth_piece > kTogether;
    if (!together) return {loop, choice_.depth_piece, ""};
    Add(SplitStep{loop, {kTogether}});
    return {loop + ".0", choice_.depth_piece / kTogether, loop + ".1"};
  }

  // Distributes the rows of a statement, and its elements along the dimension `along`, over the
  // threads. The loop of a sum goes outside of a thread's loops, and the loop `neighbours` inside
  // them.
  void ShareOutElements(const std::string& statement, const std::string& along, int64_t extent,
                        int64_t lanes, const Sum& sum) {
    const Shares rows = CutRows(statement + Row());
    const Shares elements = Interleave(statement + along, extent, lanes);
    std::vector<std::string> own = rows.own;
    own.insert(own.end(), elements.own.begin(), elements.own.end());
    if (!sum.neighbours.empty()) {
      std::ranges::reverse(own);
      own.push_back(sum.neighbours);
    }
    ReorderStep order{{rows.threads, elements.threads}};
    if (!sum.loop.empty()) order.loops.push_back(sum.loop);
    order.loops.insert(order.loops.end(), own.begin(), own.end());
    if (!elements.lanes.empty()) order.loops.push_back(elements.lanes);
    Add(std::move(order));
    for (const std::string& loop : own) Add(UnrollStep{loop});
    if (!elements.lanes.empty()) Add(VectorizeStep{elements.lanes});
    if (!sum.loop.empty()) UnrollSum(sum, CeilDivide(extent, choice_.column_threads));
    BindRows(rows.threads);
    BindColumns(elements.threads);
  }

  void UnrollSum(const Sum& sum, int64_t elements) {
    const int64_t inside =
        choice_.row_elements * elements * (sum.neighbours.empty() ? 1 : kTogether);
    int64_t factor = std::min(sum.length, std::max<int64_t>(kMostProducts / inside, 1));
    while (sum.length % factor != 0) --factor;
    if (factor > 1) Add(UnrollStep{sum.loop, factor == sum.length ? 0 : static_cast<int>(factor)});
  }

  // Distributes a reduction of columns over the threads of a row, which combine their partial
  // results. The loop over a thread's rows is outermost.
  void ReduceColumns(const std::string& statement) {
    const Shares rows = CutRows(statement + Row());
    const Shares elements = Interleave(statement + Column(), stream_.columns, 1);
    ReorderStep order{rows.own};
    order.loops.insert(order.loops.end(), {rows.threads, elements.threads});
    order.loops.insert(order.loops.end(), elements.own.begin(), elements.own.end());
    Add(std::move(order));
    for (const Shares* shares : {&rows, &elements})
      for (const std::string& loop : shares->own) Add(UnrollStep{loop});
    BindRows(rows.threads);
    BindColumns(elements.threads);
  }

  // Assigns each row to one thread.
  void ShareOutRows(const std::string& statement) {
    const std::string loop = statement + Row();
    if (stream_.rows <= choice_.column_threads) return BindColumns(loop);
    Add(SplitStep{loop, {choice_.column_threads}});
    BindRows(loop + ".0");
    BindColumns(loop + ".1");
  }

  // --- copies ---

  // Distributes the copy of a K-block over the threads. Consecutive threads copy consecutive chunks
  // of a line, and other threads copy other lines. `across` is the suffix of the operand's loop
  // over the dimension that is not summed, with `results` iterations.
  void ShareOutCopy(const CudaStreamOperand& operand, const Summed& summed, int64_t results,
                    const std::string& across) {
    const std::string reduced = operand.copied + summed.loop + ".1";
    const std::string other = operand.copied + across;
    const std::string& inner = operand.along_reduced ? reduced : other;
    const std::string& line = operand.along_reduced ? other : reduced;
    const int64_t inner_extent = operand.along_reduced ? summed.piece : results;
    const int64_t lines = operand.along_reduced ? results : summed.piece;
    int64_t chunk = operand.chunk;
    while (inner_extent % chunk != 0 || (operand.along_reduced && summed.extent % chunk != 0))
      chunk /= 2;
    const int64_t along = std::min(inner_extent / chunk, choice_.column_threads);
    const int64_t across_lanes = std::max<int64_t>(choice_.column_threads / along, 1);
    const int64_t groups = std::min(CeilDivide(lines, across_lanes), RowThreads(plan_, choice_));
    Add(SplitStep{line, {groups, across_lanes}});
    Add(SplitStep{inner, {along, chunk}});
    ReorderStep order{operand.ones};
    for (const std::string& loop :
         {line + ".1", line + ".2", inner + ".1", line + ".0", inner + ".0", inner + ".2"}) {
      order.loops.push_back(loop);
    }
    Add(std::move(order));
    BindRows(line + ".1");
    BindColumns(
        FuseAll(*stream_.compute, operand.copied, "lanes", {line + ".2", inner + ".1"}, schedule_));
    for (const std::string& loop : {line + ".0", inner + ".0"}) Add(UnrollStep{loop});
    if (chunk > 1) Add(VectorizeStep{inner + ".2"});
  }

  void Pipeline(const CudaStreamOperand& operand, const std::string& pieces, const Summed& summed) {
    if (!operand.copy || choice_.stages < 2 || summed.extent <= summed.piece) return;
    Add(PipelineStep{pieces, static_cast<int>(choice_.stages)});
  }

  const CudaStreamPlan& plan_;
  const StreamPlan& stream_;
  const CudaStreamChoice choice_;
  Schedule schedule_;
  std::vector<BindStep> threads_;
};

}  // namespace

Schedule WriteCudaStream(const CudaStreamPlan& plan, const CudaStreamChoice& choice) {
  return CudaStreamWriter(plan, choice).Write();
}

}  // namespace tunec
