#include "schedule/sketches/band_plan.h"

#include <algorithm>

#include "schedule/access_analysis.h"

namespace tunec {
namespace {

// Largest extent of a short loop. Tiles of such a loop do not pay, but separate cases may.
constexpr int64_t kShortLoop = 4;

struct Row {
  AffineRow value;
  bool coincident = false;
  size_t band = 0;
  bool permutable = false;
};

// Appends the rows of the loops around one statement, outermost first.
void CollectRows(const AffineSchedule& node, StatementId statement, std::vector<Row>& rows) {
  if (node.kind == AffineSchedule::Kind::kBand) {
    const size_t band = rows.empty() ? 0 : rows.back().band + 1;
    for (const AffineLoop& loop : node.loops) {
      const auto found = loop.rows.find(statement);
      if (found == loop.rows.end()) continue;
      rows.push_back({found->second, loop.coincident, band, node.permutable});
    }
  }
  for (const AffineSchedule& child : node.children) {
    if (std::ranges::find(child.statements, statement) != child.statements.end()) {
      CollectRows(child, statement, rows);
    }
  }
}

// Builds a plan from rows. Each row adds a loop over a new iterator, and may skew the loop by
// earlier loops.
class Planner {
 public:
  // Only loops at positions from `slanted_begin` to before `slanted_end` may be skewed.
  Planner(const Statement& statement, size_t slanted_begin, size_t slanted_end)
      : statement_(statement), slanted_begin_(slanted_begin), slanted_end_(slanted_end) {
    plan_.statement = statement.name;
    plan_.has_conditions = !statement.domain.empty();
    for (const Iterator& iterator : statement.iterators) {
      plan_.order.push_back(statement.name + "." + iterator.name);
    }
    seen_.resize(statement.iterators.size(), false);
  }

  void AddRow(const Row& row) {
    const std::optional<VarId> own = NewIteratorOf(row.value);
    if (!own) return;
    std::vector<int64_t> value(statement_.iterators.size(), 0);
    value[own->index()] = 1;
    BandLoop loop = PlainLoop(*own);
    loop.coincident = row.coincident;
    const size_t position = plan_.loops.size();
    const auto factors = slanted_begin_ <= position && position < slanted_end_
                             ? Slant(row.value, *own)
                             : std::nullopt;
    if (factors) {
      for (size_t i = 0; i < factors->size(); ++i) Skew(i, (*factors)[i], loop, value);
    }
    Append(std::move(loop), std::move(value), row);
  }

