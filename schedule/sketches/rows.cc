// Reductions along rows: statements that share outer iterators and process one row after the other.
// Examples are softmax, normalisations and sums of the contiguous dimension.
//
// A task computes complete rows. A reduction along a row is split: the lanes accumulate partial
// results in registers, and these are combined at the end of the row. Values for later statements
// are stored in registers if they are scalars, else in a row buffer of the thread.
//
//   parallel: blocks of rows
//     rows of the block
//       registers: part[V] = identity
//       for each V elements: part[v] = combine(part[v], x[...])
//       m = combine of part
//       row buffer: e[j] = exp(x[j] - m) ...
//
// In a short row, most time is latency: of combining the lanes, of a quotient, of a function.
// Therefore several rows can be processed together, with interleaved steps (`together`).
//
// The arguments that the first statement with a walk reads can be prefetched. With `prefetch`, the
// distance is some steps; at the end of a row, these reach into the next row. With `ahead`, the
// distance is one or several rows, and every statement that reads the arguments prefetches them.
// Later rows are then loaded while functions of the current row are computed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/apply.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/row_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

struct RowChoice {
  int64_t vector = 16;   // number of elements of a row in a vector loop
  int64_t rows = 1;      // number of rows of a task
  int64_t together = 1;  // number of these rows whose steps are interleaved
  bool non_temporal = false;
  int64_t prefetch = 0;  // distance in steps along a row; 0: no prefetch
  bool ahead = false;    // prefetch later rows into the second-level cache
};

constexpr int64_t kElementsAhead = 4096;  // least distance of `ahead`, in elements

// Returns the first statement that walks a row; null if there is none.
const RowStatement* FirstWalk(const RowPlan& plan) {
  const auto walk = std::ranges::find_if(
      plan.statements, [](const RowStatement& statement) { return statement.walks.has_value(); });
  return walk == plan.statements.end() ? nullptr : &*walk;
}

// Returns the arguments that the statement reads contiguously along the iterator, except arguments
// that all rows share.
std::vector<std::string> StreamedBy(const RowPlan& plan, const Statement& statement, VarId along) {
  std::vector<std::string> tensors;
  for (const Read& read : statement.reads) {
    const Tensor& tensor = plan.compute->tensors[read.tensor];
    const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
    const bool known = std::ranges::find(tensors, tensor.name) != tensors.end();
    // An argument that all rows share stays in the caches.
    const bool by_row = std::ranges::any_of(read.index, [&](const IndexExpr& index) {
      return !index.IsConstant() && !index.Uses(along) && !index.UsesLoaded();
    });
    const auto contiguous = ContiguousIterator(*plan.compute, statement, read.tensor, read.index);
    if (argument && !known && by_row && contiguous == along) tensors.push_back(tensor.name);
  }
  return tensors;
}

class RowWriter {
 public:
  RowWriter(const RowPlan& plan, const RowChoice& choice) : plan_(plan), choice_(choice) {
    choice_.together = std::min(choice_.together, choice_.rows);
  }

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    for (const RowStatement& statement : plan_.statements) {
      if (statement.split) {
        Add(ReduceSplitStep{statement.name, statement.along, VectorFor(statement),
                            ReduceSplitStep::Parallel::kInner});
      }
    }
    Block();
    Join();
    Stage();
    for (const RowStatement& statement : plan_.statements) Vectorize(statement);
    if (Together()) UnrollRows();
    if (choice_.prefetch > 0) Prefetch();
    if (choice_.ahead && choice_.rows > 1) PrefetchRows();
    Parallelize();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  int64_t VectorFor(const RowStatement& statement) const {
    return std::min(choice_.vector, statement.length);
  }

  bool Together() const { return choice_.together > 1; }
  // Returns the statement's loop over the rows that are interleaved.
  std::string RowsTogether(const std::string& statement) const {
    return statement + "." + plan_.row_loops.back() + (OneGroup() ? ".1" : ".2");
  }
  bool OneGroup() const { return choice_.together == choice_.rows; }

  // Sets the parallel loops and the loop over a block's rows. The last parallel loop is over blocks
  // of rows.
  void Block() {
    for (const std::string& loop : plan_.row_loops) {
      parallel_.push_back(PivotOf(plan_) + "." + loop);
    }
    row_loop_ = parallel_.back();
    if (choice_.rows == 1) return;
    if (Together()) return BlockOfGroups();
    Add(SplitStep{row_loop_, {choice_.rows}});
    parallel_.back() = row_loop_ + ".0";
    row_loop_ += ".1";
  }

