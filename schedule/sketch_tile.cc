// Register tiles for reductions.
//
// The output is cut into tiles of MR rows by NR columns that stay in registers while the
// reduction runs; the columns are vector lanes. One operand varies along the columns and is
// packed so that a column tile's panel is contiguous in the order in which the reduction reads
// it; the other is broadcast. Blocks of rows by one panel are the tasks. What follows the
// reduction is computed on the finished tile.
//
//   parallel: other outputs, blocks of rows, column tiles
//     row tiles of the block
//       registers: acc[MR][NR] = 0
//         outer reductions, the long reduction, short reductions unrolled
//           rows unrolled, columns vector: acc += a * b
//         rows unrolled, columns vector: out = f(acc)
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "schedule/access_analysis.h"
#include "schedule/sketches.h"

namespace tunec {
namespace {

constexpr int64_t kShortReduction = 7;  // fully unrolled at most
constexpr int kMaximumRows = 28;
constexpr int64_t kWorthPacking = 32;  // products for each element that is copied first
constexpr size_t kColumnsTried = 2;    // different vector dimensions, a sketch each

// The roles that a Compute's iterators play in the sketch.
struct TilePlan {
  std::string lowering;
  const Compute* compute = nullptr;
  Statement reduction;
  std::vector<std::string> followers;  // statements after the reduction
  VarId column = 0;
  std::optional<VarId> row;
  std::vector<VarId> shared;      // outputs that both operands know: batches, groups
  std::vector<VarId> outer_rows;  // further outputs of the broadcast operand
  std::vector<VarId> outer_reductions;
  std::optional<VarId> long_reduction;
  std::vector<VarId> short_reductions;  // unrolled
  std::optional<PackStep> pack;         // of the operand along the columns; NR is filled in
  bool pack_is_optional = false;
  bool pack_by_default = true;
  bool row_has_conditions = false;
  bool column_has_conditions = false;
  int64_t reduction_size = 1;
  int64_t panel_bytes_per_column = 0;

