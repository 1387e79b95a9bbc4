#include "schedule/sketches/tile_plan.h"

#include <algorithm>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/steps/apply_compute_steps.h"
#include "schedule/steps/operand_zeros.h"

namespace tunec {
namespace {

// Greatest extents of reductions that are unrolled completely. The second one is for reductions
// that a condition connects with the tile's row or column.
constexpr int64_t kShortReduction = 7;
constexpr int64_t kMostTaps = 16;
// Least number of reads of each element that pays for a copy at run time.
constexpr int64_t kWorthPacking = 32;
constexpr size_t kMostColumns = 2;  // alternative vector dimensions, one sketch each

// Returns true if one condition of the domain uses both iterators.
bool ConditionedTogether(const Statement& statement, VarId a, VarId b) {
  return std::ranges::any_of(statement.domain, [&](const IndexExpr& condition) {
    return condition.Uses(a) && condition.Uses(b);
  });
}

// Returns the only reduction of the Compute. Returns none if there are several, or if the sketch
// does not support it.
std::optional<StatementId> FindReduction(const Compute& compute) {
  const std::optional<StatementId> found = OnlyReduction(compute);
  if (!found) return std::nullopt;
  const Statement& statement = compute.statements[*found];
  if (!statement.reducer->reorderable || statement.writes.size() != 1 ||
      !statement.reducer->finalise.empty() || statement.reads.empty()) {
    return std::nullopt;
  }
  for (const IndexExpr& index : statement.writes[0].index) {
    if (!index.AsVar() && !index.IsConstant()) return std::nullopt;
  }
  return found;
}

// Returns true if the statement writes one element. With `in_terms`, it may write this element in
// all planes of bfloat16 parts.
bool WritesElement(const Compute& compute, const Statement& statement, bool in_terms) {
  if (statement.writes.size() == 1) return true;
  return in_terms && WritesPlanes(statement, compute.tensors[statement.writes[0].tensor]);
}

// Returns the statement as an operand of the reduction. The statement must compute single elements
// of a workspace, which the reduction reads once, at plain iterators. Returns none otherwise. The
// dimension of planes is left out.
std::optional<TilePlan::Operand> OperandOf(const Compute& compute, const Statement& statement,
                                           const TilePlan& plan) {
  const Statement& reduction = plan.reduction;
  const bool in_terms = plan.dot && plan.dot->part_product;
  if (statement.reducer || !WritesElement(compute, statement, in_terms)) return {};
  if (!statement.domain.empty()) return {};
  TilePlan::Operand operand{.statement = statement.name, .tensor = statement.writes[0].tensor};
  const Tensor& tensor = compute.tensors[operand.tensor];
  if (tensor.role != TensorRole::kWorkspace) return {};
  const Read* read = nullptr;
  for (const Statement& other : compute.statements) {
    for (const Read& candidate : other.reads) {
      if (candidate.tensor != operand.tensor) continue;
      if (read != nullptr || other.name != reduction.name) return {};
      read = &candidate;
    }
  }
  if (read == nullptr || read->guard) return {};
  for (size_t d = statement.writes.size() > 1 ? 1 : 0; d < read->index.size(); ++d) {
    if (read->index[d].IsConstant()) continue;
    const std::optional<VarId> iterator = read->index[d].AsVar();
    if (!iterator || !statement.writes[0].index[d].AsVar()) return {};
    operand.dimensions.push_back(*iterator);
  }
  return operand.dimensions.empty() ? std::nullopt : std::optional(operand);
}

// Returns true if the index is the column plus an offset that does not change within the reduction.
// Such an index selects, for example, the channels of a group.
bool BeginsAtOffset(const Statement& reduction, const IndexExpr& index, VarId column) {
  const IndexExpr offset = index - IndexExpr::Var(column);
  std::vector<VarId> used;
  offset.CollectVars(used);
  return std::ranges::none_of(used, [&](VarId v) {
    return v == column || reduction.iterators[v].kind == IteratorKind::kReduction;
  });
}

// Returns true if the tensor is a workspace that a separate statement fills with an argument, cast
// to another type. Such a workspace may have any layout.
bool IsCastArgument(const Compute& compute, const Tensor& tensor) {
  const std::optional<StatementId> maker = compute.FindStatement(tensor.name);
  if (tensor.role != TensorRole::kWorkspace || !tensor.layout.IsRowMajor() || !maker) return false;
  const Statement& statement = compute.statements[*maker];
  if (statement.reads.size() != 1 || statement.values[0].kind() != ExprKind::kCast) return false;
  const TensorRole role = compute.tensors[statement.reads[0].tensor].role;
  const bool reads = statement.values[0].operands()[0].kind() == ExprKind::kRead;
  return reads && (role == TensorRole::kInput || role == TensorRole::kWeight);
}

// Returns true if a copy of the operand in another layout can have contiguous columns. The column
// must be a dimension by itself, which is then split. In a constant, it may be a part of a
// dimension.
bool IsPackable(const Compute& compute, const Statement& reduction, const Read& read,
                VarId column) {
  const Tensor& tensor = compute.tensors[read.tensor];
  const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
  if (read.guard || (!argument && !IsCastArgument(compute, tensor))) return false;
  int dimensions = 0;
  for (const IndexExpr& index : read.index) {
    if (index.UsesLoaded()) return false;
    if (!index.Uses(column)) continue;
    const bool piece = tensor.constant && BeginsAtOffset(reduction, index, column);
    if (index.AsVar() != column && !piece) return false;
    ++dimensions;
  }
  return dimensions == 1;
}

// Returns a score of an output iterator as vector lanes; more is better. A negative score means
// gathered or mostly empty vectors.
int ColumnScore(const Compute& compute, const Statement& reduction, const Statement& final,
                VarId iterator, int64_t lanes) {
  int score = 0;
  if (reduction.iterators[iterator].extent >= lanes) score += 2;
  if (reduction.iterators[iterator].extent < lanes / 2) score -= 3;
  if (UsesIterator(reduction.domain, iterator)) score -= 4;
  const std::optional<VarId> contiguous =
      ContiguousIterator(compute, final, final.writes[0].tensor, final.writes[0].index);
  if (contiguous && WrittenBy(reduction, final, *contiguous) == iterator) score += 2;
  for (const Read& read : reduction.reads) {
    if (!UsesIterator(read.index, iterator)) continue;
    const bool natural = StorageStride(compute, reduction, read.tensor, read.index, iterator) == 1;
    if (compute.tensors[read.tensor].constant && IsPackable(compute, reduction, read, iterator)) {
      score += 3;
    } else if (natural) {
      score += 3;
    } else {
      // A copy at run time must save more time than it takes.
      const bool worth = ReadsPerElement(reduction, read) >= kWorthPacking;
      score += IsPackable(compute, reduction, read, iterator) && worth ? 2 : -4;
    }
  }
  return score;
}

// Returns the output iterators that may be vector lanes, the most promising first. An alternative
// with a negative score is left out. Its vectors would be gathered or mostly empty, so it would
// only cost time in a search.
std::vector<VarId> RankColumns(const Compute& compute, const Statement& reduction,
                               const Statement& final, int64_t lanes) {
  std::vector<std::pair<int, VarId>> ranked;
  for (const VarId iterator : WrittenIterators(reduction)) {
    if (reduction.iterators[iterator].extent == 1) continue;
    ranked.emplace_back(-ColumnScore(compute, reduction, final, iterator, lanes), iterator);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, VarId>::first);
  std::vector<VarId> columns;
  for (const auto& [penalty, iterator] : ranked) {
    if (columns.empty() || (columns.size() < kMostColumns && penalty <= 0))
      columns.push_back(iterator);
  }
  return columns;
}

// Returns the longest reduction without conditions, otherwise the longest one. Short reductions
// with conditions are left out.
std::optional<VarId> LongReduction(const TilePlan& plan, const std::vector<VarId>& reductions) {
  std::optional<VarId> longest;
  const auto is_free = [&](VarId v) { return !UsesIterator(plan.reduction.domain, v); };
  for (const VarId iterator : reductions) {
    if (!is_free(iterator) && plan.Extent(iterator) <= kMostTaps) continue;
    const bool better =
        !longest || is_free(iterator) > is_free(*longest) ||
        (is_free(iterator) == is_free(*longest) && plan.Extent(iterator) > plan.Extent(*longest));
    if (better) longest = iterator;
  }
  return longest;
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
    if ((with_row || with_column) && extent <= kMostTaps) {
      plan.short_reductions.push_back(iterator);
    } else {
      rest.push_back(iterator);
    }
  }
  plan.long_reduction = LongReduction(plan, rest);
  // The last reduction is also unrolled if it is short.
  for (const VarId iterator : rest) {
    if (plan.long_reduction == iterator) continue;
    const bool last = iterator == rest.back();
    const bool free = !UsesIterator(plan.reduction.domain, iterator);
    if (last && free && plan.short_reductions.empty() && plan.Extent(iterator) <= kShortReduction) {
      plan.short_reductions.push_back(iterator);
    } else {
      plan.outer_reductions.push_back(iterator);
    }
  }
}

}  // namespace

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
    // An output is shared, such as a batch, if the operand along the columns and the broadcast
    // operand use it. Tiles over such an output would reuse neither operand.
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

