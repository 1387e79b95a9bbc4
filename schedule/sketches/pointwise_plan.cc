// Loops are in the output's storage order, and vectors are along its contiguous dimension. The
// loops are fused into one if all accesses have the same offset or a constant one. Shapes with
// short rows then have full vectors too.
#include "schedule/sketches/pointwise_plan.h"

#include <algorithm>
#include <map>

#include "schedule/access_analysis.h"
#include "schedule/sketches/loop_names.h"

namespace tunec {
namespace {

// Number of tasks per thread. With several tasks, all threads end at about the same time.
constexpr int64_t kTasksOfThread = 8;

// Least number of instances of a scatter for which tasks pay.
constexpr int64_t kWorthTasks = 1 << 14;

IndexExpr Offset(const Compute& compute, const Statement& statement, TensorId tensor,
                 const std::vector<IndexExpr>& index) {
  return Simplify(StorageOffset(compute.tensors[tensor], index), statement.Intervals());
}

// Returns true if all writes have the same offset, and each read has this offset or a constant one.
// The loops must write consecutive elements, without conditions. `order` has the iterators of the
// loops, outermost first.
bool IsUniform(const Compute& compute, const Statement& statement,
               const std::vector<VarId>& order) {
  const Write& write = statement.writes[0];
  const IndexExpr target = Offset(compute, statement, write.tensor, write.index);
  if (!statement.domain.empty()) return false;
  for (const Write& other : statement.writes) {
    if (Offset(compute, statement, other.tensor, other.index) != target) return false;
  }
  // Consecutive iterations must write consecutive elements.
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t extent = statement.iterators[order[i]].extent;
    if (target.Coefficient(order[i]) != stride && extent > 1) return false;
    stride *= extent;
  }
  return std::ranges::all_of(statement.reads, [&](const Read& read) {
    if (read.guard) return false;
    const IndexExpr offset = Offset(compute, statement, read.tensor, read.index);
    return offset == target || offset.IsConstant();
  });
}

// Returns the iterator along which most strided reads are contiguous. A read counts as strided if
// it uses the innermost iterator, but is contiguous along another. Returns nothing if there is no
// strided read. Both iterators must have at least `block` values.
std::optional<std::string> Across(const Compute& compute, const Statement& statement,
                                  VarId innermost, int64_t block) {
  if (statement.iterators[innermost].extent < block) return std::nullopt;
  std::map<VarId, int> wanted;
  for (const Read& read : statement.reads) {
    // All lanes share an element that does not depend on the innermost iterator, such as a row's
    // scale.
    if (!UsesIterator(read.index, innermost)) continue;
    const auto contiguous = ContiguousIterator(compute, statement, read.tensor, read.index);
    if (!contiguous || statement.iterators[*contiguous].extent < block) continue;
    if (*contiguous != innermost) ++wanted[*contiguous];
  }
  if (wanted.empty()) return std::nullopt;
  const auto most = std::ranges::max_element(
      wanted, [](const auto& a, const auto& b) { return a.second < b.second; });
  return statement.iterators[most->first].name;
}

// Returns true if an instance may read elements that other instances of the statement write (a
// recurrence).
bool ReadsItself(const Compute& compute, const Statement& statement) {
  const auto home = [&](TensorId tensor) { return compute.tensors[tensor].alias.value_or(tensor); };
  const Write& write = statement.writes[0];
  return std::ranges::any_of(statement.reads, [&](const Read& read) {
    if (home(read.tensor) != home(write.tensor)) return false;
    const bool alike = compute.tensors[read.tensor].shape == compute.tensors[write.tensor].shape;
    return !alike || read.index != write.index;
  });
}

// Returns true if an index of the write is this iterator. Different values of the iterator then
// give different elements, for any loaded values.
bool TellsApart(const Write& write, VarId iterator) {
  return std::ranges::any_of(write.index,
                             [&](const IndexExpr& index) { return index.AsVar() == iterator; });
}

// Orders the loops of a scatter, and sets `free` and `carried` of the plan. Loops with different
// elements (TellsApart) come first, and loops that may write one element repeatedly come next. The
// last of the first loops becomes the innermost loop if the result is contiguous along it.
void OrderScatter(const Compute& compute, const Statement& statement, std::vector<VarId>& order,
                  PointwisePlan& plan) {
  const Write& write = statement.writes[0];
  const auto meet = std::ranges::stable_partition(
      order, [&](VarId iterator) { return TellsApart(write, iterator); });
  plan.carried = meet.size();
  plan.free = order.size() - meet.size();
  if (plan.free == 0) return;
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(plan.free) - 1;
  if (StorageStride(compute, statement, write.tensor, write.index, *last) != 1) return;
  std::rotate(last, last + 1, order.end());
  --plan.free;
}

class PointwiseWriter {
 public:
  PointwiseWriter(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                  Schedule& schedule)
      : plan_(plan), choice_(choice), threads_(threads), schedule_(schedule) {}