  int64_t Extent(VarId iterator) const { return reduction.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const {
    return reduction.name + "." + reduction.iterators[iterator].name;
  }
};

bool OccursIn(const std::vector<IndexExpr>& conditions, VarId iterator) {
  return UsesIterator(conditions, iterator);
}

// Whether two iterators occur in one condition of the domain.
bool ConditionedTogether(const Statement& statement, VarId a, VarId b) {
  return std::ranges::any_of(statement.domain, [&](const IndexExpr& condition) {
    return condition.Uses(a) && condition.Uses(b);
  });
}

// The one reduction of the Compute, if the sketch can have it.
std::optional<StatementId> FindReduction(const Compute& compute) {
  std::optional<StatementId> found;
  for (size_t s = 0; s < compute.statements.size(); ++s) {
    if (!compute.statements[s].reducer) continue;
    if (found) return std::nullopt;
    found = static_cast<StatementId>(s);
  }
  if (!found) return std::nullopt;
  const Statement& statement = compute.statements[*found];
  if (!statement.reducer->reorderable || statement.writes.size() != 1 ||
      !statement.reducer->finalise.empty() || statement.reads.empty() ||
      compute.tensors[statement.writes[0].tensor].role != TensorRole::kWorkspace) {
    return std::nullopt;
  }
  for (const IndexExpr& index : statement.writes[0].index) {
    if (!index.AsVar() && !index.IsConstant()) return std::nullopt;
  }
  return found;
}

// Whether a copy of the operand in another order can have the column's dimension split: the
// column must be a dimension by itself.
bool IsPackable(const Compute& compute, const Read& read, VarId column) {
  const Tensor& tensor = compute.tensors[read.tensor];
  if (read.guard || (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kWeight)) {
    return false;
  }
  int dimensions = 0;
  for (const IndexExpr& index : read.index) {
    if (index.UsesLoaded()) return false;
    if (!index.Uses(column)) continue;
    if (index.AsVar() != column) return false;
    ++dimensions;
  }
  return dimensions == 1;
}

// How well an output iterator serves as vector lanes.
int ColumnScore(const Compute& compute, const Statement& reduction, const Statement& final,
                VarId iterator, int64_t lanes) {
  int64_t reused = 1;
  for (const VarId r : ReducedIterators(reduction)) reused *= reduction.iterators[r].extent;
  int score = 0;
  if (reduction.iterators[iterator].extent >= lanes) score += 2;
  if (reduction.iterators[iterator].extent < lanes / 2) score -= 3;
  if (OccursIn(reduction.domain, iterator)) score -= 4;
  const std::optional<VarId> contiguous =
      ContiguousIterator(compute, final, final.writes[0].tensor, final.writes[0].index);
  if (contiguous && MatchingIterator(reduction, final, *contiguous) == iterator) score += 2;
  for (const Read& read : reduction.reads) {
    if (!UsesIterator(read.index, iterator)) continue;
    const bool natural = StorageStride(compute, reduction, read.tensor, read.index, iterator) == 1;
    if (compute.tensors[read.tensor].constant && IsPackable(compute, read, iterator)) {
      score += 3;
    } else if (natural) {
      score += 3;
    } else {
      // A copy made while running has to be worth its own time.
      score -= IsPackable(compute, read, iterator) && reused >= kWorthPacking ? 1 : 4;
    }
  }
  return score;
}

// The output iterators that may be vector lanes, the most promising first.
std::vector<VarId> RankColumns(const Compute& compute, const Statement& reduction,
                               const Statement& final, int64_t lanes) {
  std::vector<std::pair<int, VarId>> ranked;
  for (const VarId iterator : WrittenIterators(reduction)) {
    if (reduction.iterators[iterator].extent == 1) continue;
    ranked.emplace_back(-ColumnScore(compute, reduction, final, iterator, lanes), iterator);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, VarId>::first);
  std::vector<VarId> columns;
  for (const auto& [score, iterator] : ranked) {
    if (columns.size() < kColumnsTried) columns.push_back(iterator);
  }
  return columns;
}

// Outputs other than the column: rows are what the broadcast operand alone knows.
void AssignOutputs(TilePlan& plan) {
  const Statement& reduction = plan.reduction;
  for (const VarId iterator : WrittenIterators(reduction)) {
    if (iterator == plan.column) continue;
    bool with_column = false;
    bool without_column = false;
    for (const Read& read : reduction.reads) {
      if (!UsesIterator(read.index, iterator)) continue;
      (UsesIterator(read.index, plan.column) ? with_column : without_column) = true;
    }
    // With one operand, or one vector operand for both (depthwise), rows reuse the other one.
    const bool is_row = reduction.reads.size() < 2 || !(with_column && without_column);
    (is_row ? plan.outer_rows : plan.shared).push_back(iterator);
  }
  for (size_t i = plan.outer_rows.size(); i-- > 0;) {
    const VarId iterator = plan.outer_rows[i];
    const bool better =
        !plan.row || (plan.Extent(*plan.row) < 4 && plan.Extent(iterator) > plan.Extent(*plan.row));
    if (better) plan.row = iterator;
  }
  if (plan.row) std::erase(plan.outer_rows, *plan.row);
}

void AssignReductions(TilePlan& plan) {
  std::vector<VarId> rest;
  for (const VarId iterator : ReducedIterators(plan.reduction)) {
    const int64_t extent = plan.Extent(iterator);
    plan.reduction_size *= extent;
    const bool with_row = plan.row && ConditionedTogether(plan.reduction, *plan.row, iterator);
    const bool with_column = ConditionedTogether(plan.reduction, plan.column, iterator);
    plan.row_has_conditions |= with_row;
    plan.column_has_conditions |= with_column;
    if (with_row || with_column) {
      plan.short_reductions.push_back(iterator);
    } else {
      rest.push_back(iterator);
    }
  }
  // The longest of the others is the long one; a short last one next to it is unrolled too.
  for (const VarId iterator : rest) {
    if (OccursIn(plan.reduction.domain, iterator)) continue;
    if (!plan.long_reduction || plan.Extent(iterator) > plan.Extent(*plan.long_reduction)) {
      plan.long_reduction = iterator;
    }
  }
  for (const VarId iterator : rest) {
    if (plan.long_reduction == iterator) continue;
    const bool last = iterator == rest.back();
    const bool free = !OccursIn(plan.reduction.domain, iterator);
    if (last && free && plan.short_reductions.empty() && plan.Extent(iterator) <= kShortReduction) {
      plan.short_reductions.push_back(iterator);
    } else {
      plan.outer_reductions.push_back(iterator);
    }
  }
}

std::vector<VarId> ReductionOrderOf(const TilePlan& plan) {
  std::vector<VarId> order = plan.outer_reductions;
  if (plan.long_reduction) order.push_back(*plan.long_reduction);
  order.insert(order.end(), plan.short_reductions.begin(), plan.short_reductions.end());
  return order;
}

// How deep in the tile's loops an operand's dimension moves: -1 outside the reduction.
int DepthOf(const IndexExpr& index, const std::vector<VarId>& reductions) {
  int depth = -1;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (index.Uses(reductions[i])) depth = static_cast<int>(i);
  }
  return depth;
}

// The storage order of the packed operand: what the reduction leaves alone, column tiles, then
// what the tile's loops walk, outermost first, and the columns of a tile.
PackStep PackInLoopOrder(const TilePlan& plan, const Read& read) {
  const std::vector<VarId> reductions = ReductionOrderOf(plan);
  PackStep pack{.tensor = plan.compute->tensors[read.tensor].name};
  std::vector<std::pair<int, int>> by_depth;
  int column = 0;
  for (size_t d = 0; d < read.index.size(); ++d) {
    const auto dimension = static_cast<int>(d);
    if (read.index[d].Uses(plan.column)) {
      column = dimension;
    } else {
      by_depth.emplace_back(DepthOf(read.index[d], reductions), dimension);
    }
  }
  std::ranges::stable_sort(by_depth, {}, &std::pair<int, int>::first);
  bool has_column = false;
  for (const auto& [depth, dimension] : by_depth) {
    if (depth >= 0 && !has_column) {
      pack.axes.push_back({.dimension = column, .part = PackStep::Part::kQuotient});
      has_column = true;
    }
    pack.axes.push_back({.dimension = dimension});
  }
  if (!has_column) pack.axes.push_back({.dimension = column, .part = PackStep::Part::kQuotient});
  pack.axes.push_back({.dimension = column, .part = PackStep::Part::kRemainder});
  return pack;
}

void AssignPack(TilePlan& plan) {
  const Compute& compute = *plan.compute;
  for (const Read& read : plan.reduction.reads) {
    if (!UsesIterator(read.index, plan.column)) continue;
    const Tensor& tensor = compute.tensors[read.tensor];
    plan.panel_bytes_per_column = plan.reduction_size * static_cast<int64_t>(SizeOf(tensor.type));
    const bool natural =
        StorageStride(compute, plan.reduction, read.tensor, read.index, plan.column) == 1;
    if (!IsPackable(compute, read, plan.column)) continue;
    // What is read once need not be copied first.
    if (!tensor.constant && natural && plan.reduction.reads.size() < 2) continue;
    if (plan.pack && !tensor.constant) continue;
    plan.pack = PackInLoopOrder(plan, read);
    if (tensor.constant) {
      plan.pack_is_optional = false;
      plan.pack_by_default = true;
      return;
    }
    plan.pack_is_optional = natural;
    // Packing while running pays when many rows share it.
    plan.pack_by_default = !natural || (plan.row && plan.Extent(*plan.row) >= 96);
  }
}

// One plan for each promising column.
std::vector<TilePlan> MakePlans(const NamedCompute& lowering, const Target& target) {
  const Compute& compute = lowering.compute;
  const std::optional<StatementId> reduction = FindReduction(compute);
  if (!reduction) return {};
  TilePlan plan{
      .lowering = lowering.name, .compute = &compute, .reduction = compute.statements[*reduction]};
  for (size_t s = *reduction + 1; s < compute.statements.size(); ++s) {
    plan.followers.push_back(compute.statements[s].name);
  }
  if (plan.followers.empty()) return {};
  const Tensor& accumulator = compute.tensors[plan.reduction.writes[0].tensor];
  const int64_t lanes = target.Lanes(static_cast<int>(SizeOf(accumulator.type)));
  const Statement& final = compute.statements[FinalStatement(compute)];
  std::vector<TilePlan> plans;
  for (const VarId column : RankColumns(compute, plan.reduction, final, lanes)) {
    plans.push_back(plan);
    plans.back().column = column;
    AssignOutputs(plans.back());
    AssignReductions(plans.back());
    AssignPack(plans.back());
  }
  return plans;
}

struct TileSizes {
  int64_t rows = 1;
  int64_t columns = 16;
};

// Cycles that one step of the long reduction costs in a tile of vectors x rows: products, or
// loads, or the latency of a chain; and a little for loads that the products do not hide.
double TileCost(double rows, double vectors) {
  const double loads = rows + vectors;
  return std::max({rows * vectors, loads * 0.6, 8.0}) + 0.05 * loads;
}

int64_t AccumulatorRegisters(const Target& target) { return target.vector_registers - 4; }

// The tile that covers the output at the least cost.
TileSizes BestTile(const TilePlan& plan, const Target& target, int64_t lanes) {
  const int64_t rows = plan.row ? plan.Extent(*plan.row) : 1;
  const int64_t columns = plan.Extent(plan.column);
  TileSizes best;
  double best_cost = 0;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    for (int64_t mr = 1; mr <= std::min<int64_t>(rows, kMaximumRows); ++mr) {
      if (mr * vectors > AccumulatorRegisters(target)) break;
      const auto v = static_cast<double>(vectors);
      const double column_tiles =
          std::ceil(static_cast<double>(columns) / (v * static_cast<double>(lanes)));
      const double full = static_cast<double>(rows / mr) * TileCost(static_cast<double>(mr), v);
      const double rest = rows % mr > 0 ? TileCost(static_cast<double>(rows % mr), v) : 0;
      const double cost = column_tiles * (full + rest);
      if (best_cost == 0 || cost < best_cost * 0.995) {
        best_cost = cost;
        best = {mr, vectors * lanes};
      }
    }
  }
  return best;
}

Knob MakeKnob(std::string name, std::vector<int64_t> choices, int64_t initial) {
  Knob knob{.name = std::move(name), .choices = std::move(choices)};
  for (size_t i = 0; i < knob.choices.size(); ++i) {
    if (std::abs(knob.choices[i] - initial) <
        std::abs(knob.choices[static_cast<size_t>(knob.initial)] - initial)) {
      knob.initial = static_cast<int>(i);
    }
  }
  return knob;
}

// The values of the knobs, by name.
struct TileChoice {
  int64_t rows = 1;
  int64_t columns = 16;
  int64_t block = 1;  // row tiles in a block
  int64_t unroll = 1;
  bool columns_outside = false;
  bool pack = true;
};

// Writes the steps for one choice.
class TileWriter {
 public:
  TileWriter(const TilePlan& plan, const TileChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Pack();
    Split();
    Reorder();
    Attach();
    Finish();
    return std::move(schedule_);
  }

