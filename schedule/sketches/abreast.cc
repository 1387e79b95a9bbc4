// Strided reductions: as in rows.cc, but elements of neighbouring rows are contiguous, not the
// elements of a row. Examples are softmax, sums, argmax and normalisations over a middle or the
// first axis.
//
// Neighbouring rows are lanes, and a block has several vectors of rows. A task computes all
// statements for a block. It reduces in registers, element by element, in the written order. Values
// for later statements are stored in registers or in a buffer of the thread.
//
//   parallel: other rows, blocks of neighbouring rows
//     registers: m[B] = identity
//     for each element r: vectors of the block: m[v] = combine(m[v], x[r][v])
//     buffer: for each r: e[r][v] = exp(x[r][v] - m[v]) ...
//
// For each element r, a block reads a short contiguous piece of memory. The stride to the next
// piece is large, so the hardware does not prefetch such pieces. Therefore the arguments of the
// first reduction can be prefetched some elements ahead (`prefetch`).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/row_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

struct AbreastStatement {
  std::string name;
  bool reduces = false;
  std::vector<std::string> walks;  // loops along a row, outermost first
  int64_t length = 1;              // number of iterations along a row
  bool output = false;             // writes an output
};

struct AbreastPlan {
  std::string lowering;
  std::vector<AbreastStatement> statements;  // the first reduction is the pivot
  size_t pivot = 0;
  std::vector<std::string> rows;  // the pivot's written iterators except `lane`
  int64_t apart = 1;              // product of the extents of `rows`
  std::string lane;               // the pivot's iterator along which rows are contiguous
  int64_t lanes = 1;              // extent of `lane`
  std::vector<std::pair<std::string, Scope>> staged;
  std::vector<std::string> streamed;  // arguments that the pivot reads contiguously
  bool buffers = false;               // some workspace tensor has complete rows
};

struct AbreastChoice {
  int64_t vector = 32;  // number of neighbouring rows in a vector loop
  int64_t vectors = 2;  // number of vectors in a block
  bool non_temporal = false;
  int64_t prefetch = 0;  // distance in elements of a row; 0: no prefetch
};

// Returns the names of a statement's parts, in the order in which they join the loop over blocks.
std::vector<std::string> PartsOf(const AbreastStatement& statement) {
  if (!statement.reduces) return {statement.name};
  return {statement.name, statement.name + ".init"};
}

// Returns the written iterator along which the reduction's reads are contiguous. Returns nothing if
// there are none or several, or if a read is contiguous along a reduced iterator.
std::optional<VarId> LaneOf(const Compute& compute, const Statement& reduction) {
  const std::vector<VarId> kept = WrittenIterators(reduction);
  std::optional<VarId> lane;
  for (const Read& read : reduction.reads) {
    const auto along = ContiguousIterator(compute, reduction, read.tensor, read.index);
    if (!along) continue;
    if (std::ranges::find(kept, *along) == kept.end() || (lane && lane != along)) {
      return std::nullopt;
    }
    lane = along;
  }
  return lane;
}

class Planner {
 public:
  explicit Planner(const NamedCompute& lowering)
      : compute_(lowering.compute), shared_(SharedDimensions::Of(compute_)) {
    plan_.lowering = lowering.name;
  }

  std::optional<AbreastPlan> Plan() {
    const auto pivot = std::ranges::find_if(
        compute_.statements, [](const Statement& s) { return s.reducer.has_value(); });
    if (pivot == compute_.statements.end()) return std::nullopt;
    if (!SetRows(compute_.statements.id_of(pivot))) return std::nullopt;
    for (const StatementId s : compute_.statements.ids()) {
      if (compute_.statements[s].name == pivot->name) plan_.pivot = plan_.statements.size();
      if (!AddStatement(s)) return std::nullopt;
    }
    if (!NameLoops()) return std::nullopt;
    for (const Tensor& tensor : compute_.tensors) Stage(tensor);
    return std::move(plan_);
  }

 private:
  bool SetRows(StatementId id) {
    const Statement& pivot = compute_.statements[id];
    const std::optional<VarId> lane = LaneOf(compute_, pivot);
    if (!lane) return false;
    for (const VarId iterator : WrittenIterators(pivot)) {
      dimensions_.push_back(shared_.DimensionOf(id, iterator));
      if (iterator == *lane) continue;
      plan_.rows.push_back(pivot.iterators[iterator].name);
      plan_.apart *= pivot.iterators[iterator].extent;
    }
    lane_dimension_ = shared_.DimensionOf(id, *lane);
    plan_.lane = pivot.iterators[*lane].name;
    plan_.lanes = pivot.iterators[*lane].extent;
    for (const Read& read : pivot.reads) {
      const Tensor& tensor = compute_.tensors[read.tensor];
      const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
      const auto along = ContiguousIterator(compute_, pivot, read.tensor, read.index);
      const bool known = std::ranges::find(plan_.streamed, tensor.name) != plan_.streamed.end();
      if (argument && along && !known) plan_.streamed.push_back(tensor.name);
    }
    return true;
  }