  // Adds loops over the remaining iterators as the innermost loops, and chooses the band. Returns
  // the finished plan.
  BandPlan Finish() {
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]) continue;
      const size_t band = bands_.empty() ? 0 : bands_.back() + 1;
      std::vector<int64_t> value(statement_.iterators.size(), 0);
      value[i] = 1;
      Append(PlainLoop(IteratorVar(i)), std::move(value), {.band = band});
    }
    ChooseBand();
    return std::move(plan_);
  }

 private:
  BandLoop PlainLoop(VarId iterator) const {
    return {.name = statement_.name + "." + statement_.iterators[iterator].name,
            .extent = statement_.iterators[iterator].extent,
            .iterator = iterator};
  }

  void Append(BandLoop loop, std::vector<int64_t> value, const Row& row) {
    seen_[loop.iterator.index()] = true;
    plan_.loops.push_back(std::move(loop));
    values_.push_back(std::move(value));
    bands_.push_back(row.band);
    permutable_.push_back(row.permutable);
  }

  // Returns the last iterator with coefficient 1 in the row that has no loop yet.
  std::optional<VarId> NewIteratorOf(const AffineRow& row) const {
    for (size_t i = seen_.size(); i-- > 0;) {
      if (!seen_[i] && row.coefficients[i] == 1) return IteratorVar(i);
    }
    return std::nullopt;
  }

  // Returns factors of the existing loops. The row is the iterator `own` plus the loops multiplied
  // by these factors. Returns nothing if a factor is negative, or if the row has another iterator
  // without a loop.
  std::optional<std::vector<int64_t>> Slant(const AffineRow& row, VarId own) const {
    std::vector<int64_t> rest = row.coefficients;
    rest[own.index()] -= 1;
    std::vector<int64_t> factors(plan_.loops.size(), 0);
    for (size_t i = plan_.loops.size(); i-- > 0;) {
      factors[i] = rest[plan_.loops[i].iterator.index()];
      if (factors[i] < 0) return std::nullopt;
      for (size_t k = 0; k < rest.size(); ++k) rest[k] -= factors[i] * values_[i][k];
    }
    const bool made = std::ranges::all_of(rest, [](int64_t left) { return left == 0; });
    return made ? std::optional(std::move(factors)) : std::nullopt;
  }

  void Skew(size_t by, int64_t factor, BandLoop& loop, std::vector<int64_t>& value) {
    if (factor == 0) return;
    const BandLoop& other = plan_.loops[by];
    const std::string name = loop.name + "_" + statement_.iterators[other.iterator].name;
    plan_.skews.push_back({loop.name, other.name, factor, name});
    std::ranges::replace(plan_.order, loop.name, name);
    loop.name = name;
    loop.extent += factor * (other.extent - 1);
    for (size_t k = 0; k < value.size(); ++k) value[k] += factor * values_[by][k];
  }

  // Returns the number of loops in the range whose iterators have more than kShortLoop values.
  int LongLoops(size_t begin, size_t end) const {
    int loops = 0;
    for (size_t i = begin; i < end; ++i) {
      loops += statement_.iterators[plan_.loops[i].iterator].extent > kShortLoop ? 1 : 0;
    }
    return loops;
  }

  // Returns true if only the last of several loops in the range is long, and the first one may
  // carry a dependence. The last loop may then carry none, because each iteration of the outer
  // loops runs it separately. The check of legality decides.
  bool IsLastAfterShort(size_t begin, size_t end) const {
    return end - begin > 1 && LongLoops(begin, end - 1) == 0 && LongLoops(end - 1, end) == 1 &&
           !plan_.loops[begin].coincident;
  }

  void ChooseBand() {
    const size_t count = plan_.loops.size();
    for (size_t begin = 0; begin < count;) {
      size_t end = begin + 1;
      while (end < count && permutable_[begin] && bands_[end] == bands_[begin]) ++end;
      if (IsLastAfterShort(begin, end)) {
        begin = end - 1;
        plan_.loops[begin].coincident = true;
      }
      const bool useful = LongLoops(begin, end) > 1 || plan_.loops[begin].coincident;
      if (begin == 0 || useful) {
        plan_.band_begin = begin;
        plan_.band_end = end;
      }
      if (useful) return;
      begin = end;
    }
  }

  const Statement& statement_;
  size_t slanted_begin_;
  size_t slanted_end_;
  BandPlan plan_;
  std::vector<bool> seen_;                    // per iterator: it has a loop
  std::vector<std::vector<int64_t>> values_;  // per loop: coefficients of the iterators
  std::vector<size_t> bands_;                 // per loop: number of its band
  std::vector<bool> permutable_;              // per loop: its band is permutable
};

// Returns the positions of the loops along which a write is contiguous, without repetitions.
std::vector<size_t> ContiguousLoops(const BandPlan& plan, const Compute& compute,
                                    const Statement& statement) {
  std::vector<size_t> loops;
  for (const Write& write : statement.writes) {
    const auto along = ContiguousIterator(compute, statement, write.tensor, write.index);
    if (!along) continue;
    const auto loop = std::ranges::find(plan.loops, *along, &BandLoop::iterator);
    const auto position = static_cast<size_t>(loop - plan.loops.begin());
    if (std::ranges::find(loops, position) == loops.end()) loops.push_back(position);
  }
  return loops;
}

std::vector<size_t> VectorLoops(const BandPlan& plan, const Compute& compute,
                                const Statement& statement) {
  const size_t count = plan.loops.size();
  std::vector<size_t> loops = ContiguousLoops(plan, compute, statement);
  std::ranges::stable_partition(loops, [&](size_t loop) {
    return loop + 1 == count || (plan.InBand(loop) && plan.band_end == count);
  });
  return loops;
}

