// A proof by intervals. Accesses a[f(x)] and a[g(y)] of instances x and y meet if f(x) = g(y).
// These equations express some iterators by others. After substitution in the difference of the two
// times, intervals bound the difference. For example, init[i,j] and acc[i,j,k] meet only if both
// have the same i and j. The differences of all shared loops, also of tiles, are then the literal
// 0, and the position in the sequence decides. isl decides the cases that are less simple.
#include "polyhedral/legality/order_proof.h"

#include <algorithm>
#include <optional>

#include "polyhedral/legality/index_equations.h"
#include "polyhedral/relations.h"
#include "support/overloaded.h"

namespace tunec {
namespace {

// All pairs of instances x and y whose two accesses touch one element. Iterators of y are numbered
// after those of x.
class OverlappingInstances {
 public:
  OverlappingInstances(const Statement& x_statement, const Access& x, const Statement& y_statement,
                       const Access& y)
      : x_(x_statement), y_(y_statement) {
    for (size_t d = 0; d < x.index.size(); ++d) equal_.Add(x.index[d], Shift(y.index[d]));
  }
  OverlappingInstances(const OverlappingInstances&) = delete;  // `equal_` refers to this object
  OverlappingInstances& operator=(const OverlappingInstances&) = delete;

  /// Returns true only if there is no such pair.
  bool AreNone() const { return equal_.AreContradictory(); }

  /// Returns bounds of y_time - x_time, for an entry of the times or a thread number.
  Interval Difference(const IndexExpr& x_time, const IndexExpr& y_time) const {
    const std::optional<IndexExpr> difference = equal_.Replace(Shift(y_time) - x_time);
    return difference ? BoundsOf(*difference, Intervals()) : kUnknownInterval;
  }

  /// Returns true only if x and y are the same instance in all pairs. Requires: both are instances
  /// of one statement.
  bool IsSameInstance() const {
    for (const VarId v : x_.iterators.ids()) {
      if (x_.iterators[v].extent <= 1) continue;
      const auto difference = equal_.Replace(IndexExpr::Var(v) - IndexExpr::Var(OfY(v)));
      if (!difference || *difference != IndexExpr(0)) return false;
    }
    return true;
  }

 private:
  // Returns the number of an iterator of y. The numbers of y's iterators follow those of x's
  // iterators.
  VarId OfY(VarId iterator) const { return IteratorVar(x_.iterators.size() + iterator.index()); }
  const Iterator& IteratorAt(VarId v) const {
    if (x_.iterators.contains(v)) return x_.iterators[v];
    return y_.iterators[IteratorVar(v.index() - x_.iterators.size())];
  }
  IndexExpr Shift(const IndexExpr& index) const {
    return Substitute(index, [&](VarId v) { return IndexExpr::Var(OfY(v)); });
  }
  IntervalOf Intervals() const {
    return [this](VarId v) { return Interval{0, IteratorAt(v).extent - 1}; };
  }

  const Statement& x_;
  const Statement& y_;
  IndexEquations equal_{Intervals()};
};

using Bounds = std::vector<Interval>;

bool IsZero(const Interval& interval) { return interval == Interval{0, 0}; }

// Returns true only if one of the first `depth` differences is never 0, so that the instances never
// share all these entries of time.
bool PartBefore(const Bounds& differences, size_t depth) {
  return std::any_of(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(depth),
                     [](const Interval& i) { return i.lo > 0 || i.hi < 0; });
}

bool ArePositive(const Bounds& differences) {
  for (const Interval& difference : differences) {
    if (difference.lo < 0) return false;
    if (difference.lo > 0) return true;
  }
  return false;
}

class OrderProof {
 public:
  OrderProof(const ProofInput& input, const std::vector<OrderQuestion>& questions)
      : input_(input), questions_(questions) {
    for (const StatementId s : input.statements.ids()) {
      times_.push_back(TimeOf(input.tree, s));
      threads_.push_back(ThreadOf(input.tree, s));
    }
  }

  bool Holds(const WrittenStorage& storage) const {
    for (const Access& x : storage.accesses) {
      for (const Access& y : storage.accesses) {
        const bool ordered = x.statement < y.statement || &x <= &y;
        if (x.statement > y.statement || !ordered || !(x.writes || y.writes)) continue;
        if (!Holds(storage, x, y)) return false;
      }
    }
    return true;
  }