  // Adds the statement to the plan. Returns false if the statement does not fit, for example
  // because no iterator walks a dimension of the rows.
  bool AddStatement(StatementId id) {
    const Statement& statement = compute_.statements[id];
    if (!statement.domain.empty() || (statement.reducer && !statement.reducer->finalise.empty())) {
      return false;
    }
    std::vector<VarId> rows;
    for (const int dimension : dimensions_) {
      const std::optional<VarId> iterator = shared_.IteratorOf(id, dimension);
      if (!iterator) return false;
      rows.push_back(*iterator);
    }
    AbreastStatement own{.name = statement.name, .reduces = statement.reducer.has_value()};
    std::vector<VarId>& walks = walks_.emplace_back();
    for (const VarId iterator : statement.iterators.ids()) {
      if (std::ranges::find(rows, iterator) != rows.end()) continue;
      walks.push_back(iterator);
      own.length *= statement.iterators[iterator].extent;
    }
    if (own.reduces && walks != ReducedIterators(statement)) return false;
    own.output = std::ranges::any_of(statement.writes, [&](const Write& write) {
      return compute_.tensors[write.tensor].role == TensorRole::kOutput;
    });
    plan_.statements.push_back(std::move(own));
    return true;
  }

  // Sets the names of the loops along a row after all statements have joined the loop over blocks.
  // Returns false if the loop over neighbouring rows does not have the pivot's name in each
  // statement. Such a loop cannot be split like the pivot's.
  bool NameLoops() {
    std::vector<std::string> parts = PartsOf(plan_.statements[plan_.pivot]);
    for (size_t i = 0; i < plan_.statements.size(); ++i) {
      if (i != plan_.pivot) std::ranges::copy(PartsOf(plan_.statements[i]), back_inserter(parts));
    }
    const auto names = JoinedLoopNames(compute_, parts);
    for (const StatementId s : compute_.statements.ids()) {
      AbreastStatement& own = plan_.statements[s.index()];
      const auto& loops = names.at(own.name);
      if (loops[*shared_.IteratorOf(s, lane_dimension_)] != plan_.lane) return false;
      for (const VarId walk : walks_[s.index()]) own.walks.push_back(loops[walk]);
    }
    return true;
  }

  void Stage(const Tensor& tensor) {
    if (tensor.role != TensorRole::kWorkspace) return;
    const bool row = tensor.shape.size() > dimensions_.size();
    plan_.buffers |= row;
    plan_.staged.emplace_back(tensor.name, row ? Scope::kPacked : Scope::kRegister);
  }

  const Compute& compute_;
  SharedDimensions shared_;
  std::vector<int> dimensions_;  // dimensions of the rows, in the pivot's order
  int lane_dimension_ = 0;
  std::vector<std::vector<VarId>> walks_;  // iterators along a row, by statement
  AbreastPlan plan_;
};

