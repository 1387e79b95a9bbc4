#include "schedule/sketches/stream_writer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "schedule/access_analysis.h"

namespace tunec {
namespace {

class StreamWriter {
 public:
  StreamWriter(const StreamPlan& plan, const StreamPairs* pairs, const StreamChoice& choice)
      : plan_(plan), pairs_(pairs), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    if (pairs_ != nullptr) {
      for (const ComputeStep& step : pairs_->steps) Add(step);
    }
    Gather();
    TileFirst();
    TileLast();
    StageBuffers();
    for (const StatementId s : All()) RunInLanes(s);
    if (pairs_ != nullptr) CopyPairs();
    for (const int outer : plan_.outer) Add(ParallelizeStep{Loop(plan_.first, outer)});
    if (plan_.chunk && choice_.prefetch) PrefetchChunk();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  IdRange<StatementId> All() const { return plan_.compute->statements.ids(); }
  const Statement& At(StatementId s) const { return plan_.statement(s); }
  const std::string& First() const { return At(plan_.first).name; }
  const std::string& Last() const { return At(plan_.last).name; }
  bool Has(StatementId s, int dimension) const {
    return plan_.IteratorOf(s, dimension).has_value();
  }
  std::string Loop(StatementId s, int dimension) const {
    return At(s).name + "." + plan_.NameOf(dimension);
  }
  std::string BlockLoop() const { return Loop(plan_.first, plan_.outer.back()); }
  std::string ChunkLoop() const {
    return plan_.chunk ? Loop(plan_.first, *plan_.chunk) : BlockLoop();
  }
  std::string LoopOf(StatementId s) const {
    return plan_.chunk && Has(s, *plan_.chunk) ? ChunkLoop() : BlockLoop();
  }
  // Returns the loop over the second product's tiles of rows.
  std::string LastTileLoop() const { return Loop(plan_.last, plan_.row) + ".0"; }

  // Returns true if the statement reads the product's results and is not a reduction.
  bool Follows(StatementId s, StatementId product) const {
    const TensorId tensor = At(product).writes[0].tensor;
    const bool reads =
        std::ranges::any_of(At(s).reads, [&](const Read& read) { return read.tensor == tensor; });
    return reads && !At(s).reducer;
  }

  // Moves each statement into the loop over KV blocks if it depends on the KV block, else into the
  // loop over blocks of rows. Moves the copies of queries and weights into the same loops.
  void Gather() {
    for (const StatementId s : All()) {
      if (s == plan_.first) continue;
      if (pairs_ != nullptr && Has(s, plan_.depth)) {
        Add(ComputeAtStep{pairs_->queries.name, LoopOf(s)});
      }
      if (pairs_ != nullptr && s == plan_.last) Add(ComputeAtStep{pairs_->weights.name, LoopOf(s)});
      Add(ComputeAtStep{At(s).name, LoopOf(s)});
      if (At(s).reducer) Add(ComputeAtStep{At(s).name + ".init", LoopOf(s)});
    }
  }

  void TileFirst() {
    const std::string columns = Loop(plan_.first, plan_.column);
    Add(SplitStep{columns, {choice_.columns}});
    // With `bounded_columns`, the columns of each block of rows are complete tiles.
    const bool partial = plan_.partial_columns && !plan_.bounded_columns;
    if (plan_.columns % choice_.columns != 0 || partial) {
      Add(IsolateStep{columns + ".0"});
    }
    if (plan_.chunk && partial) Add(IsolateStep{ChunkLoop()});
    const std::string depth = Loop(plan_.first, plan_.depth), row = Loop(plan_.first, plan_.row);
    if (pairs_ == nullptr) {
      Add(ReorderStep{{columns + ".0", depth, columns + ".1", row}});
    } else {
      Add(SplitStep{depth, {pairs_->Group()}});
      Add(SplitStep{row, {pairs_->Lanes()}});
      Add(ReorderStep{
          {columns + ".0", depth + ".0", columns + ".1", row + ".0", depth + ".1", row + ".1"}});
    }
    Add(ComputeAtStep{First() + ".init", columns + ".0"});
    for (const StatementId s : All()) {
      if (Follows(s, plan_.first)) Add(ComputeAtStep{At(s).name, columns + ".0"});
    }
    Stage(plan_.first, Scope::kRegister, columns + ".0");
    if (pairs_ != nullptr) MultiplyPairs(pairs_->queries, BlockLoop(), depth + ".1");
  }

