// The emission of phases and of their parts. A part's code computes the variables of the part's
// parallel loops from the task number.
#include "jit/emit/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/nest/in_place.h"
#include "ir/nest/loop_range.h"
#include "ir/nest/visit_loop_nest.h"
#include "jit/emit/state.h"

namespace tunec::jit {
namespace {

constexpr int64_t kMostStackBytes = 256 << 10;

/// Returns the tensors that a body accesses.
std::set<TensorId> TensorsOf(const Body& body) {
  std::set<TensorId> tensors;
  VisitNodes(body, [&](const NestNode& node) {
    ForEachAccess(node, [&](TensorId tensor, bool) { tensors.insert(tensor); });
  });
  return tensors;
}

std::set<TensorId> WrittenRoots(const EmitState& state) {
  std::set<TensorId> written;
  for (const Phase& phase : state.nest.phases)
    VisitNodes(phase.body, [&](const NestNode& node) {
      ForEachAccess(node, [&](TensorId tensor, bool writes) {
        if (writes) written.insert(state.Root(tensor));
      });
    });
  return written;
}

/// Returns the tensors whose memory may change while the kernel runs: the roots of written tensors,
/// and inputs whose storage an output may reuse.
std::set<TensorId> ChangingRoots(const EmitState& state) {
  std::set<TensorId> changing = WrittenRoots(state);
  for (const InPlacePair& pair : FindInPlacePairs(state.nest)) changing.insert(pair.input);
  return changing;
}

/// Sets the storage of each tensor that the phase accesses, and emits base addresses at the start
/// of the function. Fails if a tensor has no storage or too much storage is needed.
Status BindStorage(EmitState& state, const Phase& phase, const StoragePlan& plan,
                   const PhaseEntry& entry) {
  Builder& b = state.builder;
  const std::vector<TensorId> order = Arguments(state.nest);
  const std::set<TensorId> changing = ChangingRoots(state);
  int64_t stack = 0;
  for (const TensorId id : TensorsOf(phase.body)) {
    const TensorId root = state.Root(id);
    const Tensor& tensor = state.tensor(root);
    TensorStorage& storage = state.storage[id];
    storage = TensorStorage{};
    storage.invariant = !changing.contains(root);
    if (state.InSlots(id)) continue;
    const auto argument = std::ranges::find(order, root);
    storage.alignment = 64;
    if (argument != order.end()) {
      storage.base = state.machine.Argument(b, argument - order.begin());
      storage.alignment = std::max<int64_t>(tensor.alignment, SizeOf(tensor.type));
    } else if (state.analysis.registers[root].form == RegisterForm::kStack) {
      const int64_t bytes = StorageBytes(tensor);
      stack += bytes;
      if (stack > kMostStackBytes)
        return Fail(ErrorCode::kResourceLimit, "register tensor {} needs {} bytes of stack",
                    tensor.name, bytes);
      storage.base = b.StackBytes(std::max<int64_t>(bytes, 1));
    } else if (tensor.role == TensorRole::kWorkspace) {
      storage.base = b.Offset(entry.workspace, b.I64(plan.offset[root]));
    } else if (plan.offset[root] >= 0) {
      TUNEC_ASSIGN(storage.base, state.machine.Storage(b, plan.scope[root], plan.offset[root]));
    } else {
      return Fail(ErrorCode::kUnsupported,
                  "tensor {} has no storage: it needs an alloc of packed or register scope",
                  tensor.name);
    }
  }
  return {};
}

/// Returns the targets of non-temporal stores, except tensors that are known to start at a multiple
/// of 64 bytes.
std::set<TensorId> DoubtfulTargets(const EmitState& state, const NestNode& part) {
  std::set<TensorId> targets;
  const Body body{part};
  ForEach<Store>(body, [&](const Store& store) {
    if (!store.non_temporal) return;
    for (const Write& write : store.writes)
      if (!state.InSlots(write.tensor) && state.storage[write.tensor].alignment < 64)
        targets.insert(write.tensor);
  });
  return targets;
}

struct Chain {
  std::vector<const Loop*> loops;    // outermost first
  const NestNode* inside = nullptr;  // the single node in the innermost loop, or null
  const Body* body = nullptr;        // the innermost loop's body if it is not a single node
  int64_t tasks = 1;
};

Result<Chain> ParallelChain(const NestNode& part) {
  Chain chain;
  const NestNode* node = &part;
  while (const auto* loop = std::get_if<Loop>(&node->value)) {
    if (!NumbersTasks(loop->kind)) break;
    for (const auto* bounds : {&loop->lower, &loop->upper})
      for (const IndexExpr& bound : *bounds)
        if (!bound.IsConstant())
          return Fail(ErrorCode::kUnsupported, "a parallel loop has a bound that is not constant");
    chain.loops.push_back(loop);
    const Interval range = RangeOf(*loop);
    chain.tasks *= std::max<int64_t>(range.hi - range.lo + 1, 0);
    if (loop->body.size() != 1) {
      chain.body = &loop->body;
      return chain;
    }
    node = &loop->body.front();
  }
  chain.inside = node;
  return chain;
}

/// Computes the variables of the chain's loops from the task number, innermost loop fastest, and
/// binds these variables.
void BindTask(EmitState& state, const Chain& chain, IrValue task) {
  Builder& b = state.builder;
  for (size_t i = chain.loops.size(); i-- > 0;) {
    const Interval range = RangeOf(*chain.loops[i]);
    const int64_t extent = range.hi - range.lo + 1;
    LinearIndex value;
    if (extent > 1) {
      const IrValue digit = i == 0 ? task : b.URem(task, b.I64(extent));
      value = state.index.NewValue(digit, {0, extent - 1});
      task = b.UDiv(task, b.I64(extent));
    }
    value.constant += range.lo;
    state.index.Bind(chain.loops[i]->var, value);
  }
}

Status EmitPart(EmitState& state, const NestNode& part, const Chain& chain, IrValue task) {
  BindTask(state, chain, task);
  Builder& b = state.builder;
  const auto emit = [&]() -> Status {
    state.non_temporal = false;
    TUNEC_RETURN_IF_ERROR(chain.inside != nullptr ? EmitNode(state, *chain.inside)
                                                  : EmitBody(state, *chain.body));
    if (state.non_temporal) state.machine.StoreFence(b);
    return {};
  };
  const std::set<TensorId> doubtful = DoubtfulTargets(state, part);
  if (doubtful.empty()) return emit();
  IrValue bits = nullptr;
  for (const TensorId tensor : doubtful) {
    const IrValue address = b.PointerToInt(state.storage[tensor].base);
    bits = bits == nullptr ? address : b.Or(bits, address);
  }
  // The first version assumes targets that are aligned to cache lines. The second version assumes
  // 16 bytes, the alignment that malloc guarantees. The third version makes no assumption.
  IrValue rest = b.Bool(true);
  for (const int64_t alignment : {64, 16}) {
    const IrValue aligned = b.Cmp(Compare::kEq, b.And(bits, b.I64(alignment - 1)), b.I64(0));
    state.target_alignment = alignment;
    TUNEC_RETURN_IF_ERROR(EmitWhen(state, b.And(rest, aligned), emit));
    rest = b.Not(aligned);
  }
  state.target_alignment = 0;
  return EmitWhen(state, rest, emit);
}

// Emits a part. A part that only copies between the tensors of an InPlacePair runs only if their
// addresses differ.
Status EmitUnlessInPlace(EmitState& state, const NestNode& part, const Chain& chain, IrValue task) {
  const std::optional<InPlacePair> pair = CopiedPair(part, FindInPlacePairs(state.nest));
  if (!pair) return EmitPart(state, part, chain, task);
  Builder& b = state.builder;
  const IrValue from = b.PointerToInt(state.storage[pair->input].base);
  const IrValue to = b.PointerToInt(state.storage[pair->output].base);
  return EmitWhen(state, b.Cmp(Compare::kNe, from, to),
                  [&] { return EmitPart(state, part, chain, task); });
}

Status EmitParts(EmitState& state, const Phase& phase, IrValue task) {
  Builder& b = state.builder;
  const IrBlock done = b.NewBlock("done");
  int64_t first = 0;
  for (const NestNode& part : phase.body) {
    TUNEC_ASSIGN(const Chain chain, ParallelChain(part));
    if (chain.tasks == 0) continue;
    const IrBlock here = b.NewBlock("part");
    const IrBlock next = b.NewBlock("next");
    const IrBlock before = b.CurrentBlock();
    b.CondBranch(b.Cmp(Compare::kUlt, task, b.I64(first + chain.tasks)), here, next);
    b.SetBlock(here);
    state.EnterScope(before);
    const IrValue own = b.Sub(task, b.I64(first));
    TUNEC_RETURN_IF_ERROR(EmitUnlessInPlace(state, part, chain, own));
    b.Branch(done);
    state.LeaveScope();
    b.SetBlock(next);
    first += chain.tasks;
  }
  b.Branch(done);
  b.SetBlock(done);
  return {};
}

// Returns the number of waves; a phase without tasks counts as one wave.
int64_t WavesOf(const Phase& phase) { return CountTasks(phase) == 0 ? 1 : CountWaves(phase); }

}  // namespace

Result<std::vector<PhaseLaunch>> EmitNest(const LoopNest& nest, Machine& machine,
                                          Builder& builder) {
  EmitState state(nest, machine, builder);
  const StoragePlan plan = PlanStorage(nest);
  std::vector<PhaseLaunch> launches;
  for (size_t k = 0; k < nest.phases.size(); ++k) {
    const Phase& phase = nest.phases[k];
    launches.push_back({.symbol = fmt::format("{}_phase{}", nest.name, k),
                        .grid = {CountTasks(phase), 1, 1},
                        .block = LaunchOf(phase).block,
                        .waves = WavesOf(phase),
                        .shared_bytes = plan.shared_bytes[k]});
    const PhaseEntry entry = machine.BeginPhase(builder, phase, launches.back().symbol);
    state.index.Reset();
    state.ForgetLoads();
    TUNEC_RETURN_IF_ERROR(BindStorage(state, phase, plan, entry));
    machine.BeginParts(state, phase);
    TUNEC_RETURN_IF_ERROR(EmitParts(state, phase, entry.task));
    machine.EndParts(state);
    builder.EndFunction();
  }
  return launches;
}

}  // namespace tunec::jit