  // Splits the rows into blocks, and blocks into groups of interleaved rows. Sets the row loop to
  // the loop over groups.
  void BlockOfGroups() {
    const std::string rows = row_loop_;
    const int64_t extent = plan_.row_extents.back();
    parallel_.back() = rows + ".0";
    row_loop_ = rows + (OneGroup() ? ".0" : ".1");
    if (OneGroup()) {
      Add(SplitStep{rows, {choice_.together}});
    } else {
      Add(SplitStep{rows, {choice_.rows / choice_.together, choice_.together}});
    }
    if (extent % choice_.rows != 0) Add(IsolateStep{rows + ".0"});
    if (extent % choice_.together != 0 && !OneGroup()) Add(IsolateStep{rows + ".1"});
  }

  void UnrollRows() {
    for (const RowStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) Add(UnrollStep{RowsTogether(part)});
    }
  }

  // Moves all other statements into the pivot's row loop.
  void Join() {
    for (const RowStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) {
        if (part != PivotOf(plan_)) Add(ComputeAtStep{part, row_loop_});
      }
    }
  }

  void Stage() {
    for (const RowStatement& statement : plan_.statements) {
      if (statement.split) Add(StageStep{statement.name + ".part", Scope::kRegister, row_loop_});
    }
    for (const auto& [tensor, is_row] : plan_.staged) {
      Add(StageStep{tensor, is_row ? Scope::kPacked : Scope::kRegister, row_loop_});
    }
  }

  void Vectorize(const RowStatement& statement) {
    const std::string& name = statement.name;
    if (statement.reduces && !statement.split) return;
    if (statement.reduces) {
      const std::string part = name + ".part.";
      const int64_t vector = VectorFor(statement);
      if (Together())
        Add(ReorderStep{{part + statement.along + "o", RowsTogether(name + ".part")}});
      if (statement.length % vector != 0) Add(IsolateStep{part + statement.along + "o"});
      Add(VectorizeStep{part + statement.along + "i"});
      Add(VectorizeStep{name + ".part.init." + statement.along + "i"});
      Add(VectorizeStep{name + "." + statement.along + "i"});
      return;
    }
    if (!statement.walks) return;
    const std::string loop = name + "." + statement.along;
    const int64_t vector = VectorFor(statement);
    Add(SplitStep{loop, {vector}});
    if (Together()) Add(ReorderStep{{loop + ".0", RowsTogether(name), loop + ".1"}});
    if (statement.length % vector != 0) Add(IsolateStep{loop + ".0"});
    Add(VectorizeStep{loop + ".1"});
    const Statement& written =
        plan_.compute->statements[*plan_.compute->FindStatement(statement.name)];
    const bool output =
        plan_.compute->tensors[written.writes[0].tensor].role == TensorRole::kOutput;
    if (output && choice_.non_temporal) Add(NonTemporalStep{name});
  }

  // Prefetches the arguments that the first statement with a walk along a row reads. At the end of
  // a row, this prefetches the beginning of the next row.
  void Prefetch() {
    const RowStatement* const first = FirstWalk(plan_);
    const Statement& statement =
        plan_.compute->statements[*plan_.compute->FindStatement(first->name)];
    const std::string loop = first->split ? first->name + ".part." + first->along + "o"
                                          : first->name + "." + first->along + ".0";
    for (const std::string& tensor : StreamedBy(plan_, statement, *first->walks)) {
      Add(PrefetchStep{tensor, loop, choice_.prefetch});
    }
  }

  void PrefetchRows() {
    const RowStatement* const first = FirstWalk(plan_);
    const Statement& statement =
        plan_.compute->statements[*plan_.compute->FindStatement(first->name)];
    const int64_t rows = CeilDivide(kElementsAhead, LongestRow(plan_) * choice_.together);
    for (const std::string& tensor : StreamedBy(plan_, statement, *first->walks)) {
      Add(PrefetchStep{tensor, row_loop_, rows, 2});
    }
  }

  void Parallelize() {
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
  }

  const RowPlan& plan_;
  RowChoice choice_;
  std::vector<std::string> parallel_;
  std::string row_loop_;
  Schedule schedule_;
};

