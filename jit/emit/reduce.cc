// The emission of horizontal reductions. Such a reduction is a store in a vector loop whose target
// is the same in all lanes. If the reducer may be regrouped and the target is the same in all
// chunks, vectors of partial results are combined chunk by chunk. Several vectors may be in flight,
// so that their latencies overlap. After the loop, the lanes are combined with each other, and then
// once with the target. If the reducer must not be regrouped, the lanes are combined with the
// target one after the other.
#include <set>

#include "ir/nest/visit_loop_nest.h"
#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr int kMostAccumulators = 4;

/// Returns whether the reducer is reorderable and combines partial results by the expression that
/// combines a value. Only component-wise operators and the arg reducers do so.
bool Regroups(const Reducer& reducer) {
  if (!reducer.reorderable) return false;
  bool componentwise = true;
  for (size_t k = 0; k < reducer.combine.size(); ++k) {
    const Expr& combine = reducer.combine[k];
    bool simple = combine.kind() == ExprKind::kApply && combine.operands().size() == 2;
    if (simple) {
      switch (combine.node().op) {
        case ScalarOp::kAdd:
        case ScalarOp::kMul:
        case ScalarOp::kMin:
        case ScalarOp::kMax:
        case ScalarOp::kAnd:
        case ScalarOp::kOr:
        case ScalarOp::kXor:
          break;
        default:
          simple = false;
      }
      const Expr& a = combine.operands()[0];
      const Expr& b = combine.operands()[1];
      simple = simple && a.kind() == ExprKind::kAccumulator && b.kind() == ExprKind::kIncoming &&
               a.node().slot == static_cast<int>(k) && b.node().slot == static_cast<int>(k);
    }
    componentwise = componentwise && simple;
  }
  if (componentwise) return true;
  if (reducer.combine.size() != 2) return false;
  const DataType type = reducer.combine[0].type();
  for (const bool last : {false, true})
    if (reducer.combine == Reducer::ArgMax(type, last).combine ||
        reducer.combine == Reducer::ArgMin(type, last).combine)
      return true;
  return false;
}

/// Returns the variables of the loop and of all loops inside it.
std::set<VarId> BoundInside(const Loop& loop) {
  std::set<VarId> bound{loop.var};
  ForEach<Loop>(loop.body, [&](const Loop& inner) { bound.insert(inner.var); });
  return bound;
}

/// Returns the reductions that may be regrouped and whose targets depend neither on variables of
/// the loop nor on loaded values.
std::vector<const Store*> LaneReductions(const Loop& loop) {
  const std::set<VarId> bound = BoundInside(loop);
  std::vector<const Store*> found;
  ForEach<Store>(loop.body, [&](const Store& store) {
    if (!store.reducer || !Regroups(*store.reducer)) return;
    for (const Write& write : store.writes)
      for (const IndexExpr& index : write.index) {
        if (index.UsesLoaded()) return;
        for (const VarId variable : bound)
          if (index.Uses(variable)) return;
      }
    found.push_back(&store);
  });
  return found;
}

std::vector<IrValue> Identities(EmitState& state, const Store& store, int lanes) {
  std::vector<IrValue> identities;
  for (const Expr& identity : store.reducer->identity)
    identities.push_back(state.builder.Splat(EmitExpr(state, identity, {}), lanes));
  return identities;
}

/// Combines the two halves of vectors of partial results until one lane is left. Returns its
/// values.
std::vector<IrValue> ReduceLanes(EmitState& state, const Store& store, std::vector<IrValue> partial,
                                 int lanes) {
  Builder& b = state.builder;
  for (int width = lanes; width > 1; width /= 2) {
    std::vector<int> low(width / 2);
    std::vector<int> high(width / 2);
    for (int i = 0; i < width / 2; ++i) {
      low[i] = i;
      high[i] = width / 2 + i;
    }
    std::vector<IrValue> a;
    std::vector<IrValue> c;
    for (const IrValue value : partial) {
      a.push_back(width == 2 ? b.Extract(value, 0) : b.Shuffle(value, value, low));
      c.push_back(width == 2 ? b.Extract(value, 1) : b.Shuffle(value, value, high));
    }
    partial = EmitCombine(state, store, a, c, nullptr);
  }
  return partial;
}

Status CombineIntoTarget(EmitState& state, const Store& store, const std::vector<IrValue>& values) {
  std::vector<IrValue> old_values;
  for (const Write& write : store.writes) {
    TUNEC_ASSIGN(const IrValue old_value, EmitOldValue(state, write));
    old_values.push_back(old_value);
  }
  const std::vector<IrValue> results = EmitCombine(state, store, old_values, values, nullptr);
  for (size_t k = 0; k < store.writes.size(); ++k)
    TUNEC_RETURN_IF_ERROR(EmitWrite(state, store.writes[k], results[k], false));
  return {};
}

/// Calls `body` so that it emits code as outside of a vector loop.
Status OutsideLanes(EmitState& state, const std::function<Status()>& body) {
  const LaneContext lanes = state.lanes;
  state.lanes = LaneContext{};
  state.index.SetLanes(1);
  const Status status = body();
  state.lanes = lanes;
  state.index.SetLanes(lanes.width);
  return status;
}

