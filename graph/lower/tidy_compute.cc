#include "graph/lower/tidy_compute.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

namespace tunec::lower {
namespace {

// Rewrites every index expression of a statement.
void Rewrite(Statement& statement, const std::function<IndexExpr(const IndexExpr&)>& rewrite) {
  for (IndexExpr& condition : statement.domain) condition = rewrite(condition);
  for (Read& read : statement.reads) {
    for (IndexExpr& index : read.index) index = rewrite(index);
    if (!read.guard) continue;
    for (IndexExpr& condition : read.guard->nonnegative) condition = rewrite(condition);
  }
  for (Write& write : statement.writes) {
    for (IndexExpr& index : write.index) index = rewrite(index);
  }
  for (Expr& value : statement.values) value = TransformIndices(value, rewrite);
}

void RemoveUnitIterators(Statement& statement) {
  std::vector<IndexExpr> replacement;
  Iterators remaining;
  for (const Iterator& iterator : statement.iterators) {
    const bool unit = iterator.extent == 1;
    replacement.push_back(unit ? IndexExpr(0) : IndexExpr::Var(remaining.next_id()));
    if (!unit) remaining.push_back(iterator);
  }
  if (remaining.size() == statement.iterators.size()) return;
  Rewrite(statement, [&](const IndexExpr& index) { return Substitute(index, replacement); });
  statement.iterators = std::move(remaining);
  std::erase_if(statement.domain, [](const IndexExpr& condition) {
    return condition.IsConstant() && condition.constant() >= 0;
  });
}

bool HasNoInstances(const Statement& statement) {
  return std::ranges::any_of(statement.iterators,
                             [](const Iterator& it) { return it.extent == 0; });
}

// Removes statements with an iterator of extent 0, except the only remaining writer of an output.
void RemoveEmptyStatements(Compute& compute) {
  std::map<TensorId, int> writers;
  for (const Statement& statement : compute.statements) {
    for (const Write& write : statement.writes) ++writers[write.tensor];
  }
  EraseIf(compute.statements, [&](const Statement& statement) {
    const bool needed = std::ranges::any_of(statement.writes, [&](const Write& write) {
      return compute.tensors[write.tensor].role == TensorRole::kOutput &&
             writers[write.tensor] == 1;
    });
    if (needed || !HasNoInstances(statement)) return false;
    for (const Write& write : statement.writes) --writers[write.tensor];
    return true;
  });
}

// Returns whether a statement reads the tensor, or the tensor is an output. Tensors that share
// storage count as one.
bool IsSeen(const Compute& compute, TensorId tensor) {
  const auto home = [&](TensorId t) { return compute.tensors[t].alias.value_or(t); };
  const auto touches = [&](TensorId t) { return home(t) == home(tensor); };
  const bool output = std::ranges::any_of(compute.tensors.ids(), [&](TensorId t) {
    return touches(t) && compute.tensors[t].role == TensorRole::kOutput;
  });
  return output || std::ranges::any_of(compute.statements, [&](const Statement& statement) {
           return std::ranges::any_of(statement.reads,
                                      [&](const Read& read) { return touches(read.tensor); });
         });
}

// Removes statements that write no output and whose results no statement reads. For example,
// nothing reads x after x < x is simplified to false.
void RemoveUnseenStatements(Compute& compute) {
  const auto is_seen = [&](const Statement& statement) {
    return std::ranges::any_of(statement.writes,
                               [&](const Write& write) { return IsSeen(compute, write.tensor); });
  };
  for (;;) {
    Statements seen;
    std::ranges::copy_if(compute.statements, std::back_inserter(seen), is_seen);
    if (seen.size() == compute.statements.size()) return;
    compute.statements = std::move(seen);
  }
}

// Replaces a reduction over no elements by its finalised identities.
void AssignIdentity(Statement& statement) {
  const auto is_empty = [](const Iterator& it) {
    return it.kind == IteratorKind::kReduction && it.extent == 0;
  };
  if (!statement.reducer || std::ranges::none_of(statement.iterators, is_empty)) return;
  const Reducer& reducer = *statement.reducer;
  std::vector<Expr> values = reducer.identity;
  for (size_t i = 0; i < reducer.finalise.size(); ++i) {
    values[i] = Transform(reducer.finalise[i], [&](const Expr& e) {
      return e.kind() == ExprKind::kAccumulator ? reducer.identity[e.node().slot] : e;
    });
  }
  std::vector<IndexExpr> replacement;
  Iterators remaining;
  for (const Iterator& iterator : statement.iterators) {
    const bool reduced = iterator.kind == IteratorKind::kReduction;
    replacement.push_back(reduced ? IndexExpr(0) : IndexExpr::Var(remaining.next_id()));
    if (!reduced) remaining.push_back(iterator);
  }
  for (Write& write : statement.writes) {
    for (IndexExpr& index : write.index) index = Substitute(index, replacement);
  }
  statement.iterators = std::move(remaining);
  statement.domain.clear();
  statement.reads.clear();
  statement.values = std::move(values);
  statement.reducer.reset();
}

// Calls `visit(statement, index)` for each access to a tensor.
void ForEachAccess(Compute& compute, TensorId tensor,
                   const std::function<void(Statement&, std::vector<IndexExpr>&)>& visit) {
  for (Statement& statement : compute.statements) {
    for (Read& read : statement.reads) {
      if (read.tensor == tensor) visit(statement, read.index);
    }
    for (Write& write : statement.writes) {
      if (write.tensor == tensor) visit(statement, write.index);
    }
  }
}

// Returns whether the pair is floor(x/divisor), x mod divisor for one iterator x.
bool IsDividedIterator(const IndexExpr& high, const IndexExpr& low, int64_t divisor) {
  const IndexExpr merged = high * divisor + low;
  return merged.AsVar().has_value() && !high.AsVar() && !low.AsVar();
}

// Merges two adjacent dimensions that `writer` indexes by floor(x/c) and x mod c, where c is the
// extent of the second. Returns whether there were such dimensions.
bool MergeDimensions(Compute& compute, TensorId id, const Statement& writer) {
  Tensor& tensor = compute.tensors[id];
  const std::vector<IndexExpr>& index = writer.writes[0].index;
  for (size_t d = 0; d + 1 < index.size(); ++d) {
    const int64_t inner = tensor.shape[d + 1];
    if (!IsDividedIterator(index[d], index[d + 1], inner)) continue;
    ForEachAccess(compute, id, [&](Statement&, std::vector<IndexExpr>& access) {
      access[d] = access[d] * inner + access[d + 1];
      access.erase(access.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    });
    tensor.shape[d] *= inner;
    tensor.shape.erase(tensor.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    tensor.layout = {};
    return true;
  }
  return false;
}

// Returns c if the index is c*outer + inner for two iterators, c > 1, and `inner` has the extent c,
// as for a group's channel. Otherwise returns nullopt.
std::optional<int64_t> FactorOf(const IndexExpr& index, const Statement& statement) {
  if (index.terms().size() != 2 || index.constant() != 0) return std::nullopt;
  for (size_t t = 0; t < 2; ++t) {
    const IndexTerm& inner = index.terms()[t];
    const IndexTerm& outer = index.terms()[1 - t];
    const bool iterators = inner.atom.kind == IndexAtom::Kind::kVariable &&
                           outer.atom.kind == IndexAtom::Kind::kVariable;
    if (iterators && inner.coefficient == 1 && outer.coefficient > 1 &&
        statement.iterators[inner.atom.variable()].extent == outer.coefficient) {
      return outer.coefficient;
    }
  }
  return std::nullopt;
}

// Splits a dimension that `writer` indexes by two iterators (FactorOf) into one dimension for each.
// Returns whether a dimension was split.
bool SplitDimension(Compute& compute, TensorId id, const Statement& writer) {
  Tensor& tensor = compute.tensors[id];
  const std::vector<IndexExpr>& index = writer.writes[0].index;
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<int64_t> factor = FactorOf(index[d], writer);
    if (!factor || tensor.shape[d] % *factor != 0) continue;
    ForEachAccess(compute, id, [&](Statement& statement, std::vector<IndexExpr>& access) {
      const IndexExpr whole = access[d];
      access[d] = Simplify(IndexExpr::FloorDiv(whole, *factor), statement.Intervals());
      access.insert(access.begin() + static_cast<std::ptrdiff_t>(d) + 1,
                    Simplify(IndexExpr::Mod(whole, *factor), statement.Intervals()));
    });
    tensor.shape[d] /= *factor;
    tensor.shape.insert(tensor.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, *factor);
    tensor.layout = {};
    return true;
  }
  return false;
}

// Returns whether the tensor can be re-indexed: it is a workspace, and no access loads an index.
bool IsPrivate(Compute& compute, TensorId id) {
  if (compute.tensors[id].role != TensorRole::kWorkspace) return false;
  bool loaded = false;
  ForEachAccess(compute, id, [&](Statement&, std::vector<IndexExpr>& access) {
    loaded |= std::ranges::any_of(access, &IndexExpr::UsesLoaded);
  });
  return !loaded;
}

}  // namespace

Compute Tidy(const Compute& compute) {
  Compute result = compute;
  for (Statement& statement : result.statements) AssignIdentity(statement);
  RemoveEmptyStatements(result);
  RemoveUnseenStatements(result);
  for (Statement& statement : result.statements) RemoveUnitIterators(statement);
  for (const StatementId s : result.statements.ids()) {
    const Statement& statement = result.statements[s];
    if (!statement.reducer || statement.writes.size() != 1) continue;
    const TensorId tensor = statement.writes[0].tensor;
    if (!IsPrivate(result, tensor)) continue;
    while (MergeDimensions(result, tensor, result.statements[s]) ||
           SplitDimension(result, tensor, result.statements[s])) {
    }
  }
  return result;
}

}  // namespace tunec::lower