// Adds the knobs for prefetches if the data exceed the second-level cache. Adds none if the first
// walk is not vectorized, because there is no loop over vectors then.
void AddPrefetch(const RowPlan& plan, const Target& target, bool large, Knobs<RowChoice>& knobs) {
  const RowStatement* const first = FirstWalk(plan);
  if (first == nullptr || (first->reduces && !first->split)) return;
  if (CountWork(*plan.compute).bytes < static_cast<double>(target.host.l2_bytes)) return;
  const Statement& statement = plan.compute->statements[*plan.compute->FindStatement(first->name)];
  if (StreamedBy(plan, statement, *first->walks).empty()) return;
  knobs.Add({"prefetch", {0, 4, 16}, 0}, &RowChoice::prefetch);
  // The current row, the next one, and the values computed from them must fit into the cache. If
  // only one statement walks a row, the hardware's prefetch is sufficient, so `ahead` is off by
  // default.
  const bool several = std::ranges::count_if(plan.statements, [](const RowStatement& other) {
                         return other.walks.has_value();
                       }) > 1;
  const auto row_bytes = static_cast<double>(LongestRow(plan) * 4);
  if (4 * row_bytes > static_cast<double>(target.host.l2_bytes)) return;
  knobs.Add({"ahead", {0, 1}, large && several ? 1 : 0}, &RowChoice::ahead);
}

// Returns the knob for the number of rows of a task. The default is the largest number with at most
// `elements` elements that leaves eight tasks per thread. Tasks of large arrays have more elements,
// because the end of a task waits for stores that bypass the caches.
Knob RowsKnob(const RowPlan& plan, const Target& target, bool large) {
  const int64_t elements = large ? 65536 : 4096;
  const int64_t length = LongestRow(plan);
  const int64_t rows = CountRows(plan);
  Knob knob{.name = "rows", .choices = {1}};
  for (int64_t block = 2; block <= 64 && block <= plan.row_extents.back(); block *= 2) {
    if (block * length <= elements && rows / block >= 8 * target.host.threads) {
      knob.initial = static_cast<int>(knob.choices.size());
    }
    knob.choices.push_back(block);
  }
  return knob;
}

// Returns the default number of interleaved rows, from measurements of softmax and normalisations
// (docs/decisions/0026).
int64_t DefaultTogether(int64_t length) {
  constexpr int64_t kShort = 224, kMiddling = 896;  // elements
  if (length <= kShort) return 4;
  return length <= kMiddling ? 2 : 1;
}

// Returns true if a statement has conditions, as for a padded image. The work of a row may then
// depend on the row.
bool HasConditions(const Compute& compute) {
  return std::ranges::any_of(compute.statements, [](const Statement& statement) {
    const auto guarded = [](const Read& read) { return read.guard.has_value(); };
    return !statement.domain.empty() || std::ranges::any_of(statement.reads, guarded);
  });
}

// Adds the knob for interleaved rows. Adds none for fewer than two rows, or if a statement has
// conditions. Also adds none if the schedule for two rows does not apply, for example because loops
// have other names than in the plan.
void AddTogether(const RowPlan& plan, const NamedCompute& lowering, const RoundingFreedom& rounding,
                 Knobs<RowChoice>& knobs) {
  const RowChoice two{.rows = 2, .together = 2};
  if (plan.row_extents.back() < 2 || HasConditions(lowering.compute)) return;
  if (!CheckApplies(lowering.compute, RowWriter(plan, two).Write(), rounding)) return;
  knobs.Add(KnobAt("together", {1, 2, 4}, DefaultTogether(LongestRow(plan))), &RowChoice::together);
}

}  // namespace

void AddRowSketches(const NamedCompute& lowering, const SketchQuestion& question,
                    std::vector<Sketch>& sketches) {
  const Target& target = question.target;
  const std::optional<RowPlan> plan = MakeRowPlan(lowering, RowReductions::kSplit);
  if (!plan) return;
  const int64_t lanes = target.host.Lanes(4);
  Knobs<RowChoice> knobs;
  knobs.Add({"vector", {lanes, 2 * lanes, 4 * lanes}, 1}, &RowChoice::vector);
  // Stores that bypass the caches pay if the data exceed the third-level cache.
  const bool large = CountWork(*plan->compute).bytes > static_cast<double>(target.host.l3_bytes);
  knobs.Add({"non_temporal", {0, 1}, large ? 1 : 0}, &RowChoice::non_temporal);
  knobs.Add(RowsKnob(*plan, target, large), &RowChoice::rows);
  AddPrefetch(*plan, target, large, knobs);
  AddTogether(*plan, lowering, question.rounding, knobs);
  sketches.push_back(MakeSketch("rows", std::move(knobs), [plan = *plan](const RowChoice& choice) {
    return RowWriter(plan, choice).Write();
  }));
}

}  // namespace tunec
