#include "graph/lower/statement_builder.h"

#include <algorithm>
#include <map>

#include "ir/loaded_range.h"
#include "support/check.h"

namespace tunec::lower {

IterationSpace IterationSpaceOf(const std::vector<int64_t>& shape,
                                const std::vector<std::string>& names) {
  IterationSpace space{.iterators = {}, .index = {}, .shape = shape};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::string name = d < names.size() ? names[d] : "i" + std::to_string(d);
    space.index.push_back(IndexExpr::Var(
        space.iterators.push_back({std::move(name), shape[d], IteratorKind::kParallel})));
  }
  return space;
}

IndexExpr StatementBuilder::AddIterator(std::string name, int64_t extent, IteratorKind kind) {
  return IndexExpr::Var(iterators_.push_back({std::move(name), extent, kind}));
}

std::vector<IndexExpr> StatementBuilder::AddSpace(const IterationSpace& space) {
  TUNEC_CHECK(iterators_.empty(), "the space's variables count from its own first iterator");
  iterators_ = space.iterators;
  for (const IndexExpr& condition : space.domain) Require(condition);
  return space.index;
}

IntervalOf StatementBuilder::Intervals() const {
  return [this](VarId v) { return Interval{0, iterators_[v].extent - 1}; };
}

Interval StatementBuilder::Bounds(const IndexExpr& expr) const {
  const LoadedIntervalOf loaded = [this](int slot) {
    return LoadedRange(tensors_[reads_[slot].tensor], reads_[slot]);
  };
  return BoundsOf(expr, Intervals(), loaded);
}

bool StatementBuilder::CanFail(const IndexExpr& nonnegative) const {
  return Bounds(nonnegative).lo < 0;
}

std::vector<IndexExpr> StatementBuilder::IteratorsOf(const std::vector<IndexExpr>& index) const {
  std::vector<IndexExpr> used;
  for (const VarId v : iterators_.ids()) {
    const auto uses = [&](const IndexExpr& e) { return e.Uses(v); };
    if (std::ranges::any_of(index, uses)) used.push_back(IndexExpr::Var(v));
  }
  return used;
}

IterationSpace StatementBuilder::SpaceOf(const std::vector<IndexExpr>& index) const {
  IterationSpace space;
  std::map<VarId, IndexExpr> renamed;
  for (const IndexExpr& iterator : IteratorsOf(index)) {
    const VarId own = *iterator.AsVar();
    renamed.emplace(own, IndexExpr::Var(space.iterators.next_id()));
    space.iterators.push_back(
        {iterators_[own].name, iterators_[own].extent, IteratorKind::kParallel});
  }
  for (const IndexExpr& e : index)
    space.index.push_back(Substitute(e, [&](VarId v) { return renamed.at(v); }));
  return space;
}

void StatementBuilder::Require(const IndexExpr& nonnegative) {
  if (!CanFail(nonnegative)) return;
  if (std::ranges::find(domain_, nonnegative) == domain_.end()) domain_.push_back(nonnegative);
}

Expr StatementBuilder::ReadTensor(TensorId tensor, std::vector<IndexExpr> index) {
  for (IndexExpr& e : index) e = Simplify(e, Intervals());
  Read read{.tensor = tensor, .index = std::move(index), .guard = {}};
  if (!guards_.empty()) read.guard = Guard{.nonnegative = guards_, .outside = outside_};
  const auto at = std::ranges::find(reads_, read);
  const int slot = static_cast<int>(at - reads_.begin());
  if (at == reads_.end()) reads_.push_back(std::move(read));
  return Expr::Read(slot, tensors_[tensor].type);
}

std::vector<IndexExpr> StatementBuilder::FailingConditions(
    const std::vector<IndexExpr>& nonnegative) const {
  std::vector<IndexExpr> failing;
  for (const IndexExpr& e : nonnegative)
    if (CanFail(e)) failing.push_back(Simplify(e, Intervals()));
  return failing;
}

