// pad: extends a sum to complete tiles.
//
// The step rounds up the extents of iterators and removes the conditions of the domain, so that all
// tiles are full. The added instances must not change the result:
//
// - Beyond a written iterator they compute elements that no statement reads. The tensor grows by
// these elements, so it must be workspace.
// - Beyond a reduced iterator, and where a condition of the domain failed, their value must be 0. A
// sum begins at +0 and never becomes -0, so adding 0 does not change its bits.
//
// An operand is 0 outside of its elements. If the sum reads a copy of the operand, the copy grows
// and stores these zeros, and the copy's read gets a guard. An operand that is read in place gets a
// guard where necessary.
//
// 0 times an infinity is NaN. Beyond the old extent of a reduced iterator, every operand that uses
// the iterator must therefore be outside of its elements. Where a condition failed (a window that
// crosses a border), one operand outside of its elements is enough. The other operand, which may
// not be finite, is then multiplied by 0: the contract must allow this.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/array.h"
#include "schedule/steps/apply_compute_steps.h"
#include "schedule/steps/operand_zeros.h"

namespace tunec {
namespace {

// Largest factor of `pad`. The limit keeps extents far from overflow.
constexpr int64_t kLargestFactor = int64_t{1} << 31;

std::unexpected<Error> Reject(const PadStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "pad {}: {}", step.statement, why);
}

bool AnyLoaded(const std::vector<IndexExpr>& all) {
  return std::ranges::any_of(all, &IndexExpr::UsesLoaded);
}

bool AnyUses(const std::vector<IndexExpr>& all, VarId iterator) {
  return std::ranges::any_of(all, [&](const IndexExpr& index) { return index.Uses(iterator); });
}

bool SharesStorage(const Compute& compute, TensorId id) {
  return compute.tensors[id].alias ||
         std::ranges::any_of(compute.tensors,
                             [&](const Tensor& other) { return other.alias == id; });
}

bool IsWrittenWhole(const Compute& compute, TensorId id) {
  const auto writes = [&](const Statement& statement) {
    return std::ranges::find(statement.writes, id, &Write::tensor) != statement.writes.end();
  };
  const auto writes_all = [&](const Statement& statement) {
    return writes(statement) && statement.domain.empty();
  };
  return std::ranges::none_of(compute.statements, writes) ||
         std::ranges::any_of(compute.statements, writes_all);
}

void SetGuard(Read& read, std::vector<IndexExpr> conditions, const std::vector<IndexExpr>& inside) {
  for (const IndexExpr& condition : inside) {
    const bool is_new = std::ranges::find(conditions, condition) == conditions.end();
    if (is_new) conditions.push_back(condition);
  }
  read.guard.reset();
  if (!conditions.empty()) read.guard = Guard{.nonnegative = std::move(conditions)};
}

class Padder {
 public:
  Padder(const Compute& compute, const PadStep& step, StatementId id, ReductionOrder order)
      : compute_(compute), step_(step), id_(id), order_(order), sum_(compute.statements[id]) {}

  Result<Compute> Run() {
    for (const Read& read : sum_.reads) operands_.push_back(OperandOf(compute_, read));
    TUNEC_RETURN_IF_ERROR(CheckSum());
    TUNEC_RETURN_IF_ERROR(RoundUp());
    for (const VarId v : rounded_.ids()) {
      if (IsRounded(v) && !IsWritten(v)) TUNEC_RETURN_IF_ERROR(CheckBeyond(v));
    }
    for (const IndexExpr& condition : sum_.domain) {
      TUNEC_RETURN_IF_ERROR(CheckDropped(condition));
    }
    result_ = compute_;
    TUNEC_RETURN_IF_ERROR(GrowWritten());
    GuardOperands();
    TUNEC_RETURN_IF_ERROR(GrowCopies());
    result_.statements[id_].iterators = rounded_;
    result_.statements[id_].domain.clear();
    return std::move(result_);
  }

