// Columns: sums over many rows for each of many contiguous columns, with elementwise statements
// around the sums. Examples are statistics of channels, and normalisations of images whose channels
// come last.
//
// Columns are the lanes. Few columns give few tasks, so the rows are split into shares. Each task
// sums a share in registers. Several partial sums at once hide the latency of an addition. A second
// phase combines the shares. A reduction that does not fit has no steps and runs as a separate
// phase, if it has little work. Elementwise statements have the steps of pointwise sketches.
//
//   parallel: shares, blocks of columns
//     registers: lanes[A][V] = identity
//     rows of the share, A at a time: lanes[a][v] = combine(lanes[a][v], x[row + a][v])
//     share[v] = combine of lanes[..][v]
//   columns: combine of shares
#include <algorithm>
#include <optional>

#include "schedule/access_analysis.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/pointwise_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

// Least ratio of the largest reduction's work to that of a reduction without steps.
constexpr int64_t kSmallPart = 16;

struct ColumnSum {
  std::string statement;
  std::string column;                // the iterator along which the reads are contiguous
  int64_t columns = 1;               // its extent
  std::vector<std::string> outer;    // the other iterators of the result
  std::string shared;                // the reduced iterator that is split into shares
  int64_t rows = 1;                  // its extent
  std::string inner;                 // the reduced iterator with the smallest stride
  int64_t inner_rows = 1;            // its extent
  std::vector<std::string> reduced;  // all reduced iterators, the largest stride first
  std::vector<int> part_axes;        // storage order of the shares' results, the column last
  int column_axis = 0;
};

struct ColumnPlan {
  std::string lowering;
  std::vector<ColumnSum> sums;
  std::vector<PointwisePlan> pointwise;
};

struct ColumnChoice {
  int64_t shares = 8;
  int64_t columns = 64;
  int64_t partial_sums = 4;
  int64_t vector = 64;  // vector length of elementwise statements, in elements
};

bool IsSplittable(const Statement& statement) {
  return statement.reducer && statement.reducer->reorderable && statement.writes.size() == 1 &&
         statement.reducer->finalise.empty() && statement.domain.empty();
}

// Returns the iterator of the result along which the reads are contiguous. Returns nothing if the
// reads differ, or if the result does not use the iterator. Reads that are contiguous along no
// iterator are not considered.
std::optional<VarId> ColumnOf(const Compute& compute, const Statement& statement) {
  std::optional<VarId> column;
  for (const Read& read : statement.reads) {
    const auto along = ContiguousIterator(compute, statement, read.tensor, read.index);
    if (!along) continue;
    if (column && *column != *along) return std::nullopt;
    column = along;
  }
  const std::vector<VarId> written = WrittenIterators(statement);
  const bool kept = column && std::ranges::find(written, *column) != written.end();
  return kept ? column : std::nullopt;
}

// Returns the largest absolute stride of the reads along the iterator. A stride that is not
// constant counts as 0.
int64_t StrideOf(const Compute& compute, const Statement& statement, VarId iterator) {
  int64_t stride = 0;
  for (const Read& read : statement.reads) {
    const auto own = StorageStride(compute, statement, read.tensor, read.index, iterator);
    stride = std::max(stride, std::abs(own.value_or(0)));
  }
  return stride;
}

