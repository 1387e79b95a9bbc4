// Two accesses a[f(x)] and a[g(y)] meet where f(x) = g(y). A dimension in which f is a single
// iterator gives it as an expression over y; put into the time of x, the difference of the two
// times is over what is left, and intervals bound it. For tiles, init[i,j] and acc[i,j,k] have
// equal iterators, so the differences of all loops that they share are the literal 0, and the
// place in the sequence decides. Whatever is not as plain as that is left to isl.
#include "polyhedral/order_proof.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "polyhedral/relations.h"

namespace tunec {
namespace {

// The instances x and y of two accesses that meet. Iterators of y follow those of x.
class Meeting {
 public:
  Meeting(const Statement& x_statement, const Access& x, const Statement& y_statement,
          const Access& y)
      : x_(x_statement), y_(y_statement), shift_(static_cast<VarId>(x_.iterators.size())) {
    for (size_t d = 0; d < x.index.size(); ++d) Relate(x.index[d], Shift(y.index[d]));
  }

  /// time(y) - time(x) for one entry of the times.
  IndexExpr Difference(const IndexExpr& x_time, const IndexExpr& y_time) const {
    return Simplify(Replace(Shift(y_time)) - Replace(x_time), Intervals());
  }
  Interval Bounds(const IndexExpr& difference) const { return BoundsOf(difference, Intervals()); }

  /// Whether the instances are one and the same, of one statement.
  bool IsSameInstance() const {
    for (VarId v = 0; v < shift_; ++v) {
      if (x_.iterators[v].extent <= 1) continue;
      const auto found = value_.find(v);
      if (found == value_.end() || found->second != IndexExpr::Var(shift_ + v)) return false;
    }
    return true;
  }

 private:
  IndexExpr Shift(const IndexExpr& index) const {
    return Substitute(index, [&](VarId v) { return IndexExpr::Var(v + shift_); });
  }
  IndexExpr Replace(const IndexExpr& index) const {
    return Substitute(index, [&](VarId v) {
      const auto found = value_.find(v);
      return found == value_.end() ? IndexExpr::Var(v) : found->second;
    });
  }
  // Uses the equation to replace an iterator of x, or else of y. A value never mentions
  // an iterator that is itself replaced.
  void Relate(const IndexExpr& x, const IndexExpr& y) {
    if (x.UsesLoaded() || y.UsesLoaded()) return;
    if (const auto v = x.AsVar(); v && CanReplace(*v, y)) {
      value_[*v] = y;
    } else if (const auto w = y.AsVar(); w && CanReplace(*w, x)) {
      value_[*w] = x;
    }
  }
  bool CanReplace(VarId variable, const IndexExpr& by) const {
    const auto mentions = [](const IndexExpr& index, VarId v) { return index.Uses(v); };
    if (value_.contains(variable) || mentions(by, variable)) return false;
    return std::ranges::none_of(value_, [&](const auto& entry) {
      return mentions(entry.second, variable) || mentions(by, entry.first);
    });
  }
  IntervalOf Intervals() const {
    return [this](VarId v) {
      const Iterator& it = v < shift_ ? x_.iterators[v] : y_.iterators[v - shift_];
      return Interval{0, it.extent - 1};
    };
  }

  const Statement& x_;
  const Statement& y_;
  VarId shift_;
  std::map<VarId, IndexExpr> value_;
};

class OrderProof {
 public:
  explicit OrderProof(const ProofInput& input) : input_(input) {
    for (size_t s = 0; s < input.statements.size(); ++s) {
      times_.push_back(TimeOf(input.tree, static_cast<StatementId>(s)));
      threads_.push_back(ThreadOf(input.tree, static_cast<StatementId>(s)));
    }
    Collect(input.tree.root, 0);
  }

