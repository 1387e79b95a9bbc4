#include "schedule/sketches/transformed_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kMostUnrolled = 16;  // largest number of unrolled iterations of a follower

// Returns the only reduction if it is reorderable, reads two elements and writes workspace, with
// plain indices and without conditions. Otherwise returns nothing.
std::optional<StatementId> FindSum(const Compute& compute) {
  const std::optional<StatementId> found = OnlyReduction(compute);
  if (!found) return std::nullopt;
  const Statement& sum = compute.statements[*found];
  const bool plain = std::ranges::all_of(
      sum.reads, [](const Read& read) { return !read.guard && NamesDimensions(read.index); });
  const bool fits = sum.writes.size() == 1 && sum.reads.size() == 2 && sum.domain.empty() &&
                    sum.reducer->reorderable && sum.reducer->finalise.empty() && plain &&
                    NamesDimensions(sum.writes[0].index) &&
                    compute.tensors[sum.writes[0].tensor].role == TensorRole::kWorkspace;
  return fits ? found : std::nullopt;
}

// Sets the roles of the sum's iterators. Returns false unless there is exactly one plane, column
// and reduced iterator, and at least one row.
bool AssignIterators(const Read& weight, const Read& operand, TransformedPlan& plan) {
  std::vector<VarId> planes, columns, rows, reduced;
  for (const VarId v : plan.sum.iterators.ids()) {
    const bool in_weight = UsesIterator(weight.index, v);
    const bool in_operand = UsesIterator(operand.index, v);
    const bool written = UsesIterator(plan.sum.writes[0].index, v);
    if (!written) {
      if (!in_weight || !in_operand) return false;
      reduced.push_back(v);
    } else {
      (in_weight && in_operand ? planes : in_weight ? columns : rows).push_back(v);
    }
  }
  if (planes.size() != 1 || columns.size() != 1 || reduced.size() != 1 || rows.empty()) {
    return false;
  }
  plan.plane = planes[0];
  plan.column = columns[0];
  plan.reduced = reduced[0];
  plan.row = rows.back();
  rows.pop_back();
  plan.outer_rows = std::move(rows);
  return true;
}

// Returns the only statement that writes the tensor. Returns nothing if there is none, or if there
// are several.
std::optional<StatementId> OnlyWriter(const Compute& compute, TensorId tensor) {
  std::optional<StatementId> found;
  for (const StatementId s : compute.statements.ids()) {
    const bool writes = std::ranges::any_of(
        compute.statements[s].writes, [&](const Write& write) { return write.tensor == tensor; });
    if (!writes) continue;
    if (found) return std::nullopt;
    found = s;
  }
  return found;
}

bool IsReadByOthers(const Compute& compute, TensorId tensor, const std::string& reader) {
  return std::ranges::any_of(compute.statements, [&](const Statement& statement) {
    return statement.name != reader && std::ranges::any_of(statement.reads, [&](const Read& read) {
             return read.tensor == tensor;
           });
  });
}

// Sets the producer of the operand that uses the rows, and its loops. Returns false unless a single
// elementwise statement writes the operand, and only the sum reads it. Every iterator of this
// statement must be a dimension of the operand.
bool AssignProducer(const Read& operand, TransformedPlan& plan) {
  const Compute& compute = *plan.compute;
  const std::optional<StatementId> maker = OnlyWriter(compute, operand.tensor);
  if (!maker || IsReadByOthers(compute, operand.tensor, plan.sum.name)) return false;
  const Statement& producer = compute.statements[*maker];
  if (producer.reducer || !producer.domain.empty()) return false;
  for (const Write& write : producer.writes) {
    if (write.tensor != operand.tensor || !NamesDimensions(write.index)) return false;
  }
  plan.producer = producer.name;
  plan.operand = compute.tensors[operand.tensor].name;
  std::vector<VarId> known;
  for (size_t d = 0; d < operand.index.size(); ++d) {
    const std::optional<VarId> own = producer.writes[0].index[d].AsVar();
    const std::optional<VarId> of_sum = operand.index[d].AsVar();
    if (!own) continue;
    known.push_back(*own);
    const std::string loop = producer.name + "." + producer.iterators[*own].name;
    if (of_sum == plan.reduced) {
      plan.producer_vector = loop;
    } else if (of_sum != plan.plane) {
      plan.producer_outer.push_back(loop);
    }
  }
  return !plan.producer_vector.empty() && known.size() == producer.iterators.size();
}

// Returns true if the statement is elementwise and reads the sums only at constant planes, with
// plain indices and without conditions.
bool CombinesPlanes(const TransformedPlan& plan, const Statement& back, TensorId sums) {
  if (back.reducer || !back.domain.empty()) return false;
  for (const Read& read : back.reads) {
    if (read.tensor != sums) continue;
    if (read.guard || !NamesDimensions(read.index)) return false;
    for (size_t d = 0; d < read.index.size(); ++d) {
      const std::optional<VarId> of_sum = plan.sum.writes[0].index[d].AsVar();
      if (of_sum == plan.plane && !read.index[d].IsConstant()) return false;
    }
  }
  return std::ranges::any_of(back.reads, [&](const Read& read) { return read.tensor == sums; });
}