/// Combines the values of the running lanes into the target, one lane after the other.
Status CombineInOrder(EmitState& state, const Store& store, const std::vector<IrValue>& values) {
  const LaneContext lanes = state.lanes;
  Builder& b = state.builder;
  const int count = lanes.active > 0 ? lanes.active : lanes.width;
  for (int lane = 0; lane < count; ++lane) {
    std::vector<IrValue> own;
    for (const IrValue value : values) own.push_back(b.Extract(value, lane));
    const auto combine = [&] { return CombineIntoTarget(state, store, own); };
    const bool certain = lanes.mask == nullptr || lanes.active > 0;
    const IrValue runs = certain ? nullptr : b.Extract(lanes.mask, lane);
    TUNEC_RETURN_IF_ERROR(
        OutsideLanes(state, [&] { return certain ? combine() : EmitWhen(state, runs, combine); }));
  }
  return {};
}

}  // namespace

void BeginLaneReductions(EmitState& state, const Loop& loop, int lanes, int copies) {
  for (const Store* store : LaneReductions(loop)) {
    LaneAccumulators accumulators;
    const std::vector<IrValue> identities = Identities(state, *store, lanes);
    for (int copy = 0; copy < std::min(copies, kMostAccumulators); ++copy) {
      std::vector<IrValue>& slots = accumulators.slots.emplace_back();
      for (const IrValue identity : identities) {
        slots.push_back(state.builder.Slot(state.builder.TypeOf(identity)));
        state.builder.StoreSlot(slots.back(), identity);
      }
    }
    state.accumulators[store] = std::move(accumulators);
  }
}

Status EndLaneReductions(EmitState& state, const Loop& loop, int lanes) {
  Builder& b = state.builder;
  for (const Store* store : LaneReductions(loop)) {
    const LaneAccumulators& accumulators = state.accumulators.at(store);
    const std::vector<IrValue> identities = Identities(state, *store, lanes);
    std::vector<std::vector<IrValue>> partial;
    for (const std::vector<IrValue>& slots : accumulators.slots) {
      std::vector<IrValue>& values = partial.emplace_back();
      for (size_t k = 0; k < slots.size(); ++k)
        values.push_back(b.LoadSlot(slots[k], b.TypeOf(identities[k])));
    }
    while (partial.size() > 1) {
      std::vector<std::vector<IrValue>> next;
      for (size_t i = 0; i + 1 < partial.size(); i += 2)
        next.push_back(EmitCombine(state, *store, partial[i], partial[i + 1], nullptr));
      if (partial.size() % 2 == 1) next.push_back(partial.back());
      partial = std::move(next);
    }
    state.accumulators.erase(store);
    TUNEC_RETURN_IF_ERROR(
        CombineIntoTarget(state, *store, ReduceLanes(state, *store, partial[0], lanes)));
  }
  return {};
}

Status EmitLaneReduction(EmitState& state, const Store& store, const std::vector<IrValue>& values,
                         const std::vector<IrValue>& reads) {
  Builder& b = state.builder;
  const int lanes = state.lanes.width;
  const auto found = state.accumulators.find(&store);
  const bool regroups = found != state.accumulators.end() || Regroups(*store.reducer);
  std::vector<IrValue> vectors = values;
  for (size_t k = 0; k < vectors.size(); ++k) {
    if (vectors[k] == nullptr && (!regroups || found == state.accumulators.end()))
      vectors[k] = EmitExpr(state, store.values[k], {&reads, nullptr, nullptr});
    if (vectors[k] != nullptr) vectors[k] = b.Splat(vectors[k], lanes);
  }
  if (!regroups) return CombineInOrder(state, store, vectors);
  if (found == state.accumulators.end()) {
    const std::vector<IrValue> identities = Identities(state, store, lanes);
    for (size_t k = 0; k < vectors.size(); ++k)
      if (state.lanes.mask != nullptr)
        vectors[k] = b.Select(state.lanes.mask, vectors[k], identities[k]);
    const std::vector<IrValue> single = ReduceLanes(state, store, vectors, lanes);
    return OutsideLanes(state, [&] { return CombineIntoTarget(state, store, single); });
  }
  const auto& copies = found->second.slots;
  const std::vector<IrValue>& slots = copies[state.lanes.copy % copies.size()];
  const std::vector<IrValue> identities = Identities(state, store, lanes);
  std::vector<IrValue> old_values;
  for (size_t k = 0; k < slots.size(); ++k)
    old_values.push_back(b.LoadSlot(slots[k], b.TypeOf(identities[k])));
  const std::vector<IrValue> results = EmitCombine(state, store, old_values, vectors, &reads);
  for (size_t k = 0; k < slots.size(); ++k) {
    const IrValue result = b.Splat(results[k], lanes);
    b.StoreSlot(slots[k], state.lanes.mask == nullptr
                              ? result
                              : b.Select(state.lanes.mask, result, old_values[k]));
  }
  return {};
}

}  // namespace tunec::jit