  void TileLast() {
    const std::string rows = Loop(plan_.last, plan_.row);
    const std::string widths = Loop(plan_.last, plan_.width);
    Add(SplitStep{rows, {choice_.rows}});
    if (plan_.rows % choice_.rows != 0) Add(IsolateStep{rows + ".0"});
    const std::string column = Loop(plan_.last, plan_.column);
    if (pairs_ == nullptr) {
      Add(SplitStep{widths, {choice_.widths}});
      if (plan_.widths % choice_.widths != 0) Add(IsolateStep{widths + ".0"});
      Add(ReorderStep{{widths + ".0", rows + ".0", column, rows + ".1", widths + ".1"}});
    } else {
      Add(SplitStep{widths, {choice_.widths / pairs_->Lanes(), pairs_->Lanes()}});
      if (plan_.widths % choice_.widths != 0) Add(IsolateStep{widths + ".0"});
      Add(SplitStep{column, {pairs_->Group()}});
      if (pairs_->odd_columns) Add(IsolateStep{column + ".0"});
      Add(ReorderStep{{widths + ".0", rows + ".0", column + ".0", rows + ".1", widths + ".1",
                       column + ".1", widths + ".2"}});
    }
    Add(ComputeAtStep{Last() + ".init", LastTileLoop()});
    for (const StatementId s : All()) {
      if (Follows(s, plan_.last)) Add(ComputeAtStep{At(s).name, LastTileLoop()});
    }
    Stage(plan_.last, Scope::kRegister, LastTileLoop());
    if (pairs_ != nullptr) MultiplyPairs(pairs_->weights, ChunkLoop(), column + ".1");
  }

  // Stores the copy with contiguous pairs in the task's buffer. Replaces the loop `pair` and the
  // loop over lanes inside it by the instruction.
  void MultiplyPairs(const StreamPairs::Copy& copy, const std::string& buffer,
                     const std::string& pair) {
    Add(StageStep{copy.name, Scope::kPacked, buffer, copy.order});
    Add(TensorizeStep{pair, pairs_->intrinsic->name});
  }

  void Stage(StatementId s, Scope scope, const std::string& loop) {
    Add(StageStep{plan_.compute->tensors[At(s).writes[0].tensor].name, scope, loop});
  }

  // Returns true if all statements access the tensor only at their current KV block. Returns false
  // without KV blocks.
  bool StaysInChunk(TensorId tensor) const {
    if (!plan_.chunk) return false;
    const auto same_chunk = [&](StatementId s, const std::vector<IndexExpr>& index) {
      const auto chunk = plan_.IteratorOf(s, *plan_.chunk);
      return chunk &&
             std::ranges::any_of(index, [&](const IndexExpr& e) { return e.AsVar() == *chunk; });
    };
    for (const StatementId s : All()) {
      for (const Read& read : At(s).reads) {
        if (read.tensor == tensor && !same_chunk(s, read.index)) return false;
      }
      for (const tunec::Write& write : At(s).writes) {
        if (write.tensor == tensor && !same_chunk(s, write.index)) return false;
      }
    }
    return true;
  }

  // Returns true if the tensor has one value per row, and all statements that access it have rows
  // as lanes.
  bool IsRowVector(TensorId tensor) const {
    const auto touches = [&](const auto& access) { return access.tensor == tensor; };
    for (const StatementId s : All()) {
      if (std::ranges::none_of(At(s).reads, touches) &&
          std::ranges::none_of(At(s).writes, touches)) {
        continue;
      }
      if (Has(s, plan_.width) || Has(s, plan_.depth)) return false;
      const auto column = plan_.IteratorOf(s, plan_.column);
      const bool by_column = std::ranges::any_of(At(s).writes, [&](const tunec::Write& write) {
        return touches(write) && column && UsesIterator(write.index, *column);
      });
      if (by_column) return false;
    }
    return true;
  }

  bool IsCopiedInPairs(TensorId tensor) const {
    const auto multiplies = [&](StatementId product) {
      return std::ranges::any_of(At(product).reads,
                                 [&](const Read& read) { return read.tensor == tensor; });
    };
    return pairs_ != nullptr && (multiplies(plan_.first) || multiplies(plan_.last));
  }

  // Stores the tensor in a buffer with the rows as the last dimension, because vectors of rows are
  // read from it.
  void StageRowsLast(StatementId s, const std::string& loop) {
    const tunec::Write& write = At(s).writes[0];
    const std::optional<VarId> row = plan_.IteratorOf(s, plan_.row);
    StageStep stage{plan_.compute->tensors[write.tensor].name, Scope::kPacked, loop};
    std::optional<int64_t> last;
    for (int64_t d = 0; d < std::ssize(write.index); ++d) {
      if (row && write.index[static_cast<size_t>(d)].AsVar() == *row) {
        last = d;
      } else {
        stage.order.push_back(d);
      }
    }
    if (last) stage.order.push_back(*last);
    Add(std::move(stage));
  }