// Returns the follower with its loops inside the vector loop: copies of the loops of the closest
// statement in `before`, then the follower's other loops. Returns nothing for a reduction, for an
// unrelated statement, or for more than kMostUnrolled iterations of the other loops.
std::optional<TransformedPlan::Follower> FollowerOf(
    const Statements& statements, StatementId follower, const std::vector<StatementId>& before,
    const std::vector<TransformedPlan::Follower>& known) {
  const Statement& statement = statements[follower];
  if (statement.reducer) return std::nullopt;
  const std::optional<ClosestRelation> closest = FindClosest(statements, follower, before);
  if (!closest) return std::nullopt;
  std::vector<bool> shared(statement.iterators.size());
  for (const auto& [theirs, own] : closest->iterators.exact) {
    if (const auto v = own.AsVar()) shared[v->index()] = true;
  }
  TransformedPlan::Follower result{.name = statement.name};
  const Statement& partner = statements[closest->partner];
  for (const TransformedPlan::Follower& other : known) {
    if (other.name != partner.name) continue;
    for (const std::string& loop : other.loops) {
      result.loops.push_back(statement.name + loop.substr(partner.name.size()));
    }
  }
  int64_t unrolled = 1;
  for (const VarId v : statement.iterators.ids()) {
    if (shared[v.index()]) continue;
    unrolled *= statement.iterators[v].extent;
    result.loops.push_back(statement.name + "." + statement.iterators[v].name);
  }
  return unrolled <= kMostUnrolled ? std::optional(result) : std::nullopt;
}

// Sets the statement that combines planes, the followers, and the workspace between these
// statements. `store` is the statement that `cache_write` adds. Returns false if a statement does
// not fit.
bool AssignFollowers(StatementId store, TransformedPlan& plan) {
  const Compute& compute = *plan.compute;
  const StatementId back = store.next();
  if (!compute.statements.contains(back.next())) return false;
  const TensorId sums = compute.statements[store].writes[0].tensor;
  if (!CombinesPlanes(plan, compute.statements[back], sums)) return false;
  plan.back = compute.statements[back].name;
  if (IsReadByOthers(compute, sums, plan.back)) return false;
  std::vector<StatementId> inside = {back};
  for (StatementId s = back.next(); compute.statements.contains(s); ++s) {
    auto follower = FollowerOf(compute.statements, s, inside, plan.followers);
    if (!follower) return false;
    plan.followers.push_back(*std::move(follower));
    inside.push_back(s);
  }
  for (const StatementId s : inside) {
    for (const Write& write : compute.statements[s].writes) {
      const Tensor& tensor = compute.tensors[write.tensor];
      const bool listed = std::ranges::find(plan.registers, tensor.name) != plan.registers.end();
      if (tensor.role == TensorRole::kWorkspace && !listed) plan.registers.push_back(tensor.name);
    }
  }
  return true;
}

// Returns true if only the producer and transforms of constants come before the sum.
bool HasOnlyTransformsBefore(const Compute& compute, StatementId sum, const std::string& producer) {
  for (StatementId s(0); s < sum; ++s) {
    const Statement& statement = compute.statements[s];
    if (!IsMadeOfConstant(compute, statement) && statement.name != producer) return false;
  }
  return true;
}

}  // namespace

bool HasTransforms(const Compute& compute) {
  return std::ranges::any_of(compute.statements, [&](const Statement& statement) {
    return IsMadeOfConstant(compute, statement);
  });
}

std::optional<TransformedPlan> MakeTransformedPlan(const NamedCompute& lowering) {
  if (!HasTransforms(lowering.compute)) return std::nullopt;
  const std::optional<StatementId> sum = FindSum(lowering.compute);
  if (!sum) return std::nullopt;
  Result<Compute> cached =
      Apply(lowering.compute, CacheWriteStep{lowering.compute.statements[*sum].name});
  if (!cached) return std::nullopt;
  TransformedPlan plan{.lowering = lowering.name,
                       .compute = std::make_shared<const Compute>(*std::move(cached))};
  const Compute& compute = *plan.compute;
  plan.sum = compute.statements[*sum];
  const auto is_constant = [&](const Read& read) { return compute.tensors[read.tensor].constant; };
  const auto weight = std::ranges::find_if(plan.sum.reads, is_constant);
  if (weight == plan.sum.reads.end()) return std::nullopt;
  const Read& operand = plan.sum.reads[weight == plan.sum.reads.begin() ? 1 : 0];
  plan.weight = compute.tensors[weight->tensor].name;
  plan.weight_index = weight->index;
  const bool fits = compute.tensors[weight->tensor].role == TensorRole::kWorkspace &&
                    AssignIterators(*weight, operand, plan) && AssignProducer(operand, plan) &&
                    AssignFollowers(sum->next(), plan) &&
                    HasOnlyTransformsBefore(compute, *sum, plan.producer);
  return fits ? std::optional(std::move(plan)) : std::nullopt;
}