 private:
  template <class T>
  void Add(T step) {
    schedule_.steps.emplace_back(std::move(step));
  }
  bool Blocked() const { return plan_.row && plan_.outer_rows.empty(); }
  std::string Column() const { return plan_.Loop(plan_.column); }
  std::string Row() const { return plan_.Loop(*plan_.row); }
  // The innermost of the loops over tiles: the register tile lives in it.
  std::string TileLoop() const {
    if (!plan_.row) return Column() + ".0";
    return Row() + (Blocked() ? ".1" : ".0");
  }
  std::string RowSuffix() const {
    return "." + plan_.reduction.iterators[*plan_.row].name + (Blocked() ? ".2" : ".1");
  }
  std::string ColumnSuffix() const {
    return "." + plan_.reduction.iterators[plan_.column].name + ".1";
  }

  void Pack() {
    if (!plan_.pack || !choice_.pack) return;
    PackStep pack = *plan_.pack;
    for (PackStep::Axis& axis : pack.axes) {
      if (axis.part != PackStep::Part::kWhole) axis.factor = choice_.columns;
    }
    Add(std::move(pack));
  }
  void Split() {
    Add(SplitStep{Column(), {choice_.columns}});
    if (plan_.Extent(plan_.column) % choice_.columns != 0 || plan_.column_has_conditions) {
      Add(IsolateStep{Column() + ".0"});
    }
    if (!plan_.row) return;
    const bool partial = plan_.Extent(*plan_.row) % choice_.rows != 0 || plan_.row_has_conditions;
    if (Blocked()) {
      Add(SplitStep{Row(), {choice_.block, choice_.rows}});
      const bool partial_block = plan_.Extent(*plan_.row) % (choice_.rows * choice_.block) != 0;
      if (partial_block || partial) {
        Add(IsolateStep{Row() + ".0"});
        Add(IsolateStep{Row() + ".1"});
      }
    } else {
      Add(SplitStep{Row(), {choice_.rows}});
      if (partial) Add(IsolateStep{Row() + ".0"});
    }
  }
  void Reorder() {
    ReorderStep order;
    const auto add = [&](const std::string& loop) { order.loops.push_back(loop); };
    for (const VarId iterator : plan_.shared) add(plan_.Loop(iterator));
    if (choice_.columns_outside) add(Column() + ".0");
    for (const VarId iterator : plan_.outer_rows) add(plan_.Loop(iterator));
    if (Blocked()) add(Row() + ".0");
    if (!choice_.columns_outside) add(Column() + ".0");
    parallel_ = order.loops;
    if (plan_.row) add(TileLoop());
    for (const VarId iterator : ReductionOrderOf(plan_)) add(plan_.Loop(iterator));
    if (plan_.row) add(plan_.reduction.name + RowSuffix());
    add(plan_.reduction.name + ColumnSuffix());
    Add(std::move(order));
  }
  void Attach() {
    Add(ComputeAtStep{plan_.reduction.name + ".init", TileLoop()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, TileLoop()});
    Add(StageStep{plan_.compute->tensors[plan_.reduction.writes[0].tensor].name, Scope::kRegister,
                  TileLoop()});
    for (size_t i = 0; i + 1 < plan_.followers.size(); ++i) StageFollower(plan_.followers[i]);
  }
  void StageFollower(const std::string& follower) {
    const Statement& statement = plan_.compute->statements[*plan_.compute->FindStatement(follower)];
    for (const tunec::Write& write : statement.writes) {
      const Tensor& tensor = plan_.compute->tensors[write.tensor];
      if (tensor.role == TensorRole::kWorkspace) {
        Add(StageStep{tensor.name, Scope::kRegister, TileLoop()});
      }
    }
  }
  void Finish() {
    std::vector<std::string> names = {plan_.reduction.name + ".init", plan_.reduction.name};
    names.insert(names.end(), plan_.followers.begin(), plan_.followers.end());
    for (const std::string& name : names) {
      if (plan_.row) Add(UnrollStep{name + RowSuffix()});
      Add(VectorizeStep{name + ColumnSuffix()});
    }
    for (const VarId iterator : plan_.short_reductions) Add(UnrollStep{plan_.Loop(iterator)});
    if (plan_.long_reduction && choice_.unroll > 1) {
      Add(UnrollStep{plan_.Loop(*plan_.long_reduction), static_cast<int>(choice_.unroll)});
    }
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
  }

