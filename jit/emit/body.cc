#include <algorithm>

#include "ir/nest/visit_loop_nest.h"
#include "jit/emit/state.h"

namespace tunec::jit {
namespace {

constexpr int kLineBits = 6;
constexpr int64_t kLineBytes = int64_t{1} << kLineBits;
constexpr int64_t kMostStores = 40000;  // statement instances of one kernel's code

Status CountInstance(EmitState& state) {
  if (++state.stores_emitted <= kMostStores) return {};
  return Fail(ErrorCode::kResourceLimit, "unrolling gives more than {} statement instances",
              kMostStores);
}

Status EmitIf(EmitState& state, const If& branch) {
  const Condition condition = EmitCondition(state, branch.nonnegative);
  switch (condition.kind) {
    case Condition::Kind::kNever:
      return {};
    case Condition::Kind::kAlways:
      return EmitBody(state, branch.body);
    case Condition::Kind::kUniform:
      return EmitWhen(state, condition.value, [&] { return EmitBody(state, branch.body); });
    case Condition::Kind::kLanes:
      break;
  }
  const LaneContext outer = state.lanes;
  state.lanes.mask =
      outer.mask == nullptr ? condition.value : state.builder.And(outer.mask, condition.value);
  state.lanes.active = 0;
  state.lanes.conditional = true;
  const Status status = EmitBody(state, branch.body);
  state.lanes = outer;
  return status;
}

Status EmitAlloc(EmitState& state, const Alloc& alloc) {
  TUNEC_RETURN_IF_ERROR(state.machine.CheckScope(alloc.scope));
  if (state.InSlots(alloc.tensor)) StartSlots(state, alloc.tensor);
  state.storage[alloc.tensor].swizzle = alloc.swizzle;
  state.storage[alloc.tensor].touched = state.analysis.touched.at(&alloc);
  return EmitBody(state, alloc.body);
}

Status EmitPrefetch(EmitState& state, const Prefetch& prefetch) {
  if (state.InSlots(prefetch.address.tensor)) return {};
  const Tensor& tensor = state.tensor(prefetch.address.tensor);
  const auto size = static_cast<int64_t>(SizeOf(tensor.type));
  LinearIndex offset = state.index.Evaluate(state.analysis.offsets.at(&prefetch.address));
  // Prefetches as many lines as lanes with consecutive elements fill. For any other lanes,
  // prefetches only the first lane's line.
  const int64_t lines =
      offset.lane_factor == 1 ? (state.index.lanes() * size + kLineBytes - 1) / kLineBytes : 1;
  offset.lane_factor = 0;
  offset.per_lane = nullptr;
  for (int64_t line = 0; line < lines; ++line) {
    // The copies of an unrolled loop in the same scope prefetch a line once.
    const PrefetchKey key{state.Root(prefetch.address.tensor), offset.terms,
                          (offset.constant * size) >> kLineBits, prefetch.level};
    if (state.prefetched.insert(key).second) {
      const IrValue address =
          state.index.Address(state.storage[prefetch.address.tensor].base, offset, size);
      state.builder.Prefetch(address, prefetch.for_write, std::max(4 - prefetch.level, 1));
    }
    offset.constant += kLineBytes / size;
  }
  return {};
}

}  // namespace

Status EmitWhen(EmitState& state, IrValue condition, const std::function<Status()>& body) {
  Builder& b = state.builder;
  const IrBlock before = b.CurrentBlock();
  const IrBlock yes = b.NewBlock("then");
  const IrBlock after = b.NewBlock("after");
  b.CondBranch(condition, yes, after);
  b.SetBlock(yes);
  state.EnterScope(before);
  TUNEC_RETURN_IF_ERROR(body());
  b.Branch(after);
  state.LeaveScope();
  b.SetBlock(after);
  return {};
}

Status EmitNode(EmitState& state, const NestNode& node) {
  const auto of_threads = [&] { return state.machine.EmitThreads(state, node); };
  return Visit(
      node, [&](const Loop& loop) { return EmitLoop(state, loop); },
      [&](const If& branch) { return EmitIf(state, branch); },
      [&](const Alloc& alloc) { return EmitAlloc(state, alloc); },
      [&](const Prefetch& prefetch) { return EmitPrefetch(state, prefetch); },
      [&](const Tile& tile) -> Status {
        TUNEC_RETURN_IF_ERROR(CountInstance(state));
        return state.machine.EmitTile(state, tile);
      },
      [&](const Store& store) -> Status {
        TUNEC_RETURN_IF_ERROR(CountInstance(state));
        return EmitStore(state, store);
      },
      [&](const Roles&) { return of_threads(); }, [&](const AsyncCopy&) { return of_threads(); },
      [&](const Arrive&) { return of_threads(); }, [&](const Wait&) { return of_threads(); },
      [&](const Barrier&) { return of_threads(); }, [&](const Shuffle&) { return of_threads(); });
}

Status EmitBody(EmitState& state, const Body& body) {
  for (const NestNode& node : body) TUNEC_RETURN_IF_ERROR(EmitNode(state, node));
  return {};
}

}  // namespace tunec::jit