std::optional<size_t> AlongOperand(const BandPlan& plan, const Compute& compute,
                                   const Statement& statement, size_t lanes) {
  const VarId lane = plan.loops[lanes].iterator;
  for (const Read& read : statement.reads) {
    const auto along = ContiguousIterator(compute, statement, read.tensor, read.index);
    if (!along || *along == lane || !UsesIterator(read.index, lane)) continue;
    for (size_t i = plan.band_begin; i < plan.band_end; ++i) {
      if (plan.loops[i].iterator == *along) return i;
    }
  }
  return std::nullopt;
}

// Returns true if a condition in a value uses the iterator.
bool DependsOn(const Statement& statement, VarId iterator) {
  bool depends = false;
  for (const Expr& value : statement.values) {
    Visit(value, [&](const Expr& expr) {
      depends |= expr.kind() == ExprKind::kHolds && UsesIterator(expr.node().index, iterator);
    });
  }
  return depends;
}

std::vector<size_t> CaseLoops(const BandPlan& plan, const Statement& statement) {
  std::vector<size_t> loops;
  for (size_t i = 0; i < plan.loops.size(); ++i) {
    const VarId iterator = plan.loops[i].iterator;
    const int64_t extent = statement.iterators[iterator].extent;
    const bool straight = plan.loops[i].extent == extent;  // no skew
    if (straight && extent > 1 && extent <= kShortLoop && DependsOn(statement, iterator)) {
      loops.push_back(i);
    }
  }
  return loops;
}

// Returns true if the band has exactly one coincident loop, and the loops inside this loop are not
// coincident. There must be a loop inside.
bool IsAroundRecurrence(const BandPlan& plan) {
  const auto lone = plan.LoneCoincident();
  return lone && *lone + 1 < plan.loops.size() &&
         std::none_of(plan.loops.begin() + static_cast<std::ptrdiff_t>(*lone) + 1, plan.loops.end(),
                      [](const BandLoop& loop) { return loop.coincident; });
}

bool Reuses(const BandPlan& plan, const Statement& statement) {
  int carrying = 0;
  bool again = false;
  for (size_t i = plan.band_begin; i < plan.band_end; ++i) {
    const BandLoop& loop = plan.loops[i];
    carrying += loop.coincident || loop.extent <= kShortLoop ? 0 : 1;
    again |= std::ranges::any_of(statement.reads, [&](const Read& read) {
      return loop.coincident && !UsesIterator(read.index, loop.iterator);
    });
  }
  return carrying > 1 || (carrying == 1 && again);
}

}  // namespace

std::optional<size_t> BandPlan::LoneCoincident() const {
  std::optional<size_t> lone;
  for (size_t i = band_begin; i < band_end; ++i) {
    if (!loops[i].coincident) continue;
    if (lone) return std::nullopt;
    lone = i;
  }
  return lone;
}

std::optional<BandPlan> PlanBand(const AffineSchedule& proposed, const Compute& compute,
                                 const Statement& statement, StatementId id) {
  if (statement.iterators.empty()) return std::nullopt;
  std::vector<Row> rows;
  CollectRows(proposed, id, rows);
  const auto planned = [&](size_t slanted_begin, size_t slanted_end) {
    Planner planner(statement, slanted_begin, slanted_end);
    for (const Row& row : rows) planner.AddRow(row);
    return planner.Finish();
  };
  // Skews are needed only inside the band. A loop outside the band runs in the same order without
  // its skew.
  const BandPlan everywhere = planned(0, rows.size());
  BandPlan plan = planned(everywhere.band_begin, everywhere.band_end);
  plan.vectors = VectorLoops(plan, compute, statement);
  for (const size_t lanes : plan.vectors) {
    const auto along = AlongOperand(plan, compute, statement, lanes);
    if (along) plan.along_operand[lanes] = *along;
  }
  plan.cases = CaseLoops(plan, statement);
  plan.around_recurrence = IsAroundRecurrence(plan);
  plan.reuses = Reuses(plan, statement);
  return plan;
}

}  // namespace tunec