  bool Holds(const Storage& storage) const {
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
  // A loop whose iterations run together, or a stage, with what is inside it.
  struct Place {
    size_t depth;  // entries of time before it
    bool vector = false;
    VarId loop = 0;       // if it is one
    TensorId tensor = 0;  // of a stage
    bool is_private = false;
    const LoopPipeline* pipeline = nullptr;
    std::set<StatementId> inside;
    bool HoldsBoth(const Access& x, const Access& y) const {
      return inside.contains(x.statement) && inside.contains(y.statement);
    }
  };

  void Collect(const TreeNode& node, size_t depth);
  bool Holds(const Storage& storage, const Access& x, const Access& y) const;
  bool KeepsItsOrder(const Storage& storage, StatementId statement) const;
  bool RunsForward(const std::vector<Interval>& bounds) const;
  std::vector<Interval> Differences(const Meeting& meeting, const Access& x, const Access& y) const;
  bool SameThread(const Meeting& meeting, const Access& x, const Access& y) const;

  ProofInput input_;
  std::vector<std::vector<IndexExpr>> times_;
  std::vector<std::array<IndexExpr, 3>> threads_;
  std::vector<Place> loops_;
  std::vector<Place> stages_;
  std::vector<Place> pipelines_;
};

void OrderProof::Collect(const TreeNode& node, size_t depth) {
  const auto place = [&] {
    const std::vector<StatementId> below = StatementsBelow(node);
    return Place{.depth = depth, .inside = {below.begin(), below.end()}};
  };
  if (node.kind == TreeNode::Kind::kAlloc) {
    stages_.push_back(place());
    stages_.back().tensor = node.tensor;
    stages_.back().is_private = IsPrivate(node.scope);
  }
  if (node.kind == TreeNode::Kind::kLoop) {
    const LoopKind kind = input_.tree.loops[node.loop].kind;
    if (RunsTogether(kind)) {
      loops_.push_back(place());
      loops_.back().vector = kind == LoopKind::kVector;
      loops_.back().loop = node.loop;
    }
    if (input_.tree.loops[node.loop].IsPipelined()) {
      pipelines_.push_back(place());
      pipelines_.back().pipeline = &input_.tree.loops[node.loop].pipeline;
    }
  }
  const bool has_entry =
      node.kind == TreeNode::Kind::kLoop || node.kind == TreeNode::Kind::kSequence;
  for (const TreeNode& child : node.children) Collect(child, depth + (has_entry ? 1 : 0));
}

std::vector<Interval> OrderProof::Differences(const Meeting& meeting, const Access& x,
                                              const Access& y) const {
  const std::vector<IndexExpr>& x_time = times_[x.statement];
  const std::vector<IndexExpr>& y_time = times_[y.statement];
  std::vector<Interval> bounds;
  for (size_t i = 0; i < std::min(x_time.size(), y_time.size()); ++i) {
    bounds.push_back(meeting.Bounds(meeting.Difference(x_time[i], y_time[i])));
  }
  return bounds;
}

bool OrderProof::SameThread(const Meeting& meeting, const Access& x, const Access& y) const {
  for (size_t axis = 0; axis < threads_[x.statement].size(); ++axis) {
    const IndexExpr difference =
        meeting.Difference(threads_[x.statement][axis], threads_[y.statement][axis]);
    if (meeting.Bounds(difference) != Interval{0, 0}) return false;
  }
  return true;
}

bool OrderProof::RunsForward(const std::vector<Interval>& bounds) const {
  for (const Interval& difference : bounds) {
    if (difference.lo < 0) return false;
    if (difference.lo > 0) return true;
  }
  return false;
}

// Whether the statement's instances run one by one in the order of its iterators, all with the same
// storage: as they are written.
bool OrderProof::KeepsItsOrder(const Storage& storage, StatementId statement) const {
  const auto around = [&](const Place& place) { return place.inside.contains(statement); };
  const auto holds = [&](const Place& stage) { return stage.tensor == storage.home; };
  if (std::ranges::any_of(loops_, around) || std::ranges::any_of(pipelines_, around) ||
      std::ranges::any_of(stages_, holds)) {
    return false;
  }
  VarId next = 0;
  for (const IndexExpr& entry : times_[statement]) {
    if (entry.IsConstant()) continue;
    if (entry.AsVar() != next) return false;
    ++next;
  }
  return static_cast<size_t>(next) == input_.statements[statement].iterators.size();
}

bool OrderProof::Holds(const Storage& storage, const Access& x, const Access& y) const {
  const Statement& x_statement = input_.statements[x.statement];
  const Meeting meeting(x_statement, x, input_.statements[y.statement], y);
  const bool own = x.statement == y.statement;
  if (own && meeting.IsSameInstance()) return true;
  const bool permutable =
      own && input_.order == ReductionOrder::kAny && IsReorderable(input_.tensors, x_statement);
  if (own && !permutable) return KeepsItsOrder(storage, x.statement);
  const std::vector<Interval> bounds = Differences(meeting, x, y);
  const auto is_zero = [](const Interval& interval) { return interval == Interval{0, 0}; };
  const auto part_before = [&](size_t depth) {
    return std::any_of(bounds.begin(), bounds.begin() + static_cast<std::ptrdiff_t>(depth),
                       [](const Interval& i) { return i.lo > 0 || i.hi < 0; });
  };
  for (const Place& stage : stages_) {
    if (stage.tensor != storage.home) continue;
    if (!stage.HoldsBoth(x, y)) return false;
    const auto end = bounds.begin() + static_cast<std::ptrdiff_t>(stage.depth);
    if (!std::all_of(bounds.begin(), end, is_zero)) return false;
    if (stage.is_private && !SameThread(meeting, x, y)) return false;
  }
  for (const Place& loop : loops_) {
    if (!loop.HoldsBoth(x, y)) continue;
    const bool sums_lanes = loop.vector && permutable &&
                            WritesOneElement(input_.tree, x.statement, x_statement, loop.loop);
    if (sums_lanes) continue;
    if (!is_zero(bounds[loop.depth]) && !part_before(loop.depth)) return false;
  }
  for (const Place& place : pipelines_) {
    const auto& copies = place.pipeline->copies;
    const bool is_copied = y.reads && std::ranges::find(copies, y.statement) != copies.end();
    if (!is_copied || !place.HoldsBoth(x, y) || part_before(place.depth)) continue;
    if (bounds[place.depth].lo < place.pipeline->stages) return false;
  }
  return permutable || RunsForward(bounds);
}

}  // namespace

std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<Storage>& storages) {
  const OrderProof proof(input);
  std::vector<bool> proven;
  for (const Storage& storage : storages) proven.push_back(proof.Holds(storage));
  return proven;
}

}  // namespace tunec