 private:
  Status CheckSum() const;
  Status RoundUp();
  Status CheckValue(const std::vector<bool>& zero_reads, std::string_view where) const;
  Status CheckBeyond(VarId iterator) const;
  Status CheckDropped(const IndexExpr& condition) const;
  Status GrowWritten();
  void GuardOperands();
  Status GrowCopies();
  Status GrowCopy(TensorId tensor, StatementId copy);
  Interval NeededOf(TensorId copy, size_t dimension) const;
  void ShiftReads(TensorId tensor, size_t dimension, int64_t by);
  void GuardSource(const Statement& before, const std::vector<IndexExpr>& source_of,
                   Statement& copy) const;

  bool IsRounded(VarId v) const { return rounded_[v].extent != sum_.iterators[v].extent; }
  bool IsWritten(VarId v) const { return AnyUses(sum_.writes[0].index, v); }
  IntervalOf RoundedIntervals() const {
    return [&](VarId v) { return Interval{0, rounded_[v].extent - 1}; };
  }

  const Compute& compute_;
  const PadStep& step_;
  const StatementId id_;
  const ReductionOrder order_;
  const Statement& sum_;
  Iterators rounded_;
  std::vector<ReadOperand> operands_;  // by the slots of the sum's reads
  Compute result_;
};

Status Padder::CheckSum() const {
  const auto home = [&](TensorId t) { return compute_.tensors[t].alias.value_or(t); };
  if (sum_.writes.size() != 1) return Reject(step_, "it writes several values");
  const TensorId written = sum_.writes[0].tensor;
  if (sum_.reducer != Reducer::Sum(compute_.tensors[written].type)) {
    return Reject(step_, "it is not a sum");
  }
  if (!NamesDimensions(sum_.writes[0].index)) {
    return Reject(step_, "its write index must consist of different iterators");
  }
  for (size_t r = 0; r < sum_.reads.size(); ++r) {
    const Read& read = sum_.reads[r];
    const std::string& name = compute_.tensors[read.tensor].name;
    if (home(read.tensor) == home(written)) {
      return Reject(step_, "it reads the tensor that it writes");
    }
    if (AnyLoaded(read.index) || AnyLoaded(ConditionsOf(read))) {
      return Reject(step_, fmt::format("the index of its operand {} is loaded", name));
    }
    if (!operands_[r].copy && !IsWrittenWhole(compute_, read.tensor)) {
      return Reject(step_,
                    fmt::format("its operand {} may have elements that nothing wrote", name));
    }
    if (read.guard && read.guard->outside != 0) {
      return Reject(step_, fmt::format("its operand {} is {} outside of its guard", name,
                                       read.guard->outside));
    }
  }
  if (AnyLoaded(sum_.domain)) return Reject(step_, "its domain is loaded");
  const auto is_empty = [](const Iterator& iterator) { return iterator.extent == 0; };
  if (std::ranges::any_of(sum_.iterators, is_empty)) return Reject(step_, "it has no instances");
  return {};
}

Status Padder::RoundUp() {
  rounded_ = sum_.iterators;
  std::vector<VarId> named;
  for (const PadStep::Multiple& multiple : step_.multiples) {
    const auto found = std::ranges::find(sum_.iterators, multiple.iterator, &Iterator::name);
    if (found == sum_.iterators.end() || multiple.factor < 1 || multiple.factor > kLargestFactor) {
      return Reject(step_, fmt::format("no iterator {} to round up to a multiple of {}",
                                       multiple.iterator, multiple.factor));
    }
    const VarId v = sum_.iterators.id_of(found);
    if (std::ranges::find(named, v) != named.end()) {
      return Reject(step_, fmt::format("iterator {} is named twice", multiple.iterator));
    }
    named.push_back(v);
    rounded_[v].extent = CeilDivide(found->extent, multiple.factor) * multiple.factor;
  }
  return {};
}

// Checks that the value is 0 if the reads in `zero_reads` are 0, as in added instances. Unless the
// terms may be reordered, this must hold for infinite and NaN values of the other reads, too.
Status Padder::CheckValue(const std::vector<bool>& zero_reads, std::string_view where) const {
  const Expr& value = sum_.values[0];
  if (IsZero(value, zero_reads, OtherOperands::kAnything)) return {};
  if (!IsZero(value, zero_reads, OtherOperands::kFinite)) {
    return Reject(step_, fmt::format("its value may be nonzero where {}", where));
  }
  if (order_ == ReductionOrder::kAny) return {};
  return Fail(ErrorCode::kIllegalSchedule,
              "pad {}: an operand that may not be finite must be omitted where {}", step_.statement,
              where);
}

// Checks that the instances beyond the old extent of a reduced iterator add nothing.
Status Padder::CheckBeyond(VarId iterator) const {
  const Iterator& old = sum_.iterators[iterator];
  const IntervalOf intervals = RoundedIntervals();
  const IntervalOf beyond = [&](VarId v) {
    return v == iterator ? Interval{old.extent, rounded_[v].extent - 1} : intervals(v);
  };
  const std::string where = fmt::format("{} is {} or more", old.name, old.extent);
  std::vector<bool> zero(sum_.reads.size(), false);
  for (size_t r = 0; r < sum_.reads.size(); ++r) {
    const Read& read = sum_.reads[r];
    if (!AnyUses(read.index, iterator) && !AnyUses(ConditionsOf(read), iterator)) continue;
    const auto fails = [&](const IndexExpr& c) { return BoundsOf(c, beyond).hi < 0; };
    zero[r] = std::ranges::any_of(operands_[r].NonZeroConditions(), fails) ||
              std::ranges::any_of(ConditionsOf(read), fails);
    if (zero[r]) continue;
    return Reject(step_, fmt::format("where {}, {} may be inside of its extents", where,
                                     compute_.tensors[read.tensor].name));
  }
  return CheckValue(zero, where);
}

// Checks that the instances where the condition failed add nothing.
Status Padder::CheckDropped(const IndexExpr& condition) const {
  std::vector<bool> zero;
  for (size_t r = 0; r < sum_.reads.size(); ++r) {
    zero.push_back(CoverFailures(operands_[r].NonZeroConditions(), condition, RoundedIntervals()) ||
                   CoverFailures(ConditionsOf(sum_.reads[r]), condition, RoundedIntervals()));
  }
  return CheckValue(zero, fmt::format("{} < 0", Print(condition, sum_.IteratorNames())));
}

// Increases the layout's extents where the larger logical extents require it.
void FitLayout(Tensor& tensor) {
  for (size_t d = 0; d < tensor.layout.map.size(); ++d) {
    const Interval bounds = BoundsOf(tensor.layout.map[d], [&](VarId v) {
      return Interval{0, tensor.shape[v.index()] - 1};
    });
    tensor.layout.shape[d] = std::max(tensor.layout.shape[d], bounds.hi + 1);
  }
}

Status Padder::GrowWritten() {
  const Write& write = sum_.writes[0];
  Tensor& tensor = result_.tensors[write.tensor];
  for (size_t d = 0; d < write.index.size(); ++d) {
    const std::optional<VarId> v = write.index[d].AsVar();
    if (!v || !IsRounded(*v)) continue;
    if (tensor.role != TensorRole::kWorkspace || SharesStorage(compute_, write.tensor)) {
      return Reject(step_, fmt::format("{} is not a separate workspace; add cache_write {}",
                                       tensor.name, step_.statement));
    }
    if (tensor.shape[d] != sum_.iterators[*v].extent) {
      return Reject(step_, fmt::format("{} has elements beyond those that {} reaches", tensor.name,
                                       sum_.iterators[*v].name));
    }
    tensor.shape[d] = rounded_[*v].extent;
  }
  FitLayout(tensor);
  if (ElementCount(tensor.shape) >= 0) return {};
  return Reject(step_, fmt::format("{} would have too many elements", tensor.name));
}

// Adds guards to operands that are read in place. For a copy, removes the conditions that fail only
// where the copy has zeros.
void Padder::GuardOperands() {
  const IntervalOf intervals = RoundedIntervals();
  for (size_t r = 0; r < sum_.reads.size(); ++r) {
    const ReadOperand& operand = operands_[r];
    std::vector<IndexExpr> conditions = ConditionsOf(sum_.reads[r]);
    std::vector<IndexExpr> inside;
    if (operand.copy) {
      const std::vector<IndexExpr> zeros = operand.NonZeroConditions();
      std::erase_if(conditions,
                    [&](const IndexExpr& c) { return CoverFailures(zeros, c, intervals); });
    } else {
      inside = ConditionsInside(operand.index, operand.shape, intervals);
    }
    SetGuard(result_.statements[id_].reads[r], std::move(conditions), inside);
  }
}

Status Padder::GrowCopies() {
  std::vector<TensorId> grown;
  for (size_t r = 0; r < sum_.reads.size(); ++r) {
    const TensorId tensor = sum_.reads[r].tensor;
    if (!operands_[r].copy || std::ranges::find(grown, tensor) != grown.end()) continue;
    grown.push_back(tensor);
    TUNEC_RETURN_IF_ERROR(GrowCopy(tensor, *operands_[r].copy));
  }
  return {};
}

// Returns the dimension whose index is this iterator. Requires: there is one.
size_t DimensionOf(const Write& write, VarId iterator) {
  const auto found = std::ranges::find(write.index, IndexExpr::Var(iterator));
  return static_cast<size_t>(found - write.index.begin());
}

// Extends the copy to all elements that the sum reads. If the sum reads elements below the copy's
// first element, the copy begins at the lowest of them, and the indices of the copy's readers are
// shifted.
Status Padder::GrowCopy(TensorId id, StatementId copy_id) {
  Tensor& tensor = result_.tensors[id];
  Statement& copy = result_.statements[copy_id];
  std::vector<IndexExpr> source_of;  // for each iterator of the copy, the index in its source
  for (const VarId v : copy.iterators.ids()) source_of.push_back(IndexExpr::Var(v));
  for (const VarId v : copy.iterators.ids()) {
    const size_t d = DimensionOf(copy.writes[0], v);
    const Interval needed = NeededOf(id, d);
    tensor.shape[d] = copy.iterators[v].extent = needed.hi - needed.lo + 1;
    source_of[v.index()] += needed.lo;
    ShiftReads(id, d, -needed.lo);
  }
  FitLayout(tensor);
  if (ElementCount(tensor.shape) < 0) {
    return Reject(step_, fmt::format("{} would have too many elements", tensor.name));
  }
  if (tensor.range) {
    tensor.range->lo = std::min<int64_t>(tensor.range->lo, 0);
    tensor.range->hi = std::max<int64_t>(tensor.range->hi, 0);
  }
  GuardSource(compute_.statements[copy_id], source_of, copy);
  return {};
}

// Returns a range of a dimension that contains the copy's elements and all elements that the sum
// reads.
Interval Padder::NeededOf(TensorId copy, size_t dimension) const {
  Interval needed = {0, compute_.tensors[copy].shape[dimension] - 1};
  for (const Read& read : sum_.reads) {
    if (read.tensor != copy) continue;
    const Interval bounds = BoundsOf(read.index[dimension], RoundedIntervals());
    needed = {std::min(needed.lo, bounds.lo), std::max(needed.hi, bounds.hi)};
  }
  return needed;
}

void Padder::ShiftReads(TensorId tensor, size_t dimension, int64_t by) {
  for (Statement& statement : result_.statements) {
    for (Read& read : statement.reads) {
      if (read.tensor == tensor) read.index[dimension] += by;
    }
  }
}

// Sets the guard of the copy's read, so that elements outside of the source and of the old domain
// are 0. `before` is the copy before the step. `source_of` expresses the iterators of `before` by
// those of `copy`.
void Padder::GuardSource(const Statement& before, const std::vector<IndexExpr>& source_of,
                         Statement& copy) const {
  const auto now = [&](std::vector<IndexExpr> all) {
    for (IndexExpr& index : all) index = Substitute(index, source_of);
    return all;
  };
  const Read& was = before.reads[0];
  std::vector<IndexExpr> conditions = ConditionsOf(was);
  conditions.insert(conditions.end(), before.domain.begin(), before.domain.end());
  Read& read = copy.reads[0];
  read.index = now(read.index);
  copy.domain.clear();
  SetGuard(read, now(std::move(conditions)),
           ConditionsInside(now(was.index), compute_.tensors[was.tensor].shape, copy.Intervals()));
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const PadStep& step, ReductionOrder order) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  if (IsMadeOfConstant(compute, compute.statements[*id])) {
    return Reject(step, "it runs at compile time");
  }
  return Padder(compute, step, *id, order).Run();
}

}  // namespace tunec