void AssignBefore(TilePlan& plan, StatementId reduction) {
  for (StatementId s(0); s < reduction; ++s) {
    const Statement& statement = plan.compute->statements[s];
    if (IsMadeOfConstant(*plan.compute, statement)) continue;
    std::optional<TilePlan::Operand> operand;
    if (!plan.operand) operand = OperandOf(*plan.compute, statement, plan);
    const bool per_column =
        operand && std::ranges::find(operand->dimensions, plan.column) != operand->dimensions.end();
    if (operand && !per_column) {
      plan.operand = std::move(operand);
    } else {
      plan.before.push_back(statement.name);
    }
  }
}

std::vector<std::string> TilePlan::Writers() const {
  std::vector<std::string> names = {reduction.name + ".init", reduction.name};
  if (pieces) names.insert(names.end(), {pieces->total + ".init", pieces->total});
  names.insert(names.end(), followers.begin(), followers.end());
  return names;
}

int64_t TilePlan::LongSteps() const {
  const bool cut = pieces && pieces->along == long_reduction;
  return cut ? pieces->length : Extent(*long_reduction);
}

int64_t TilePlan::ResultsOfColumn() const {
  int64_t results = 1;
  for (const VarId iterator : WrittenIterators(reduction)) {
    if (iterator != column) results *= Extent(iterator);
  }
  return results;
}