  const TilePlan& plan_;
  TileChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
};

std::vector<int64_t> RowChoices(int64_t rows) {
  std::vector<int64_t> choices;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, kMaximumRows); ++r) {
    if (r <= 16 || r % 4 == 0) choices.push_back(r);
  }
  return choices;
}

int64_t DefaultBlock(const TilePlan& plan, const Target& target, const TileSizes& tile) {
  if (!plan.row) return 1;
  const int64_t row_tiles = CeilDivide(plan.Extent(*plan.row), tile.rows);
  const int64_t column_tiles = CeilDivide(plan.Extent(plan.column), tile.columns);
  int64_t others = 1;
  for (const VarId iterator : plan.shared) others *= plan.Extent(iterator);
  // Half of the second-level cache for the block of rows; enough tasks for every thread.
  const int64_t bytes_per_tile = std::max<int64_t>(1, tile.rows * plan.panel_bytes_per_column);
  int64_t block = std::clamp<int64_t>(target.l2_bytes / 2 / bytes_per_tile, 1, row_tiles);
  while (block > 1 && CeilDivide(row_tiles, block) * column_tiles * others < 4 * target.threads) {
    block /= 2;
  }
  return block;
}

int64_t DefaultUnroll(const TilePlan& plan) {
  int64_t unrolled = 1;
  for (const VarId iterator : plan.short_reductions) unrolled *= plan.Extent(iterator);
  if (!plan.long_reduction) return 1;
  return unrolled >= 3 ? 1 : std::min<int64_t>(4, plan.Extent(*plan.long_reduction));
}