void CutLongSum(const RoundingFreedom& rounding, TransformedPlan& plan) {
  if (plan.dot != nullptr) return;
  plan.pieces = PiecesOf(*plan.compute, plan.sum, {plan.reduced}, rounding);
  if (plan.pieces) plan.sum = SumOfPiece(plan.sum, *plan.pieces);
}

std::optional<TransformedPlan> MakeDotPlan(const TransformedPlan& plain,
                                           const NamedCompute& lowering,
                                           const TileIntrinsic& intrinsic) {
  const bool whole = plain.Extent(plain.column) % intrinsic.Extent(TileAxis::kColumn) == 0 &&
                     plain.Extent(plain.reduced) % intrinsic.Extent(TileAxis::kGroup) == 0;
  if (!whole) return std::nullopt;
  NamedCompute rounded = lowering;
  for (const std::string& operand : {plain.operand, plain.weight}) {
    Result<Compute> narrowed = Apply(rounded.compute, NarrowStep{operand, plain.sum.name});
    if (!narrowed) return std::nullopt;
    rounded.compute = *std::move(narrowed);
  }
  std::optional<TransformedPlan> plan = MakeTransformedPlan(rounded);
  if (plan) plan->dot = &intrinsic;
  return plan;
}

namespace {

// Returns the number of instructions for one vector of an access. Elements that are not contiguous
// are accessed one by one.
double AccessCost(const Compute& compute, const Statement& statement, TensorId tensor,
                  const std::vector<IndexExpr>& index, VarId vector, int64_t lanes) {
  if (!UsesIterator(index, vector)) return 1;
  const bool together = StorageStride(compute, statement, tensor, index, vector) == 1;
  return together ? 1 : static_cast<double>(lanes);
}

// Returns the cost of a statement's loads and stores, in vectors along the iterator `vector`.
double StatementCost(const Compute& compute, const Statement& statement, VarId vector,
                     int64_t lanes) {
  double cost = 0;
  for (const Read& read : statement.reads) {
    cost += AccessCost(compute, statement, read.tensor, read.index, vector, lanes);
  }
  for (const Write& write : statement.writes) {
    cost += 2 * AccessCost(compute, statement, write.tensor, write.index, vector, lanes);
  }
  const auto extent = static_cast<double>(statement.iterators[vector].extent);
  const auto width = static_cast<double>(lanes);
  return cost * ProductOfExtents(statement) / extent * std::ceil(extent / width);
}

// Returns the iterator of the loop with this name before any loop step. Returns nothing if there is
// no such loop.
std::optional<VarId> IteratorNamed(const Statement& statement, const std::string& loop) {
  for (const VarId v : statement.iterators.ids()) {
    if (statement.name + "." + statement.iterators[v].name == loop) return v;
  }
  return std::nullopt;
}

// Returns the iterator by which `reader` reads the dimension that `writer` writes by `iterator`.
// Returns nothing if there is none.
std::optional<VarId> FollowIterator(const Statement& writer, VarId iterator,
                                    const Statement& reader) {
  for (const Write& write : writer.writes) {
    for (const Read& read : reader.reads) {
      if (read.tensor != write.tensor) continue;
      for (size_t d = 0; d < write.index.size(); ++d) {
        if (write.index[d].AsVar() == iterator) return read.index[d].AsVar();
      }
    }
  }
  return std::nullopt;
}

}  // namespace

double TransformCost(const TransformedPlan& plan, int64_t lanes) {
  const Compute& compute = *plan.compute;
  const auto statement = [&](const std::string& name) -> const Statement& {
    return compute.statements[*compute.FindStatement(name)];
  };
  const Statement& producer = statement(plan.producer);
  double cost =
      StatementCost(compute, producer, *IteratorNamed(producer, plan.producer_vector), lanes);
  // Each statement is vectorized along the column of the previous statement.
  const Statement& store = statement(plan.Total() + ".store");
  const Statement* before = &store;
  std::optional<VarId> column;
  for (size_t d = 0; d < store.writes[0].index.size(); ++d) {
    if (plan.sum.writes[0].index[d].AsVar() == plan.column) {
      column = store.writes[0].index[d].AsVar();
    }
  }
  cost += StatementCost(compute, store, *column, lanes);
  std::vector<std::string> behind = {plan.back};
  for (const TransformedPlan::Follower& follower : plan.followers) behind.push_back(follower.name);
  for (const std::string& name : behind) {
    const Statement& next = statement(name);
    column = FollowIterator(*before, *column, next);
    if (!column) break;  // neither this statement nor later ones are counted
    cost += StatementCost(compute, next, *column, lanes);
    before = &next;
  }
  return cost;
}

}  // namespace tunec