  void StageBuffers() {
    for (const StatementId s : All()) {
      const TensorId tensor = At(s).writes[0].tensor;
      if (s == plan_.first || s == plan_.last) continue;
      if (plan_.compute->tensors[tensor].role != TensorRole::kWorkspace) continue;
      const bool in_chunk = StaysInChunk(tensor);
      const bool in_registers = IsRowVector(tensor) && (in_chunk || !plan_.chunk);
      const std::string loop = in_chunk ? ChunkLoop() : BlockLoop();
      if (IsCopiedInPairs(tensor)) {
        StageRowsLast(s, loop);
      } else {
        Stage(s, in_registers ? Scope::kRegister : Scope::kPacked, loop);
      }
    }
  }

  void RunInLanes(StatementId s) {
    if (s == plan_.first || Follows(s, plan_.first)) return RunTile(s, plan_.column, plan_.row);
    if (s == plan_.last || Follows(s, plan_.last)) return RunTile(s, plan_.row, plan_.width);
    if (Has(s, plan_.width)) return RunAlongWidth(s);
    if (Has(s, plan_.depth)) return RunAlongDepth(s);
    if (At(s).reducer) {
      Add(ReorderStep{{Loop(s, plan_.column), Loop(s, plan_.row)}});
      Add(VectorizeStep{At(s).name + ".init." + plan_.NameOf(plan_.row)});
    }
    Add(VectorizeStep{Loop(s, plan_.row)});
    if (Has(s, plan_.column)) Unroll(Loop(s, plan_.column), plan_.columns);
  }

  // Unrolls and vectorizes the loops of a statement over a register tile. `unrolled` is the
  // dimension of the tile's rows, `lanes` that of its columns.
  void RunTile(StatementId s, int unrolled, int lanes) {
    const bool second = s == plan_.last || Follows(s, plan_.last);
    const std::string vectors = "." + plan_.NameOf(lanes) + (second ? ".1" : ".0");
    const std::string plain_lanes = "." + plan_.NameOf(lanes) + (second ? ".1" : "");
    const std::string lanes_of_pairs = "." + plan_.NameOf(lanes) + (second ? ".2" : ".1");
    for (const std::string& name : {At(s).name, At(s).name + ".init"}) {
      if (name != At(s).name && !At(s).reducer) continue;
      Add(UnrollStep{name + "." + plan_.NameOf(unrolled) + ".1"});
      if (pairs_ != nullptr) Add(UnrollStep{name + vectors});
      Add(VectorizeStep{name + (pairs_ != nullptr ? lanes_of_pairs : plain_lanes)});
    }
    if (s == plan_.first) UnrollReduced(Loop(s, plan_.depth), plan_.depths);
    if (s == plan_.last) UnrollReduced(Loop(s, plan_.column), plan_.columns);
  }

  // Vectorizes a statement along the widths, such as the statement that writes the output.
  void RunAlongWidth(StatementId s) {
    const std::string loop = Loop(s, plan_.width);
    Add(SplitStep{loop, {choice_.widths}});
    if (plan_.widths % choice_.widths != 0) Add(IsolateStep{loop + ".0"});
    Add(VectorizeStep{loop + ".1"});
  }

  // Vectorizes a statement that computes queries. Rows become lanes, so the queries are transposed.
  // If the rows are complete vectors and the depth permits blocks of at least four elements, the
  // loops walk blocks. The statement then reads vectors along the depth and transposes them in
  // registers.
  void RunAlongDepth(StatementId s) {
    const std::string depth = Loop(s, plan_.depth), row = Loop(s, plan_.row);
    const int64_t block = std::gcd(plan_.depths, choice_.lanes);
    if (block < 4 || plan_.rows % choice_.lanes != 0) {
      Add(ReorderStep{{depth, row}});
      Add(VectorizeStep{row});
      return;
    }
    Add(SplitStep{depth, {block}});
    Add(SplitStep{row, {choice_.lanes}});
    Add(ReorderStep{{depth + ".0", row + ".0", depth + ".1", row + ".1"}});
    Add(UnrollStep{depth + ".1"});
    Add(VectorizeStep{row + ".1"});
  }

  // Vectorizes the copy's loops over lanes and inside a pair together, so that a vector interleaves
  // two source vectors. `outer` has the loops around them, outermost first.
  void PairUp(const StreamPairs::Copy& copy, const std::string& lanes,
              std::vector<std::string> outer) {
    const std::string together = copy.name + ".pairs", pair = copy.name + "." + *copy.pair;
    Add(SplitStep{lanes, {pairs_->Lanes()}});
    if (copy.length % pairs_->Lanes() != 0) Add(IsolateStep{lanes + ".0"});
    outer.insert(outer.end(), {lanes + ".0", lanes + ".1", pair});
    Add(ReorderStep{std::move(outer)});
    Add(FuseStep{lanes + ".1", pair, together});
    Add(VectorizeStep{together});
  }