std::vector<IndexExpr> StatementBuilder::MergeGuards(
    const std::vector<IndexExpr>& nonnegative) const {
  std::vector<IndexExpr> all = guards_;
  for (const IndexExpr& e : FailingConditions(nonnegative)) all.push_back(e);
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

Expr StatementBuilder::EvaluateGuarded(const std::vector<IndexExpr>& nonnegative, double outside,
                                       const std::function<Expr()>& body) {
  std::vector<IndexExpr> guards = MergeGuards(nonnegative);
  if (guards == guards_) return body();
  std::swap(guards_, guards);
  std::swap(outside_, outside);
  // The memo's reads have this `outside`, so no other call with equal guards may use the memo.
  memos_.erase(guards_);
  Expr value = body();
  memos_.erase(guards_);
  guards_ = std::move(guards);
  outside_ = outside;
  return value;
}

bool StatementBuilder::IsReadGuardedBy(const Expr& value,
                                       const std::vector<IndexExpr>& nonnegative) const {
  const Expr* read = &value;
  while (read->kind() == ExprKind::kCast) read = &read->operands()[0];
  if (read->kind() != ExprKind::kRead) return false;
  const std::optional<Guard>& guard = reads_[read->node().slot].guard;
  return guard && guard->nonnegative == MergeGuards(nonnegative);
}

Statement StatementBuilder::Build(std::string name, Write write, const Expr& value,
                                  std::optional<Reducer> reducer) && {
  return std::move(*this).Build(std::move(name), std::vector<Write>{std::move(write)},
                                std::vector<Expr>{value}, std::move(reducer));
}

Statement StatementBuilder::Build(std::string name, std::vector<Write> writes,
                                  std::vector<Expr> values, std::optional<Reducer> reducer) && {
  for (Write& write : writes)
    for (IndexExpr& e : write.index) e = Simplify(e, Intervals());
  for (Expr& value : values) {
    value = TransformIndices(value, [&](const IndexExpr& e) { return Simplify(e, Intervals()); });
    value = Simplify(value);
  }
  DropUnusedReads(writes, values);
  return Statement{.name = std::move(name),
                   .iterators = std::move(iterators_),
                   .domain = std::move(domain_),
                   .reads = std::move(reads_),
                   .writes = std::move(writes),
                   .values = std::move(values),
                   .reducer = std::move(reducer)};
}

void StatementBuilder::DropUnusedReads(std::vector<Write>& writes, std::vector<Expr>& values) {
  std::vector<bool> used(reads_.size());
  const auto mark = [&](const IndexExpr& index) {
    RenumberLoaded(index, [&](int slot) { return used[slot] = true, slot; });
  };
  for (const Expr& value : values) {
    Visit(value, [&](const Expr& e) {
      if (e.kind() == ExprKind::kRead) used[e.node().slot] = true;
      std::ranges::for_each(e.node().index, mark);
    });
  }
  for (const Write& write : writes) std::ranges::for_each(write.index, mark);
  std::ranges::for_each(domain_, mark);
  // A read that loads an index comes before its user, so one pass from the end finds all used
  // reads.
  for (size_t slot = reads_.size(); slot-- > 0;) {
    if (!used[slot]) continue;
    std::ranges::for_each(reads_[slot].index, mark);
    if (reads_[slot].guard) std::ranges::for_each(reads_[slot].guard->nonnegative, mark);
  }
  std::vector<int> renumbered(reads_.size());
  std::vector<Read> remaining;
  const auto renumber = [&](const IndexExpr& index) {
    return RenumberLoaded(index, [&](int slot) { return renumbered[slot]; });
  };
  for (size_t slot = 0; slot < reads_.size(); ++slot) {
    if (!used[slot]) continue;
    renumbered[slot] = static_cast<int>(remaining.size());
    Read& read = remaining.emplace_back(std::move(reads_[slot]));
    for (IndexExpr& e : read.index) e = renumber(e);
    if (read.guard)
      for (IndexExpr& e : read.guard->nonnegative) e = renumber(e);
  }
  if (remaining.size() == used.size()) return reads_.swap(remaining);
  reads_ = std::move(remaining);
  for (Expr& value : values) {
    value = TransformIndices(value, renumber);
    value = ReplaceReads(
        value, [&](int slot, DataType type) { return Expr::Read(renumbered[slot], type); });
  }
  for (Write& write : writes)
    for (IndexExpr& e : write.index) e = renumber(e);
  for (IndexExpr& e : domain_) e = renumber(e);
}

}  // namespace tunec::lower