  void Write() {
    if (plan_.is_scatter) return Scatter();
    if (plan_.across && choice_.block > 0) {
      Blocks();
    } else {
      Reorder();
      plan_.uniform ? Flat() : Rows();
    }
    if (choice_.non_temporal) Add(NonTemporalStep{plan_.statement});
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  std::string Loop(const std::string& iterator) const { return plan_.statement + "." + iterator; }

  void Reorder() {
    ReorderStep order;
    for (const std::string& iterator : plan_.order) order.loops.push_back(Loop(iterator));
    if (order.loops.size() > 1) Add(std::move(order));
  }

  void Flat() {
    std::string loop = Loop(plan_.order[0]);
    int64_t extent = plan_.extents[0];
    for (size_t i = 1; i < plan_.order.size(); ++i) {
      Add(FuseStep{loop, Loop(plan_.order[i]), plan_.flat[i - 1]});
      loop = plan_.flat[i - 1];
      extent *= plan_.extents[i];
    }
    const int64_t all = kTasksOfThread * threads_ * choice_.vector;
    const int64_t trips =
        plan_.few_tasks ? std::max(choice_.trips, (extent + all - 1) / all) : choice_.trips;
    Add(SplitStep{loop, {trips, choice_.vector}});
    if (extent % (trips * choice_.vector) != 0) {
      Add(IsolateStep{loop + ".0"});
      Add(IsolateStep{loop + ".1"});
    }
    Add(VectorizeStep{loop + ".2"});
    Add(ParallelizeStep{loop + ".0"});
  }

  void Rows() {
    const std::string last = Loop(plan_.order.back());
    const int64_t length = plan_.extents.back();
    const int64_t vector = std::min(choice_.vector, length);
    Add(SplitStep{last, {vector}});
    if (length % vector != 0) Add(IsolateStep{last + ".0"});
    Add(VectorizeStep{last + ".1"});
    Parallelize(plan_.order.size() - 1, [&](size_t i) { return Loop(plan_.order[i]); });
    if (plan_.order.size() == 1 && length % vector == 0) Add(ParallelizeStep{last + ".0"});
  }

  /// Writes a scatter, whose free loops become tasks. If there are fewer tasks than threads, long
  /// rows are split into tasks instead. A scatter with few instances has no tasks.
  void Scatter() {
    int64_t tasks = 1, rows = 1;
    for (size_t i = 0; i < plan_.free; ++i) tasks *= plan_.extents[i];
    for (size_t i = plan_.free; i < plan_.free + plan_.carried; ++i) rows *= plan_.extents[i];
    const bool has_lanes = plan_.free + plan_.carried < plan_.order.size();
    const int64_t length = has_lanes ? plan_.extents.back() : 1;
    const int64_t vector = std::min(choice_.vector, length);
    const int64_t steps = (length + vector - 1) / vector;
    const bool is_worth = tasks * rows * length >= kWorthTasks;
    const bool cuts = is_worth && tasks < threads_ && steps >= threads_;
    Reorder();
    if (has_lanes) CutLanes(cuts ? (steps + threads_ - 1) / threads_ : 0, vector);
    if (is_worth && !cuts) Parallelize(plan_.free, [&](size_t i) { return Loop(plan_.order[i]); });
  }

  /// Splits the innermost loop into vectors. `trips` is the number of vectors in a task; 0 makes no
  /// tasks of the loop.
  void CutLanes(int64_t trips, int64_t vector) {
    const std::string last = Loop(plan_.order.back());
    const int64_t length = plan_.extents.back();
    if (trips == 0) {
      Add(SplitStep{last, {vector}});
      if (length % vector != 0) Add(IsolateStep{last + ".0"});
      Add(VectorizeStep{last + ".1"});
      return;
    }
    Add(SplitStep{last, {trips, vector}});
    ReorderStep order{{last + ".0"}};
    for (size_t i = 0; i + 1 < plan_.order.size(); ++i) order.loops.push_back(Loop(plan_.order[i]));
    order.loops.push_back(last + ".1");
    order.loops.push_back(last + ".2");
    Add(std::move(order));
    if (length % (trips * vector) != 0) {
      Add(IsolateStep{last + ".0"});
      Add(IsolateStep{last + ".1"});
    }
    Add(VectorizeStep{last + ".2"});
    Add(ParallelizeStep{last + ".0"});
  }

  /// Splits the loops into square blocks, with a vector loop inside an unrolled loop. A read that
  /// is contiguous along `across` is strided along the vector loop, but contiguous along the
  /// unrolled loop.
  void Blocks() {
    const std::string row = Loop(*plan_.across), lane = Loop(plan_.order.back());
    Add(SplitStep{row, {choice_.block}});
    Add(SplitStep{lane, {choice_.block}});
    ReorderStep order;
    for (size_t i = 0; i + 1 < plan_.order.size(); ++i)
      order.loops.push_back(Outer(plan_.order[i]));
    for (const std::string& loop : {lane + ".0", row + ".1", lane + ".1"})
      order.loops.push_back(loop);
    Add(std::move(order));
    for (size_t i = 0; i < plan_.order.size(); ++i)
      if (IsCut(plan_.order[i]) && plan_.extents[i] % choice_.block != 0)
        Add(IsolateStep{Loop(plan_.order[i]) + ".0"});
    Add(UnrollStep{row + ".1"});
    Add(VectorizeStep{lane + ".1"});
    Parallelize(plan_.order.size() - 1, [&](size_t i) { return Outer(plan_.order[i]); });
  }

  bool IsCut(const std::string& iterator) const {
    return iterator == *plan_.across || iterator == plan_.order.back();
  }
  std::string Outer(const std::string& iterator) const {
    return Loop(iterator) + (IsCut(iterator) ? ".0" : "");
  }

  /// Makes outer loops parallel until each thread has kTasksOfThread tasks. `loops` is the largest
  /// number of such loops, and `name` returns their names.
  template <class Name>
  void Parallelize(size_t loops, const Name& name) {
    int64_t tasks = 1;
    for (size_t i = 0; i < loops && tasks < kTasksOfThread * threads_; ++i) {
      Add(ParallelizeStep{name(i)});
      tasks *= plan_.extents[i];
    }
  }

  const PointwisePlan& plan_;
  PointwiseChoice choice_;
  int threads_;
  Schedule& schedule_;
};

}  // namespace

bool Scatters(const Statement& statement) {
  if (statement.reducer) return false;
  const bool loads = std::ranges::any_of(statement.writes, [](const Write& write) {
    return std::ranges::any_of(write.index, &IndexExpr::UsesLoaded);
  });
  return loads || WrittenIterators(statement).size() < statement.iterators.size();
}

std::optional<PointwisePlan> MakePointwisePlan(const Compute& compute, const Statement& statement,
                                               int64_t block) {
  if (statement.reducer || statement.iterators.empty()) return std::nullopt;
  if (ReadsItself(compute, statement)) return std::nullopt;
  const Write& write = statement.writes[0];
  PointwisePlan plan{.statement = statement.name};
  const auto all = statement.iterators.ids();
  std::vector<VarId> order = InStorageOrder(compute, statement, write, {all.begin(), all.end()});
  plan.is_scatter = Scatters(statement);
  if (plan.is_scatter) OrderScatter(compute, statement, order, plan);
  for (const VarId iterator : order) {
    plan.order.push_back(statement.iterators[iterator].name);
    plan.extents.push_back(statement.iterators[iterator].extent);
  }
  for (size_t i = 1; i < order.size(); ++i)
    plan.flat.push_back(NewLoopName(compute, statement.name, "flat" + std::to_string(i)));
  plan.uniform = !plan.is_scatter && IsUniform(compute, statement, order);
  if (!plan.uniform && !plan.is_scatter)
    plan.across = Across(compute, statement, order.back(), block);
  return plan;
}

void WritePointwise(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                    Schedule& schedule) {
  PointwiseWriter(plan, choice, threads, schedule).Write();
}

}  // namespace tunec