  static std::vector<std::string> LoopsOf(const StreamPairs::Copy& copy,
                                          const std::vector<std::string>& iterators) {
    std::vector<std::string> loops;
    for (const std::string& iterator : iterators) loops.push_back(copy.name + "." + iterator);
    return loops;
  }

  // Vectorizes a copy in the task's buffer, with rows as lanes.
  void PairUpRows(const StreamPairs::Copy& copy) {
    std::vector<std::string> outer = LoopsOf(copy, copy.ones);
    outer.push_back(copy.name + "." + copy.group);
    // With `bounded_columns`, the columns of each block of rows are complete pairs.
    if (copy.partial && !plan_.bounded_columns) Add(IsolateStep{outer.back()});
    PairUp(copy, copy.name + "." + plan_.NameOf(plan_.row), std::move(outer));
  }

  // Schedules a copy of keys or values as a separate phase. A task copies kGroupsOfTask keys or
  // pairs of values.
  void CopyArgument(const StreamPairs::Copy& copy) {
    const std::string group = copy.name + "." + copy.group, lanes = copy.name + "." + copy.lanes;
    std::vector<std::string> loops = LoopsOf(copy, copy.outer);
    Add(SplitStep{group, {kGroupsOfTask}});
    if (copy.groups % kGroupsOfTask != 0 || copy.partial) Add(IsolateStep{group + ".0"});
    loops.push_back(group + ".0");
    const std::vector<std::string> parallel = loops;
    const std::vector<std::string> ones = LoopsOf(copy, copy.ones);
    loops.insert(loops.end(), ones.begin(), ones.end());
    loops.push_back(group + ".1");
    if (copy.pair) {
      if (copy.partial) Add(IsolateStep{loops.back()});
      PairUp(copy, lanes, std::move(loops));
    } else {
      loops.push_back(lanes);
      Add(ReorderStep{std::move(loops)});
      Add(VectorizeStep{lanes});
    }
    for (const std::string& loop : parallel) Add(ParallelizeStep{loop});
  }

  void CopyPairs() {
    PairUpRows(pairs_->queries);
    PairUpRows(pairs_->weights);
    CopyArgument(pairs_->values);
    if (pairs_->keys) CopyArgument(*pairs_->keys);
  }

  void PrefetchChunk() {
    for (const std::string& tensor : ChunkedArguments(plan_, pairs_))
      Add(PrefetchStep{tensor, ChunkLoop(), 1, 2});
  }

  // Unrolls the reduced loop of a product, or with pairs the loop over pairs.
  void UnrollReduced(const std::string& loop, int64_t extent) {
    if (pairs_ == nullptr) return Unroll(loop, extent);
    Unroll(loop + ".0", extent / pairs_->Group());
  }

  void Unroll(const std::string& loop, int64_t extent) {
    const int64_t factor = std::min(choice_.unroll, extent);
    if (factor > 1) Add(UnrollStep{loop, static_cast<int>(factor)});
  }

  // Number of keys, or of pairs of values, in a task that copies arguments.
  static constexpr int64_t kGroupsOfTask = 32;

  const StreamPlan& plan_;
  const StreamPairs* pairs_;  // null: plain multiply-adds
  StreamChoice choice_;
  Schedule schedule_;
};

}  // namespace

std::vector<std::string> ChunkedArguments(const StreamPlan& plan, const StreamPairs* pairs) {
  std::vector<std::string> tensors;
  if (!plan.chunk) return tensors;
  if (pairs != nullptr) {
    tensors.push_back(pairs->values.name);
    if (pairs->keys) tensors.push_back(pairs->keys->name);
    return tensors;
  }
  for (const StatementId s : {plan.first, plan.last}) {
    const std::optional<VarId> chunk = plan.IteratorOf(s, *plan.chunk);
    for (const Read& read : plan.statement(s).reads) {
      const Tensor& tensor = plan.compute->tensors[read.tensor];
      const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
      const bool known = std::ranges::find(tensors, tensor.name) != tensors.end();
      const bool loaded = std::ranges::any_of(read.index, &IndexExpr::UsesLoaded);
      if (argument && !known && !loaded && chunk && UsesIterator(read.index, *chunk))
        tensors.push_back(tensor.name);
    }
  }
  return tensors;
}

Schedule WriteStreamSchedule(const StreamPlan& plan, const StreamPairs* pairs,
                             const StreamChoice& choice) {
  return StreamWriter(plan, pairs, choice).Write();
}

}  // namespace tunec
