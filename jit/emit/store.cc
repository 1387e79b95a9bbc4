#include <algorithm>

#include "ir/loaded_range.h"
#include "jit/emit/state.h"

namespace tunec::jit {
namespace {

/// Makes the value of the latest read, unless it is a float, available to all later index
/// expressions of the store.
void PublishLoaded(EmitState& state, const Store& store, const std::vector<IrValue>& reads,
                   std::vector<std::pair<IrValue, Interval>>& loaded) {
  const size_t slot = reads.size() - 1;
  const Tensor& tensor = state.tensor(store.reads[slot].tensor);
  IrValue value = reads[slot];
  if (IsFloat(tensor.type)) {
    value = state.builder.I64(0);  // a float is never used as an index
  } else {
    value = EmitCast(state.builder, value, tensor.type, DataType::kI64);
  }
  loaded.emplace_back(value, LoadedRange(tensor, store.reads[slot]));
  state.index.SetLoaded(loaded);
}

bool UsesLoaded(const Store& store) {
  const auto any = [](const std::vector<IndexExpr>& index) {
    return std::ranges::any_of(index, [](const IndexExpr& e) { return e.UsesLoaded(); });
  };
  for (const Read& read : store.reads)
    if (any(read.index) || (read.guard && any(read.guard->nonnegative))) return true;
  for (const Write& write : store.writes)
    if (any(write.index)) return true;
  bool uses = false;
  for (const Expr& value : store.values)
    Visit(value, [&](const Expr& expr) { uses |= any(expr.node().index); });
  return uses;
}

/// Returns whether the store combines values of several lanes into targets that all lanes share.
bool CombinesLanes(EmitState& state, const Store& store) {
  if (!store.reducer || state.lanes.width == 1) return false;
  for (const Write& write : store.writes)
    for (const IndexExpr& index : write.index)
      if (!state.index.Evaluate(index).IsUniform()) return false;
  return true;
}

/// Returns whether the reducer's result k is the old value k plus the value k, in this order.
bool IsPlainSum(const Reducer& reducer, size_t k) {
  const Expr& combine = reducer.combine[k];
  if (!combine.Is(ScalarOp::kAdd)) return false;
  const Expr& a = combine.operands()[0];
  const Expr& b = combine.operands()[1];
  return a.kind() == ExprKind::kAccumulator && b.kind() == ExprKind::kIncoming &&
         a.node().slot == static_cast<int>(k) && b.node().slot == static_cast<int>(k);
}

/// Returns whether value k is a product that a fused multiply-add may compute. The product itself
/// is then often not needed.
bool FusesIntoSum(const EmitState& state, const Store& store, size_t k) {
  return store.reducer && state.nest.contraction == Contraction::kFused &&
         IsPlainSum(*store.reducer, k) && store.values[k].Is(ScalarOp::kMul) &&
         IsFloat(store.values[k].type());
}

}  // namespace

std::vector<IrValue> EmitCombine(EmitState& state, const Store& store,
                                 const std::vector<IrValue>& old_values,
                                 const std::vector<IrValue>& values,
                                 const std::vector<IrValue>* reads) {
  std::vector<IrValue> results;
  for (size_t k = 0; k < store.writes.size(); ++k) {
    if (reads != nullptr && FusesIntoSum(state, store, k)) {
      const ExprInputs inputs{reads, nullptr, nullptr};
      const IrValue a = EmitExpr(state, store.values[k].operands()[0], inputs);
      const IrValue b = EmitExpr(state, store.values[k].operands()[1], inputs);
      results.push_back(RoundToType(state.builder, state.builder.Fma(a, b, old_values[k]),
                                    store.values[k].type()));
    } else {
      const ExprInputs inputs{nullptr, &old_values, &values};
      results.push_back(EmitExpr(state, store.reducer->combine[k], inputs));
    }
  }
  return results;
}

Status EmitStore(EmitState& state, const Store& store) {
  state.statement = store.statement;
  std::vector<IrValue> reads;
  std::vector<std::pair<IrValue, Interval>> loaded;
  const bool uses_loaded = UsesLoaded(store);
  for (const Read& read : store.reads) {
    TUNEC_ASSIGN(const IrValue value, EmitRead(state, read));
    reads.push_back(value);
    if (uses_loaded) PublishLoaded(state, store, reads, loaded);
  }
  std::vector<IrValue> values;
  for (size_t k = 0; k < store.values.size(); ++k) {
    values.push_back(FusesIntoSum(state, store, k)
                         ? nullptr
                         : EmitExpr(state, store.values[k], {&reads, nullptr, nullptr}));
  }
  if (CombinesLanes(state, store)) return EmitLaneReduction(state, store, values, reads);
  if (store.reducer) {
    std::vector<IrValue> old_values;
    for (const Write& write : store.writes) {
      TUNEC_ASSIGN(const IrValue old_value, EmitOldValue(state, write));
      old_values.push_back(old_value);
    }
    values = EmitCombine(state, store, old_values, values, &reads);
  }
  for (size_t k = 0; k < store.writes.size(); ++k)
    TUNEC_RETURN_IF_ERROR(EmitWrite(state, store.writes[k], values[k], store.non_temporal));
  return {};
}

}  // namespace tunec::jit
