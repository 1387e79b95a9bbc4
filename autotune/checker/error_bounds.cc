#include "autotune/checker/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "autotune/checker/bounded_expr.h"
#include "autotune/checker/reference_compute.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr DataType kWide = DataType::kF64;

// The facts about all elements of a tensor that determine the bounds of values computed from it.
struct TensorProperties {
  bool exact = true;     // equal in every legal evaluation
  bool whole = true;     // integers, of any type
  bool stepped = false;  // some error is from a step
  bool operator==(const TensorProperties&) const = default;

  void Add(const BoundedValue& value) {
    exact = exact && value.IsExact();
    whole = whole && value.whole;
    stepped = stepped || value.stepped;
  }
};

bool IsFloatSum(const Statement& statement) {
  return statement.reducer && statement.reducer->name == "sum" && statement.values.size() == 1 &&
         IsFloat(statement.values[0].type());
}

bool IsArgument(const Tensor& tensor) {
  return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
}

// The bounds of a statement's values and of its reducer's expressions.
struct BoundedStatement {
  std::vector<Read> bound_reads;  // reads of error tensors, appended to the statement's reads
  std::vector<BoundedValue> values;
  std::vector<BoundedValue> combine;   // with a reducer
  std::vector<BoundedValue> finalise;  // with a reducer that has `finalise`
};

class StatementBounder {
 public:
  StatementBounder(const Compute& compute, const std::vector<double>& sum_errors)
      : compute_(compute), sum_errors_(compute.statements.size()) {
    const std::vector<StatementId> sums = FloatSums(compute);
    for (size_t i = 0; i < sums.size(); ++i) sum_errors_[sums[i]] = sum_errors.at(i);
    for (const Tensor& tensor : compute.tensors) {
      known_.push_back({.whole = !IsArgument(tensor) || !IsFloat(tensor.type)});
    }
  }

  std::optional<Compute> Run();

 private:
  BoundedStatement Bound(StatementId id) const;
  void BoundReducer(const Statement& statement, double sum_error, BoundedStatement& bounded) const;
  void Learn();
  void AddTensors(Compute& result);
  Statement Rewrite(const Statement& statement, BoundedStatement bounded) const;

  const Compute& compute_;
  IdVector<StatementId, double> sum_errors_;  // 0 for other statements
  IdVector<TensorId, TensorProperties> known_;
  IdVector<TensorId, std::optional<TensorId>> bounds_;  // error tensor of each tensor; none: exact
};

BoundedValue Leaf(Expr value, Expr error, const TensorProperties& known) {
  return {std::move(value), known.exact ? Expr::Constant(0.0, kWide) : std::move(error),
          known.whole, known.stepped};
}

BoundedStatement StatementBounder::Bound(StatementId id) const {
  const Statement& statement = compute_.statements[id];
  BoundedStatement bounded;
  std::vector<int> slots;  // for each read: the slot of the read of its error tensor
  for (const Read& read : statement.reads) {
    slots.push_back(static_cast<int>(statement.reads.size() + bounded.bound_reads.size()));
    if (known_[read.tensor].exact) continue;
    Read bound = read;
    if (!bounds_.empty()) bound.tensor = *bounds_[read.tensor];
    if (bound.guard) bound.guard->outside = 0;
    bounded.bound_reads.push_back(std::move(bound));
  }
  const auto read_of = [&](const Expr& expr) {
    const int slot = expr.node().slot;
    const Read& read = statement.reads[slot];
    BoundedValue leaf =
        Leaf(PromoteToFloat64(expr), Expr::Read(slots[slot], kWide), known_[read.tensor]);
    if (read.guard)
      leaf.whole = leaf.whole && std::floor(read.guard->outside) == read.guard->outside;
    return leaf;
  };
  for (const Expr& value : statement.values) bounded.values.push_back(BoundOf(value, read_of));
  if (statement.reducer) BoundReducer(statement, sum_errors_[id], bounded);
  return bounded;
}

// Computes the bounds of a reducer's expressions. For a sum of floats, adds the sum's error to the
// bound of its term. Write k keeps slot k. The slots of the error tensors follow the slots of all
// writes, in the order of the writes.
void StatementBounder::BoundReducer(const Statement& statement, double sum_error,
                                    BoundedStatement& bounded) const {
  const Reducer& reducer = *statement.reducer;
  const auto slot_of = [&](int k) {
    int slot = static_cast<int>(statement.writes.size());
    for (int i = 0; i < k; ++i) slot += known_[statement.writes[i].tensor].exact ? 0 : 1;
    return slot;
  };
  const auto leaf = [&](const Expr& expr) {
    const int k = expr.node().slot;
    const TensorProperties& known = known_[statement.writes[k].tensor];
    const bool incoming = expr.kind() == ExprKind::kIncoming;
    return Leaf(PromoteToFloat64(expr),
                incoming ? Expr::Incoming(slot_of(k), kWide) : Expr::Accumulator(slot_of(k), kWide),
                known);
  };
  for (const Expr& combine : reducer.combine) bounded.combine.push_back(BoundOf(combine, leaf));
  for (const Expr& last : reducer.finalise) bounded.finalise.push_back(BoundOf(last, leaf));
  if (!IsFloatSum(statement)) return;
  // The error of a partial sum depends on the order. Only the error of the whole sum is known, so
  // each term gets a share that is proportional to its magnitude.
  BoundedValue& term = bounded.values[0];
  term.error = AddRelative(term.error, term.value, sum_error);
  term.whole = false;
  if (known_[statement.writes[0].tensor].exact) return;
  bounded.combine[0].error =
      Expr::Accumulator(slot_of(0), kWide) + Expr::Incoming(slot_of(0), kWide);
}