std::optional<ColumnSum> ColumnSumOf(const Compute& compute, const Statement& statement) {
  if (!IsSplittable(statement)) return std::nullopt;
  const std::optional<VarId> column = ColumnOf(compute, statement);
  std::vector<VarId> reduced = ReducedIterators(statement);
  if (!column || reduced.empty()) return std::nullopt;
  ColumnSum sum{.statement = statement.name,
                .column = statement.iterators[*column].name,
                .columns = statement.iterators[*column].extent};
  const std::vector<IndexExpr>& index = statement.writes[0].index;
  for (size_t d = 0; d < index.size(); ++d) {
    if (!index[d].AsVar() && !index[d].IsConstant()) return std::nullopt;
    if (index[d].AsVar() == *column) {
      sum.column_axis = static_cast<int>(d);
      continue;
    }
    sum.part_axes.push_back(static_cast<int>(d));
    if (index[d].AsVar()) sum.outer.push_back(statement.iterators[*index[d].AsVar()].name);
  }
  sum.part_axes.push_back(static_cast<int>(index.size()));  // dimension of the shares
  sum.part_axes.push_back(sum.column_axis);
  std::ranges::stable_sort(reduced, std::ranges::greater(),
                           [&](VarId iterator) { return StrideOf(compute, statement, iterator); });
  for (const VarId iterator : reduced) sum.reduced.push_back(statement.iterators[iterator].name);
  const auto longest = std::ranges::max_element(
      reduced, {}, [&](VarId iterator) { return statement.iterators[iterator].extent; });
  // Shares of the iterator with the largest stride are contiguous in memory. A short iterator would
  // give too few shares.
  constexpr int64_t kFewRows = 16;
  const bool few = statement.iterators[reduced.front()].extent < kFewRows;
  const VarId shared = few ? *longest : reduced.front();
  sum.shared = statement.iterators[shared].name;
  sum.rows = statement.iterators[shared].extent;
  sum.inner = statement.iterators[reduced.back()].name;
  sum.inner_rows = statement.iterators[reduced.back()].extent;
  return sum;
}

std::optional<ColumnPlan> MakePlan(const NamedCompute& lowering, int64_t lanes) {
  const Compute& compute = lowering.compute;
  ColumnPlan plan{.lowering = lowering.name};
  double largest = 0;
  for (const Statement& statement : compute.statements) {
    if (statement.reducer) largest = std::max(largest, ProductOfExtents(statement));
  }
  for (const Statement& statement : compute.statements) {
    if (!statement.reducer) {
      auto pointwise = MakePointwisePlan(compute, statement, lanes);
      if (pointwise) plan.pointwise.push_back(std::move(*pointwise));
      if (!pointwise && !statement.iterators.empty()) return std::nullopt;
      continue;
    }
    auto sum = ColumnSumOf(compute, statement);
    if (sum) {
      plan.sums.push_back(std::move(*sum));
    } else if (ProductOfExtents(statement) * kSmallPart > largest) {
      return std::nullopt;
    }
  }
  return plan.sums.empty() ? std::nullopt : std::optional(std::move(plan));
}

class ColumnWriter {
 public:
  ColumnWriter(const ColumnSum& sum, const ColumnChoice& choice, Schedule& schedule)
      : sum_(sum), choice_(choice), schedule_(schedule) {}

  void Write() {
    Split();
    Loops();
  }

 private:
  void Split() {
    Add(ReduceSplitStep{sum_.statement, sum_.shared, Share(), ReduceSplitStep::Parallel::kOuter});
    Add(ReduceSplitStep{Part(), Inner(), PartialSums(), ReduceSplitStep::Parallel::kInner});
    PackStep pack{.tensor = Part()};
    for (const int axis : sum_.part_axes) pack.axes.push_back({.dimension = axis});
    Add(std::move(pack));
  }

  void Loops() {
    SumShares();
    Join();
    const std::string combined = sum_.statement + "." + sum_.column;
    Add(SplitStep{combined, {Columns()}});
    ReorderStep order;
    for (const std::string& loop : sum_.outer) order.loops.push_back(sum_.statement + "." + loop);
    order.loops.insert(
        order.loops.end(),
        {combined + ".0", sum_.statement + "." + sum_.shared + "p", combined + ".1"});
    Add(std::move(order));
    Add(ComputeAtStep{sum_.statement + ".init", combined + ".0"});
    if (sum_.columns % Columns() != 0) Add(IsolateStep{combined + ".0"});
    Add(VectorizeStep{combined + ".1"});
    Add(VectorizeStep{sum_.statement + ".init." + sum_.column + ".1"});
    for (const std::string& loop : sum_.outer) Add(ParallelizeStep{sum_.statement + "." + loop});
    Add(ParallelizeStep{combined + ".0"});
  }