void CutLongSum(const RoundingFreedom& rounding, TilePlan& plan) {
  if (!plan.long_reduction || plan.dot) return;
  std::vector<VarId> loops = {*plan.long_reduction};
  loops.insert(loops.end(), plan.outer_reductions.begin(), plan.outer_reductions.end());
  plan.pieces = PiecesOf(*plan.compute, plan.reduction, loops, rounding);
  if (plan.pieces) plan.reduction = SumOfPiece(plan.reduction, *plan.pieces);
}

std::vector<std::string> StreamedOperands(const TilePlan& plan) {
  std::vector<std::string> tensors;
  if (plan.dot || !plan.widened.empty() || !plan.reduction.domain.empty()) return {};
  if (plan.pack && (!plan.pack_is_optional || plan.pack_by_default)) return {};
  for (const Read& read : plan.reduction.reads) {
    if (!UsesIterator(read.index, plan.column)) continue;
    const Tensor& tensor = plan.compute->tensors[read.tensor];
    const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
    const bool plain = std::ranges::all_of(
        read.index, [](const IndexExpr& i) { return i.AsVar() || i.IsConstant(); });
    const auto stride =
        StorageStride(*plan.compute, plan.reduction, read.tensor, read.index, plan.column);
    if (!argument || read.guard || !plain || stride != 1) return {};
    if (ReadsPerElement(plan.reduction, read) != 1) return {};
    const bool known = std::ranges::find(tensors, tensor.name) != tensors.end();
    if (!known) tensors.push_back(tensor.name);
  }
  return tensors;
}

std::vector<VarId> ReductionOrderOf(const TilePlan& plan) {
  std::vector<VarId> order = plan.outer_reductions;
  if (plan.long_reduction) order.push_back(*plan.long_reduction);
  order.insert(order.end(), plan.short_reductions.begin(), plan.short_reductions.end());
  return order;
}

namespace {

// Returns the depth of the innermost reduction loop that changes the index; -1 if none does.
int DepthOf(const IndexExpr& index, const std::vector<VarId>& reductions) {
  int depth = -1;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (index.Uses(reductions[i])) depth = static_cast<int>(i);
  }
  return depth;
}

}  // namespace

// The axes of the result are, outermost first: dimensions that no reduction loop changes, the
// column tiles, dimensions in the order of the reduction loops, and the columns of a tile. If the
// column has an offset, its dimension is not split.
PackStep PackInLoopOrder(const TilePlan& plan, const Read& read) {
  const std::vector<VarId> reductions = ReductionOrderOf(plan);
  PackStep pack{.tensor = plan.compute->tensors[read.tensor].name};
  std::vector<std::pair<int, int>> by_depth;
  int column = 0;
  bool split = true;
  for (size_t d = 0; d < read.index.size(); ++d) {
    const auto dimension = static_cast<int>(d);
    if (read.index[d].Uses(plan.column)) {
      column = dimension;
      split = read.index[d].AsVar() == plan.column;
    } else {
      by_depth.emplace_back(DepthOf(read.index[d], reductions), dimension);
    }
  }
  std::ranges::stable_sort(by_depth, {}, &std::pair<int, int>::first);
  bool has_column = !split;
  for (const auto& [depth, dimension] : by_depth) {
    if (depth >= 0 && !has_column) {
      pack.axes.push_back({.dimension = column, .part = PackStep::Part::kQuotient});
      has_column = true;
    }
    pack.axes.push_back({.dimension = dimension});
  }
  if (!has_column) pack.axes.push_back({.dimension = column, .part = PackStep::Part::kQuotient});
  pack.axes.push_back(
      {.dimension = column, .part = split ? PackStep::Part::kRemainder : PackStep::Part::kWhole});
  return pack;
}