 private:
  bool Holds(const WrittenStorage& storage, const Access& x, const Access& y) const;
  bool KeepsItsOrder(const DependenceEnds& ends) const;
  Bounds Differences(const OverlappingInstances& meeting, const Access& x, const Access& y) const;
  bool SameThread(const OverlappingInstances& meeting, const Access& x, const Access& y) const;

  const ProofInput& input_;
  const std::vector<OrderQuestion>& questions_;
  IdVector<StatementId, std::vector<IndexExpr>> times_;
  IdVector<StatementId, ThreadNumbers> threads_;
};

Bounds OrderProof::Differences(const OverlappingInstances& meeting, const Access& x,
                               const Access& y) const {
  const std::vector<IndexExpr>& x_time = times_[x.statement];
  const std::vector<IndexExpr>& y_time = times_[y.statement];
  Bounds bounds;
  for (size_t i = 0; i < std::min(x_time.size(), y_time.size()); ++i) {
    bounds.push_back(meeting.Difference(x_time[i], y_time[i]));
  }
  return bounds;
}

bool OrderProof::SameThread(const OverlappingInstances& meeting, const Access& x,
                            const Access& y) const {
  for (size_t axis = 0; axis < kThreadAxes; ++axis) {
    if (!IsZero(meeting.Difference(threads_[x.statement][axis], threads_[y.statement][axis])))
      return false;
  }
  return true;
}

// Returns true only if the statement's instances run one by one in the order of its iterators, and
// no question other than RunsForward concerns the dependence.
bool OrderProof::KeepsItsOrder(const DependenceEnds& ends) const {
  const bool more_is_asked = std::ranges::any_of(questions_, [&](const OrderQuestion& question) {
    return !std::holds_alternative<RunsForward>(question.asks) && Concerns(question, input_, ends);
  });
  if (more_is_asked) return false;
  VarId next;
  for (const IndexExpr& entry : times_[ends.from]) {
    if (entry.IsConstant()) continue;
    if (entry.AsVar() != next) return false;
    ++next;
  }
  return next == input_.statements[ends.from].iterators.next_id();
}

bool OrderProof::Holds(const WrittenStorage& storage, const Access& x, const Access& y) const {
  const OverlappingInstances meeting(input_.statements[x.statement], x,
                                     input_.statements[y.statement], y);
  const DependenceEnds ends{x.statement, y.statement, storage.home, y.reads};
  const bool own = x.statement == y.statement;
  if (meeting.AreNone() || (own && meeting.IsSameInstance())) return true;
  if (own && !ArePermutable(input_, ends)) return KeepsItsOrder(ends);
  const Bounds differences = Differences(meeting, x, y);
  return std::ranges::all_of(questions_, [&](const OrderQuestion& question) {
    if (!Concerns(question, input_, ends)) return true;
    // Both times have the entries that the question is about only if both statements are inside the
    // question's node.
    const size_t depth = question.depth;
    if (!question.inside.contains(x.statement) || !question.inside.contains(y.statement)) {
      return false;
    }
    return std::visit(
        Overloaded{
            [&](const StaysInRun&) {
              const auto end = differences.begin() + static_cast<std::ptrdiff_t>(depth);
              return std::all_of(differences.begin(), end, IsZero);
            },
            [&](const StaysInThread&) { return SameThread(meeting, x, y); },
            [&](const RunsForward&) { return ArePositive(differences); },
            [&](const IsCopiedAhead& ahead) {
              return PartBefore(differences, depth) ||
                     differences[depth].lo >= input_.tree.loops[ahead.loop].pipeline.stages;
            },
            [&](const IsNotCarried&) {
              return PartBefore(differences, depth) || IsZero(differences[depth]);
            },
        },
        question.asks);
  });
}

}  // namespace

std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<OrderQuestion>& questions,
                             const std::vector<WrittenStorage>& storages) {
  const OrderProof proof(input, questions);
  std::vector<bool> proven;
  for (const WrittenStorage& storage : storages) proven.push_back(proof.Holds(storage));
  return proven;
}

}  // namespace tunec