  void Add(auto step) { schedule_.Add(std::move(step)); }
  std::string Part() const { return sum_.statement + ".part"; }
  std::string Lanes() const { return Part() + ".part"; }
  std::string LanesLoop(const std::string& iterator) const { return Lanes() + "." + iterator; }
  std::string Block() const { return LanesLoop(sum_.column) + ".0"; }
  int64_t Share() const { return CeilDivide(sum_.rows, std::min(choice_.shares, sum_.rows)); }
  int64_t Columns() const { return std::min(choice_.columns, sum_.columns); }
  // Returns the iterator whose values are distributed over the partial sums. If this iterator is
  // the shared one, the part within a share is distributed.
  std::string Inner() const { return sum_.inner == sum_.shared ? sum_.inner + "i" : sum_.inner; }
  int64_t PartialSums() const {
    return std::min(choice_.partial_sums, sum_.inner == sum_.shared ? Share() : sum_.inner_rows);
  }

  void SumShares() {
    Add(SplitStep{LanesLoop(sum_.column), {Columns()}});
    ReorderStep order;
    for (const std::string& loop : sum_.outer) order.loops.push_back(LanesLoop(loop));
    order.loops.push_back(LanesLoop(sum_.shared + "o"));
    order.loops.push_back(Block());
    for (const std::string& iterator : sum_.reduced) {
      const std::string loop = iterator == sum_.shared ? iterator + "i" : iterator;
      order.loops.push_back(LanesLoop(iterator == sum_.inner ? loop + "o" : loop));
    }
    order.loops.push_back(LanesLoop(Inner() + "i"));
    order.loops.push_back(LanesLoop(sum_.column) + ".1");
    Add(std::move(order));
  }

  // Moves all statements of a share into its task, and adds the steps of their loops.
  void Join() {
    const std::string column = "." + sum_.column;  // suffix of the loops over columns
    const std::string partial = Part() + "." + Inner() + "p";
    Add(ReorderStep{{partial, Part() + column}});
    for (const std::string& statement : {Lanes() + ".init", Part(), Part() + ".init"}) {
      Add(ComputeAtStep{statement, Block()});
    }
    Add(StageStep{Lanes(), Scope::kRegister, Block()});
    if (sum_.rows % Share() != 0) Add(IsolateStep{LanesLoop(sum_.shared + "o")});
    if (sum_.columns % Columns() != 0) Add(IsolateStep{Block()});
    for (const std::string& statement : {Lanes(), Lanes() + ".init", Part()}) {
      Add(UnrollStep{statement + "." + Inner() + "i"});
    }
    Add(VectorizeStep{LanesLoop(sum_.column) + ".1"});
    for (const std::string& statement : {Lanes() + ".init", Part(), Part() + ".init"}) {
      Add(VectorizeStep{statement + column + ".1"});
    }
    for (const std::string& loop : sum_.outer) Add(ParallelizeStep{LanesLoop(loop)});
    Add(ParallelizeStep{LanesLoop(sum_.shared + "o")});
    Add(ParallelizeStep{Block()});
  }

  const ColumnSum& sum_;
  const ColumnChoice& choice_;
  Schedule& schedule_;
};

}  // namespace

void AddColumnSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches) {
  const int64_t lanes = target.host.Lanes(4);
  const std::optional<ColumnPlan> plan = MakePlan(lowering, lanes);
  if (!plan) return;
  const int64_t threads = target.host.threads;
  Knobs<ColumnChoice> knobs;
  knobs.Add({"shares", {threads, 2 * threads, 4 * threads, 16 * threads}, 2},
            &ColumnChoice::shares);
  knobs.Add({"columns", {lanes, 2 * lanes, 4 * lanes}, 1}, &ColumnChoice::columns);
  knobs.Add({"partial_sums", {1, 2, 4, 8}, 2}, &ColumnChoice::partial_sums);
  knobs.Add({"vector", {lanes, 2 * lanes, 4 * lanes}, 1}, &ColumnChoice::vector);
  const auto write = [plan = *plan, threads](const ColumnChoice& choice) {
    Schedule schedule{.lowering = plan.lowering};
    for (const ColumnSum& sum : plan.sums) ColumnWriter(sum, choice, schedule).Write();
    for (const PointwisePlan& pointwise : plan.pointwise) {
      WritePointwise(pointwise, {.vector = choice.vector}, static_cast<int>(threads), schedule);
    }
    return schedule;
  };
  sketches.push_back(MakeSketch("columns", std::move(knobs), write));
}

}  // namespace tunec
