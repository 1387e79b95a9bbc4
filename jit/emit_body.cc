#include "jit/emit_state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr int64_t kMostStores = 40000;  // statement instances of one kernel's code

Error NotOnCpu(const char* what) {
  return MakeError(ErrorCode::kUnsupported, "{} cannot be emitted for a cpu", what);
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
  if (alloc.scope == Scope::kTile || alloc.scope == Scope::kFragment)
    return std::unexpected(NotOnCpu("an alloc of tile or fragment scope"));
  if (state.InSlots(alloc.tensor)) StartSlots(state, alloc.tensor);
  return EmitBody(state, alloc.body);
}

Status EmitPrefetch(EmitState& state, const Prefetch& prefetch) {
  if (state.InSlots(prefetch.address.tensor)) return {};
  const Tensor& tensor = state.tensor(prefetch.address.tensor);
  LinearIndex offset = state.index.Evaluate(state.analysis.offsets.at(&prefetch.address));
  offset.lane_factor = 0;  // the first lane's line
  offset.per_lane = nullptr;
  const IrValue address = state.index.Address(state.storage[prefetch.address.tensor].base, offset,
                                              static_cast<int64_t>(SizeOf(tensor.type)));
  state.builder.Prefetch(address, prefetch.for_write, std::max(4 - prefetch.level, 1));
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
  if (const auto* loop = std::get_if<Loop>(&node.value)) return EmitLoop(state, *loop);
  if (const auto* branch = std::get_if<If>(&node.value)) return EmitIf(state, *branch);
  if (const auto* alloc = std::get_if<Alloc>(&node.value)) return EmitAlloc(state, *alloc);
  if (const auto* prefetch = std::get_if<Prefetch>(&node.value))
    return EmitPrefetch(state, *prefetch);
  const auto* tile = std::get_if<Tile>(&node.value);
  const auto* store = std::get_if<Store>(&node.value);
  if (store != nullptr || tile != nullptr) {
    if (++state.stores_emitted > kMostStores)
      return Fail(ErrorCode::kResourceLimit, "unrolling gives more than {} statement instances",
                  kMostStores);
    return tile != nullptr ? EmitTile(state, *tile) : EmitStore(state, *store);
  }
  TUNEC_CHECK(std::holds_alternative<Roles>(node.value), "a node that SerializeThreads removes");
  return std::unexpected(NotOnCpu("warp roles"));
}

Status EmitBody(EmitState& state, const Body& body) {
  for (const NestNode& node : body) TUNEC_RETURN_IF_ERROR(EmitNode(state, node));
  return {};
}

}  // namespace tunec::jit