namespace {

// Reasons to copy an operand in the tile's layout, the weakest first.
enum class PackGain : uint8_t { kNone, kPieces, kTurned, kConstant };

PackGain GainOfPacking(const TilePlan& plan, const Read& read) {
  const Compute& compute = *plan.compute;
  if (!IsPackable(compute, plan.reduction, read, plan.column)) return PackGain::kNone;
  if (compute.tensors[read.tensor].constant) return PackGain::kConstant;
  const bool natural =
      StorageStride(compute, plan.reduction, read.tensor, read.index, plan.column) == 1;
  // A copy does not help if each element is read once.
  if (ReadsPerElement(plan.reduction, read) < 2 || (natural && plan.reduction.reads.size() < 2))
    return PackGain::kNone;
  return natural ? PackGain::kPieces : PackGain::kTurned;
}

void AssignPack(TilePlan& plan) {
  PackGain best = PackGain::kNone;
  for (const Read& read : plan.reduction.reads) {
    if (best == PackGain::kConstant || !UsesIterator(read.index, plan.column)) continue;
    const Tensor& tensor = plan.compute->tensors[read.tensor];
    plan.panel_bytes_per_column = plan.reduction_size * static_cast<int64_t>(SizeOf(tensor.type));
    const PackGain gain = GainOfPacking(plan, read);
    if (gain <= best) continue;
    best = gain;
    plan.pack = PackInLoopOrder(plan, read);
  }
  plan.pack_is_optional = best == PackGain::kPieces;
  // Packing at run time pays if many rows use the copy.
  plan.pack_by_default = best != PackGain::kPieces || (plan.row && plan.Extent(*plan.row) >= 96);
}

}  // namespace

namespace {

// Sets the Compute of the plan. A sum that writes an argument is changed to write a workspace,
// which can be stored in registers. Returns false if this is impossible, or if no statement follows
// a sum in a workspace.
bool SetCompute(const Compute& compute, StatementId reduction, TilePlan& plan) {
  const Statement& statement = compute.statements[reduction];
  const Tensor& written = compute.tensors[statement.writes[0].tensor];
  const bool has_follower = compute.statements.contains(reduction.next());
  if (written.role == TensorRole::kWorkspace) {
    plan.compute = std::make_shared<const Compute>(compute);
    return has_follower;
  }
  plan.cache_write = CacheWriteStep{statement.name};
  Result<Compute> rewritten = Apply(compute, *plan.cache_write);
  if (!rewritten) return false;
  plan.compute = std::make_shared<const Compute>(*std::move(rewritten));
  return true;
}

}  // namespace

std::vector<TilePlan> MakeTilePlans(const NamedCompute& lowering, const Target& target) {
  const std::optional<StatementId> reduction = FindReduction(lowering.compute);
  TilePlan plan{.lowering = lowering.name};
  if (!reduction || !SetCompute(lowering.compute, *reduction, plan)) return {};
  const Compute& compute = *plan.compute;
  plan.reduction = compute.statements[*reduction];
  for (StatementId s = reduction->next(); compute.statements.contains(s); ++s) {
    plan.followers.push_back(compute.statements[s].name);
  }
  const Tensor& accumulator = compute.tensors[plan.reduction.writes[0].tensor];
  const int64_t lanes = target.host.Lanes(static_cast<int>(SizeOf(accumulator.type)));
  const Statement& final = compute.statements[FinalStatement(compute)];
  std::vector<TilePlan> plans;
  for (const VarId column : RankColumns(compute, plan.reduction, final, lanes)) {
    plans.push_back(plan);
    plans.back().column = column;
    AssignOutputs(plans.back());
    AssignReductions(plans.back());
    AssignPack(plans.back());
    AssignBefore(plans.back(), *reduction);
  }
  return plans;
}

}  // namespace tunec
