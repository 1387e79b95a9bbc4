#include "polyhedral/effects.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace tunec {
namespace {

using Conditions = std::vector<IndexExpr>;

bool UsesLoaded(const Statement& statement) {
  const auto any = [](const std::vector<IndexExpr>& all) {
    return std::ranges::any_of(all, &IndexExpr::UsesLoaded);
  };
  bool uses = any(statement.domain);
  for (const Read& read : statement.reads) {
    uses |= any(read.index) || (read.guard && any(read.guard->nonnegative));
  }
  for (const Write& write : statement.writes) uses |= any(write.index);
  for (const Expr& value : statement.values) {
    Visit(value, [&](const Expr& expr) { uses |= any(expr.node().index); });
  }
  return uses;
}

void Add(const Conditions& more, Conditions& conditions) {
  for (const IndexExpr& condition : more) {
    if (std::ranges::find(conditions, condition) == conditions.end()) {
      conditions.push_back(condition);
    }
  }
}

// Returns the negation of a single condition, or nullopt for any other number of conditions.
std::optional<Conditions> Negated(const Conditions& conditions) {
  if (conditions.size() != 1) return std::nullopt;
  return Conditions{IndexExpr(-1) - conditions[0]};
}

bool IsHoldsSelect(const Expr& expr) {
  return expr.Is(ScalarOp::kSelect) && expr.operands()[0].kind() == ExprKind::kHolds;
}

// A splitter of a statement's write into its conditions and its value.
class Splitter {
 public:
  Splitter(const Statement& statement, const Write& write) : statement_(statement), write_(write) {}

  ConditionalWrite Split(Expr value) const {
    ConditionalWrite result{.value = std::move(value)};
    while (TakeSelect(result) || TakeTerm(result)) {
    }
    return result;
  }

 private:
  bool IsOld(const Expr& expr) const {
    if (expr.kind() != ExprKind::kRead) return false;
    const Read& read = statement_.reads[expr.node().slot];
    return read.tensor == write_.tensor && read.index == write_.index && !read.guard;
  }

  // Moves conditions from the value to `when`: select(holds(c), x, old) becomes x where c is true,
  // and select(holds(c), old, x) becomes x where c is false. Returns false if that is impossible.
  bool TakeSelect(ConditionalWrite& write) const {
    if (!IsHoldsSelect(write.value)) return false;
    const std::vector<Expr> operands = write.value.operands();
    const Conditions& conditions = operands[0].node().index;
    if (IsOld(operands[2])) {
      Add(conditions, write.when);
      write.value = operands[1];
      return true;
    }
    const auto otherwise = Negated(conditions);
    if (!otherwise || !IsOld(operands[1])) return false;
    Add(*otherwise, write.when);
    write.value = operands[2];
    return true;
  }

  // Like TakeSelect: old + select(holds(c), x, 0) becomes old + x where c is true. Elsewhere the
  // value is old, except for the sign of a zero. The operands of the sum may be swapped. The same
  // applies to old - select(holds(c), x, 0).
  bool TakeTerm(ConditionalWrite& write) const {
    const bool adds = write.value.Is(ScalarOp::kAdd);
    if (!adds && !write.value.Is(ScalarOp::kSub)) return false;
    std::vector<Expr> operands = write.value.operands();
    if (adds && IsOld(operands[1])) std::swap(operands[0], operands[1]);
    const Expr& term = operands[1];
    if (!IsOld(operands[0]) || !IsHoldsSelect(term) || !term.operands()[2].IsConstant(0)) {
      return false;
    }
    Add(term.operands()[0].node().index, write.when);
    write.value = Expr::Apply(write.value.node().op, {operands[0], term.operands()[1]});
    return true;
  }

  const Statement& statement_;
  const Write& write_;
};

// Calls `use` for each read in a value, with `path` and the conditions of the enclosing selects on
// `holds`. In the second branch of a select, one condition is negated, and several are omitted.
void VisitUses(const Expr& value, const Conditions& path,
               const std::function<void(int slot, const Conditions&)>& use) {
  if (value.kind() == ExprKind::kRead) return use(value.node().slot, path);
  if (!IsHoldsSelect(value)) {
    for (const Expr& operand : value.operands()) VisitUses(operand, path, use);
    return;
  }
  const Conditions& conditions = value.operands()[0].node().index;
  Conditions yes = path;
  Add(conditions, yes);
  VisitUses(value.operands()[1], yes, use);
  Conditions no = path;
  if (const auto otherwise = Negated(conditions)) Add(*otherwise, no);
  VisitUses(value.operands()[2], no, use);
}

bool Exclude(const Conditions& a, const Conditions& b) {
  return std::ranges::any_of(a, [&](const IndexExpr& x) {
    return std::ranges::any_of(b, [&](const IndexExpr& y) {
      const IndexExpr sum = x + y;
      return sum.IsConstant() && sum.constant() < 0;
    });
  });
}

// Returns true only if no value can read an element that an earlier write of the same instance
// writes.
bool AreSeparable(const Statement& statement, const std::vector<ConditionalWrite>& writes) {
  bool separable = true;
  for (size_t later = 1; later < writes.size(); ++later) {
    VisitUses(writes[later].value, writes[later].when, [&](int slot, const Conditions& path) {
      const Read& read = statement.reads[slot];
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const Write& write = statement.writes[earlier];
        bool apart = read.tensor != write.tensor || Exclude(writes[earlier].when, path);
        for (size_t d = 0; !apart && d < write.index.size(); ++d) {
          const IndexExpr distance = read.index[d] - write.index[d];
          apart = distance.IsConstant() && distance.constant() != 0;
        }
        separable &= apart;
      }
    });
  }
  return separable;
}

Effects Unconditional(const Statement& statement) {
  Effects effects;
  for (const Expr& value : statement.values) effects.writes.push_back({.value = value});
  effects.needed.assign(statement.reads.size(), {ReadUse{}});
  return effects;
}

}  // namespace

Effects EffectsOf(const Tensors& tensors, const Statement& statement) {
  const auto shares = [&](const auto& access) { return tensors[access.tensor].alias.has_value(); };
  if (statement.reducer || UsesLoaded(statement) || std::ranges::any_of(statement.reads, shares) ||
      std::ranges::any_of(statement.writes, shares)) {
    return Unconditional(statement);
  }
  Effects effects;
  for (size_t k = 0; k < statement.writes.size(); ++k) {
    effects.writes.push_back(Splitter(statement, statement.writes[k]).Split(statement.values[k]));
    effects.conditional |= !effects.writes.back().when.empty();
  }
  if (!effects.conditional || !AreSeparable(statement, effects.writes)) {
    return Unconditional(statement);
  }
  effects.needed.resize(statement.reads.size());
  for (size_t k = 0; k < effects.writes.size(); ++k) {
    const ConditionalWrite& write = effects.writes[k];
    VisitUses(write.value, write.when, [&](int slot, const Conditions& path) {
      const ReadUse use{.write = k, .when = path};
      std::vector<ReadUse>& uses = effects.needed[slot];
      if (std::ranges::find(uses, use) == uses.end()) uses.push_back(use);
    });
  }
  return effects;
}

}  // namespace tunec