Sketch MakeSketch(TilePlan plan, const std::shared_ptr<const Compute>& compute,
                  const Target& target) {
  plan.compute = compute.get();  // the sketch outlives the caller's
  const Tensor& accumulator = compute->tensors[plan.reduction.writes[0].tensor];
  const int64_t lanes = target.Lanes(static_cast<int>(SizeOf(accumulator.type)));
  const TileSizes tile = BestTile(plan, target, lanes);
  const int64_t registers = AccumulatorRegisters(target);
  const int64_t panels_bytes = plan.panel_bytes_per_column * plan.Extent(plan.column);
  Sketch sketch{.name = "tile"};
  sketch.knobs.push_back(
      MakeKnob("rows", RowChoices(plan.row ? plan.Extent(*plan.row) : 1), tile.rows));
  sketch.knobs.push_back(
      MakeKnob("columns", {lanes, 2 * lanes, 3 * lanes, 4 * lanes}, tile.columns));
  sketch.knobs.push_back(MakeKnob("block", {1, 2, 4, 8, 16, 32}, DefaultBlock(plan, target, tile)));
  sketch.knobs.push_back(MakeKnob("unroll", {1, 2, 4, 8}, DefaultUnroll(plan)));
  sketch.knobs.push_back(
      MakeKnob("columns_outside", {0, 1}, panels_bytes > target.l2_bytes / 2 ? 1 : 0));
  sketch.knobs.push_back(plan.pack_is_optional
                             ? MakeKnob("pack", {0, 1}, plan.pack_by_default ? 1 : 0)
                             : MakeKnob("pack", {plan.pack ? 1 : 0}, 1));
  sketch.fill = [plan, compute, registers, lanes](const std::vector<int64_t>& values) {
    TileChoice choice{.rows = values[0],
                      .columns = values[1],
                      .block = values[2],
                      .unroll = values[3],
                      .columns_outside = values[4] != 0,
                      .pack = values[5] != 0};
    // More accumulators than registers spill: the nearest tile that fits stands for them.
    choice.rows = std::clamp<int64_t>(registers / (choice.columns / lanes), 1, choice.rows);
    if (plan.long_reduction) {
      choice.unroll = std::min(choice.unroll, plan.Extent(*plan.long_reduction));
    }
    return TileWriter(plan, choice).Write();
  };
  return sketch;
}

}  // namespace

void AddTileSketches(const NamedCompute& lowering, const Target& target,
                     std::vector<Sketch>& sketches) {
  const auto compute = std::make_shared<const Compute>(lowering.compute);
  for (TilePlan& plan : MakePlans(lowering, target)) {
    sketches.push_back(MakeSketch(std::move(plan), compute, target));
    if (sketches.size() > 1) sketches.back().name += std::to_string(sketches.size());
  }
}

}  // namespace tunec