// Finds the properties of all tensors. The loop runs until nothing changes, since a statement may
// read tensors written by itself or by a later statement.
void StatementBounder::Learn() {
  for (IdVector<TensorId, TensorProperties> before; before != known_;) {
    before = known_;
    for (const StatementId s : compute_.statements.ids()) {
      const Statement& statement = compute_.statements[s];
      const BoundedStatement bounded = Bound(s);
      for (size_t k = 0; k < statement.writes.size(); ++k) {
        TensorProperties& known = known_[statement.writes[k].tensor];
        known.Add(bounded.values[k]);
        if (!bounded.combine.empty()) known.Add(bounded.combine[k]);
        if (!bounded.finalise.empty()) known.Add(bounded.finalise[k]);
      }
    }
  }
}

void StatementBounder::AddTensors(Compute& result) {
  bounds_.assign(compute_.tensors.size(), std::nullopt);
  for (const TensorId t : compute_.tensors.ids()) {
    if (known_[t].exact) continue;
    Tensor bound{.name = BoundTensor(compute_.tensors[t].name),
                 .type = kWide,
                 .shape = compute_.tensors[t].shape};
    const bool checkers = compute_.tensors[t].role == TensorRole::kOutput && known_[t].stepped;
    bound.role = checkers ? TensorRole::kOutput : TensorRole::kWorkspace;
    bounds_[t] = result.tensors.push_back(std::move(bound));
  }
}

void Append(std::vector<Expr>& exprs, const std::vector<BoundedValue>& bounded, size_t k) {
  if (!bounded.empty()) exprs.push_back(bounded[k].error);
}

Statement StatementBounder::Rewrite(const Statement& statement, BoundedStatement bounded) const {
  Statement result = statement;
  std::ranges::move(bounded.bound_reads, std::back_inserter(result.reads));
  for (size_t k = 0; k < bounded.values.size(); ++k) result.values[k] = bounded.values[k].value;
  if (result.reducer) {
    Reducer& reducer = *result.reducer;
    reducer.name += ".bounded";
    for (Expr& identity : reducer.identity) identity = PromoteToFloat64(identity);
    for (Expr& combine : reducer.combine) combine = PromoteToFloat64(combine);
    for (Expr& finalise : reducer.finalise) finalise = PromoteToFloat64(finalise);
  }
  for (size_t k = 0; k < statement.writes.size(); ++k) {
    const std::optional<TensorId> bound = bounds_[statement.writes[k].tensor];
    if (!bound) continue;
    result.writes.push_back({*bound, statement.writes[k].index});
    Append(result.values, bounded.values, k);
    if (!result.reducer) continue;
    result.reducer->identity.push_back(Expr::Constant(0.0, kWide));
    Append(result.reducer->combine, bounded.combine, k);
    Append(result.reducer->finalise, bounded.finalise, k);
  }
  return result;
}

// Returns the number of nodes of the expression as a tree, where each use of a node counts once.
double TreeSize(const Expr& expr, std::unordered_map<const ExprNode*, double>& known) {
  const auto found = known.find(&expr.node());
  if (found != known.end()) return found->second;
  double size = 1;
  for (const Expr& operand : expr.operands()) size += TreeSize(operand, known);
  return known[&expr.node()] = size;
}

// Returns true if every value of every statement has few enough nodes to be compiled quickly.
bool IsHandy(const Compute& compute) {
  constexpr double kLargest = 1 << 17;
  std::unordered_map<const ExprNode*, double> known;
  return std::ranges::all_of(compute.statements, [&](const Statement& statement) {
    return std::ranges::all_of(
        statement.values, [&](const Expr& value) { return TreeSize(value, known) <= kLargest; });
  });
}

std::optional<Compute> StatementBounder::Run() {
  Learn();
  bool stepped = false;
  for (const TensorId t : compute_.tensors.ids()) {
    stepped |= compute_.tensors[t].role == TensorRole::kOutput && known_[t].stepped;
  }
  if (!stepped) return std::nullopt;
  Compute result = PromoteToFloat64(compute_);
  AddTensors(result);
  for (const StatementId s : compute_.statements.ids()) {
    result.statements[s] = Rewrite(compute_.statements[s], Bound(s));
  }
  return IsHandy(result) ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::vector<StatementId> FloatSums(const Compute& compute) {
  std::vector<StatementId> sums;
  for (const StatementId s : compute.statements.ids()) {
    if (IsFloatSum(compute.statements[s])) sums.push_back(s);
  }
  return sums;
}

double CountTerms(const Statement& sum) {
  double terms = 1;
  for (const VarId v : sum.iterators.ids()) {
    const auto uses = [&](const IndexExpr& e) { return e.Uses(v); };
    if (std::ranges::none_of(sum.writes[0].index, uses)) {
      terms *= static_cast<double>(sum.iterators[v].extent);
    }
  }
  return terms;
}

double LargestSumError(const Statement& sum) {
  return (CountTerms(sum) + 1) * RoundingOf(sum.values[0].type());
}

std::string BoundTensor(const std::string& tensor) { return tensor + ".bound"; }

std::optional<Compute> WithErrorBounds(const Compute& compute,
                                       const std::vector<double>& sum_errors) {
  return StatementBounder(compute, sum_errors).Run();
}

bool HasSteps(const Compute& compute) {
  std::vector<double> errors;
  for (const StatementId sum : FloatSums(compute)) {
    errors.push_back(LargestSumError(compute.statements[sum]));
  }
  return WithErrorBounds(compute, errors).has_value();
}

}  // namespace tunec