class AbreastWriter {
 public:
  AbreastWriter(const AbreastPlan& plan, AbreastChoice choice) : plan_(plan), choice_(choice) {
    choice_.vector = std::min(choice_.vector, plan_.lanes);
    choice_.vectors = std::min(choice_.vectors, CeilDivide(plan_.lanes, choice_.vector));
  }

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Block();
    for (const AbreastStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) {
        if (part != pivot().name) Add(ComputeAtStep{part, block_});
      }
    }
    for (const AbreastStatement& statement : plan_.statements) {
      if (&statement != &pivot()) Order(statement, {});
    }
    for (const auto& [tensor, scope] : plan_.staged) Add(StageStep{tensor, scope, block_});
    if (plan_.lanes % (choice_.vector * choice_.vectors) != 0) Add(IsolateStep{block_});
    for (const AbreastStatement& statement : plan_.statements) Lanes(statement);
    Prefetch();
    for (const std::string& row : plan_.rows) Add(ParallelizeStep{pivot().name + "." + row});
    Add(ParallelizeStep{block_});
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  const AbreastStatement& pivot() const { return plan_.statements[plan_.pivot]; }
  std::string LaneLoop(const std::string& statement) const { return statement + "." + plan_.lane; }
  // Returns the loops over a block's rows, outermost first.
  std::vector<std::string> BlockLoops(const std::string& statement) const {
    const std::string lane = LaneLoop(statement);
    if (choice_.vectors == 1) return {lane + ".1"};
    return {lane + ".1", lane + ".2"};
  }

  void Block() {
    const std::string lane = LaneLoop(pivot().name);
    block_ = lane + ".0";
    if (choice_.vectors == 1) {
      Add(SplitStep{lane, {choice_.vector}});
    } else {
      Add(SplitStep{lane, {choice_.vectors, choice_.vector}});
    }
    std::vector<std::string> outer;
    for (const std::string& row : plan_.rows) outer.push_back(pivot().name + "." + row);
    outer.push_back(block_);
    Order(pivot(), std::move(outer));
  }

  // Sets the order of a statement's loops: `outer`, the loops along a row, the loops over a block's
  // rows.
  void Order(const AbreastStatement& statement, std::vector<std::string> outer) {
    ReorderStep order{std::move(outer)};
    for (const std::string& walk : statement.walks) {
      order.loops.push_back(statement.name + "." + walk);
    }
    std::ranges::copy(BlockLoops(statement.name), std::back_inserter(order.loops));
    if (order.loops.size() > 1) Add(std::move(order));
  }

  void Lanes(const AbreastStatement& statement) {
    for (const std::string& part : PartsOf(statement)) {
      const std::vector<std::string> loops = BlockLoops(part);
      if (loops.size() > 1) Add(UnrollStep{loops.front()});
      Add(VectorizeStep{loops.back()});
    }
    const bool streams = statement.output && !statement.reduces && !statement.walks.empty();
    if (streams && choice_.non_temporal) Add(NonTemporalStep{statement.name});
  }

  void Prefetch() {
    if (choice_.prefetch == 0 || pivot().walks.empty()) return;
    const std::string loop = pivot().name + "." + pivot().walks.back();
    for (const std::string& tensor : plan_.streamed) {
      Add(PrefetchStep{tensor, loop, choice_.prefetch});
    }
  }

  const AbreastPlan& plan_;
  AbreastChoice choice_;
  std::string block_;
  Schedule schedule_;
};

bool IsEnoughFor(const Target& target, int64_t tasks) { return tasks >= 4 * target.host.threads; }

// Returns the largest power of two, at most 8, for the number of vectors in a block. Each thread
// must have four tasks, and a block's buffers may use at most a quarter of the second-level cache.
// Returns 1 if no larger number fits.
int64_t VectorsOf(const AbreastPlan& plan, int64_t vector, const Target& target) {
  int64_t length = 1;
  for (const AbreastStatement& statement : plan.statements) {
    length = std::max(length, statement.length);
  }
  int64_t best = 1;
  for (int64_t vectors = 2; vectors <= 8; vectors *= 2) {
    const int64_t block = vectors * vector;
    const bool fits = !plan.buffers || block * length * 4 <= target.host.l2_bytes / 4;
    if (fits && IsEnoughFor(target, plan.apart * (plan.lanes / block))) best = vectors;
  }
  return best;
}

}  // namespace

void AddAbreastSketches(const NamedCompute& lowering, const Target& target,
                        std::vector<Sketch>& sketches) {
  const std::optional<AbreastPlan> plan = Planner(lowering).Plan();
  if (!plan) return;
  const int64_t lanes = target.host.Lanes(4);
  const double bytes = CountWork(lowering.compute).bytes;
  const bool large = bytes > static_cast<double>(target.host.l3_bytes);
  AbreastChoice fixed{.vector = 2 * lanes};
  fixed.vectors = VectorsOf(*plan, fixed.vector, target);
  Knobs<AbreastChoice> knobs(fixed);
  knobs.AddAround("vector", {lanes, 2 * lanes, 4 * lanes}, &AbreastChoice::vector);
  knobs.AddAround("vectors", {1, 2, 4, 8}, &AbreastChoice::vectors);
  knobs.Add({"non_temporal", {0, 1}, large ? 1 : 0}, &AbreastChoice::non_temporal);
  knobs.Add({"prefetch", {0, 4, 16}, bytes > static_cast<double>(target.host.l2_bytes) ? 2 : 0},
            &AbreastChoice::prefetch);
  const bool enough = IsEnoughFor(target, plan->apart * CeilDivide(plan->lanes, fixed.vector));
  const auto write = [plan = *plan](const AbreastChoice& choice) {
    return AbreastWriter(plan, choice).Write();
  };
  sketches.insert(enough ? sketches.begin() : sketches.end(),
                  MakeSketch("abreast", std::move(knobs), write));
}

}  // namespace tunec
