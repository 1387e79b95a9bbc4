#include "schedule/relations.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tunec {
namespace {

// Returns the variable and factor if the index is exactly floor(variable / factor).
std::optional<std::pair<VarId, int64_t>> AsQuotient(const IndexExpr& index) {
  if (index.terms().size() != 1 || index.constant() != 0) return std::nullopt;
  const IndexTerm& term = index.terms()[0];
  if (term.coefficient != 1 || term.atom.kind != IndexAtom::Kind::kFloorDiv) return std::nullopt;
  const std::optional<VarId> variable = term.atom.numerator->AsVar();
  if (!variable) return std::nullopt;
  return std::pair{*variable, term.atom.divisor};
}

// Solves source[d] = target[d] for the variables of `source` that occur alone or only as a
// quotient. Ignores constant sources and targets with loaded values (loops have no such values).
// Ignores other unsolved sources if they are planes or use a variable of a quotient; otherwise
// returns nothing. Also returns nothing if a variable that occurs alone has two different targets.
std::optional<IteratorMap> Solve(const std::vector<IndexExpr>& source,
                                 const std::vector<IndexExpr>& target,
                                 const std::function<bool(const IndexExpr&)>& is_plane = {}) {
  IteratorMap solution;
  std::vector<IndexExpr> unsolved;
  for (size_t d = 0; d < source.size(); ++d) {
    if (source[d].IsConstant() || target[d].UsesLoaded()) continue;
    if (const auto quotient = AsQuotient(source[d])) {
      solution.quotients.emplace(quotient->first, Quotient{quotient->second, target[d]});
      continue;
    }
    const std::optional<VarId> variable = source[d].AsVar();
    if (!variable) {
      unsolved.push_back(source[d]);
      continue;
    }
    const auto [found, inserted] = solution.exact.emplace(*variable, target[d]);
    if (!inserted && found->second != target[d]) return std::nullopt;
  }
  const auto says_nothing = [&](const IndexExpr& index) {
    if (is_plane && is_plane(index)) return true;
    return std::ranges::any_of(solution.quotients,
                               [&](const auto& entry) { return index.Uses(entry.first); });
  };
  if (!std::ranges::all_of(unsolved, says_nothing)) return std::nullopt;
  std::erase_if(solution.quotients,
                [&](const auto& entry) { return solution.exact.contains(entry.first); });
  return solution;
}

// Returns the iterators of `writer` over those of `other`, by `tensor`, which `writer` writes and
// `other` reads or writes. Returns nothing if Solve fails for all pairs of accesses.
std::optional<IteratorMap> RelateWriter(const Statement& writer, const Statement& other,
                                        TensorId tensor) {
  for (const Write& write : writer.writes) {
    if (write.tensor != tensor) continue;
    for (const Read& read : other.reads) {
      if (read.tensor != tensor) continue;
      if (auto solution = Solve(write.index, read.index)) return solution;
    }
    for (const Write& again : other.writes) {
      if (again.tensor != tensor) continue;
      if (auto solution = Solve(write.index, again.index)) return solution;
    }
  }
  return std::nullopt;
}

// Returns whether the index selects a plane: a term is a division, and the only iterator is
// reduced. The assignment of instances to planes does not relate loops over other iterators.
bool IsPlane(const Statement& statement, const IndexExpr& index) {
  std::vector<VarId> used;
  index.CollectVars(used);
  const auto divides = [](const IndexTerm& term) {
    return term.atom.kind == IndexAtom::Kind::kFloorDiv;
  };
  return !used.empty() && std::ranges::any_of(index.terms(), divides) &&
         std::ranges::all_of(used, [&](VarId v) { return v == used.front(); }) &&
         statement.iterators[used.front()].kind == IteratorKind::kReduction;
}

// An index factor * outer + inner, where inner < factor.
struct SplitIndex {
  VarId outer;
  VarId inner;
  int64_t factor = 1;
};

std::optional<SplitIndex> AsSplitIndex(const Statement& statement, const IndexExpr& index) {
  const auto& terms = index.terms();
  const auto is_variable = [](const IndexTerm& term) {
    return term.atom.kind == IndexAtom::Kind::kVariable;
  };
  if (terms.size() != 2 || index.constant() != 0 || !std::ranges::all_of(terms, is_variable)) {
    return std::nullopt;
  }
  const bool inner_first = terms[0].coefficient == 1;
  const IndexTerm& inner = terms[inner_first ? 0 : 1];
  const IndexTerm& outer = terms[inner_first ? 1 : 0];
  const bool fits = inner.coefficient == 1 &&
                    outer.coefficient == statement.iterators[inner.atom.variable()].extent;
  return fits ? std::optional(
                    SplitIndex{outer.atom.variable(), inner.atom.variable(), outer.coefficient})
              : std::nullopt;
}

// Returns matching indices of consumer and producer. A read index outer * factor + inner gives two
// indices, one for each iterator, unless the written index uses loaded values.
std::pair<std::vector<IndexExpr>, std::vector<IndexExpr>> ExpandSplitIndices(
    const Statement& consumer, const std::vector<IndexExpr>& read,
    const std::vector<IndexExpr>& written) {
  std::pair<std::vector<IndexExpr>, std::vector<IndexExpr>> result;
  auto& [source, target] = result;
  for (size_t d = 0; d < read.size(); ++d) {
    const std::optional<SplitIndex> cut = AsSplitIndex(consumer, read[d]);
    if (!cut || written[d].UsesLoaded()) {
      source.push_back(read[d]);
      target.push_back(written[d]);
      continue;
    }
    source.insert(source.end(), {IndexExpr::Var(cut->outer), IndexExpr::Var(cut->inner)});
    target.insert(target.end(), {IndexExpr::FloorDiv(written[d], cut->factor),
                                 IndexExpr::Mod(written[d], cut->factor)});
  }
  return result;
}

// Returns the consumer's iterators over the producer's, by `tensor`, which `producer` writes and
// `consumer` reads. Returns nothing if Solve fails for all pairs of accesses.
std::optional<IteratorMap> RelateConsumer(const Statement& consumer, const Statement& producer,
                                          TensorId tensor) {
  for (const Write& write : producer.writes) {
    if (write.tensor != tensor) continue;
    for (const Read& read : consumer.reads) {
      if (read.tensor != tensor) continue;
      const auto is_plane = [&](const IndexExpr& index) { return IsPlane(consumer, index); };
      const auto [source, target] = ExpandSplitIndices(consumer, read.index, write.index);
      if (auto solution = Solve(source, target, is_plane)) return solution;
    }
  }
  return std::nullopt;
}

// A union-find structure over the numbers below `count`. Find returns the least number of the set
// that contains its argument.
class UnionFind {
 public:
  explicit UnionFind(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int Find(int number) const {
    while (parent_[number] != number) number = parent_[number];
    return number;
  }
  void Join(int a, int b) { parent_[std::max(Find(a), Find(b))] = std::min(Find(a), Find(b)); }

 private:
  std::vector<int> parent_;
};

}  // namespace

std::optional<VarId> WrittenBy(const Statement& writer, const Statement& reader, VarId iterator) {
  const Write& write = writer.writes[0];
  for (const Read& read : reader.reads) {
    if (read.tensor != write.tensor) continue;
    for (size_t d = 0; d < read.index.size(); ++d) {
      if (read.index[d].AsVar() == iterator) return write.index[d].AsVar();
    }
  }
  return std::nullopt;
}

std::optional<IteratorMap> RelateIterators(const Statement& partner, const Statement& statement) {
  std::optional<IteratorMap> best;
  const auto consider = [&](std::optional<IteratorMap> iterators) {
    if (iterators && (!best || iterators->size() > best->size())) best = std::move(iterators);
  };
  for (const Write& write : partner.writes) {
    consider(RelateWriter(partner, statement, write.tensor));
  }
  for (const Write& write : statement.writes) {
    consider(RelateConsumer(partner, statement, write.tensor));
  }
  for (const Read& read : partner.reads) {
    for (const Read& own : statement.reads) {
      if (read.tensor == own.tensor) consider(Solve(read.index, own.index));
    }
  }
  return best;
}

std::optional<ClosestRelation> FindClosest(const Statements& statements, StatementId statement,
                                           const std::vector<StatementId>& partners) {
  std::optional<ClosestRelation> best;
  for (const StatementId partner : partners) {
    auto iterators = RelateIterators(statements[partner], statements[statement]);
    if (iterators && (!best || iterators->size() > best->iterators.size())) {
      best = ClosestRelation{partner, *std::move(iterators)};
    }
  }
  return best;
}

SharedDimensions SharedDimensions::Of(const Compute& compute) {
  IdVector<StatementId, int> first;  // number of each statement's first iterator
  int count = 0;
  for (const Statement& statement : compute.statements) {
    first.push_back(count);
    count += static_cast<int>(statement.iterators.size());
  }
  UnionFind numbers(count);
  const auto join = [&](StatementId writer, const Write& write, StatementId other,
                        const std::vector<IndexExpr>& index) {
    for (size_t d = 0; d < index.size(); ++d) {
      const std::optional<VarId> written = write.index[d].AsVar();
      const std::optional<VarId> used = index[d].AsVar();
      if (written && used) {
        numbers.Join(first[writer] + written->number(), first[other] + used->number());
      }
    }
  };
  for (const StatementId w : compute.statements.ids()) {
    for (const Write& write : compute.statements[w].writes) {
      for (const StatementId s : compute.statements.ids()) {
        for (const Read& read : compute.statements[s].reads) {
          if (read.tensor == write.tensor) join(w, write, s, read.index);
        }
        for (const Write& again : compute.statements[s].writes) {
          if (again.tensor == write.tensor) join(w, write, s, again.index);
        }
      }
    }
  }
  SharedDimensions shared;
  for (const StatementId s : compute.statements.ids()) {
    std::vector<int> of_statement;
    for (const VarId v : compute.statements[s].iterators.ids()) {
      of_statement.push_back(numbers.Find(first[s] + v.number()));
    }
    shared.dimensions_.push_back(std::move(of_statement));
  }
  return shared;
}

int SharedDimensions::DimensionOf(StatementId statement, VarId iterator) const {
  return dimensions_[statement][iterator.index()];
}

std::optional<VarId> SharedDimensions::IteratorOf(StatementId statement, int dimension) const {
  const std::vector<int>& own = dimensions_[statement];
  const auto found = std::ranges::find(own, dimension);
  if (found == own.end() || std::ranges::count(own, dimension) > 1) return std::nullopt;
  return IteratorVar(static_cast<size_t>(found - own.begin()));
}

}  // namespace tunec
