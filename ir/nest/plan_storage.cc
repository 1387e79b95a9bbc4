// The plan of the storage of workspace and local tensors. Two workspace tensors may share bytes if
// no phase is in the lifetimes of both; barriers separate the phases. Local tensors follow the
// nesting of their Allocs like a stack, so tensors of consecutive Allocs may share bytes. Tensors
// of shared scope have a separate stack.
#include <algorithm>
#include <map>
#include <set>

#include "ir/loop_nest.h"
#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

constexpr int64_t kAlignment = 64;
// The alignment of shared storage, which is the number of bytes that all its banks deliver at once.
// A swizzle moves chunks within aligned blocks of this size.
constexpr int64_t kSharedAlignment = 128;

int64_t AlignedBytes(const Tensor& tensor, int64_t alignment = kAlignment) {
  return CeilDivide(StorageBytes(tensor), alignment) * alignment;
}

struct Lifetime {
  int first = 0;  // first and last phase that access the tensor
  int last = 0;
};

struct AllocatedRange {
  int64_t begin = 0;
  int64_t end = 0;
  Lifetime lifetime;
};

TensorId FollowAlias(const LoopNest& nest, TensorId tensor) {
  while (nest.tensors[tensor].alias) tensor = *nest.tensors[tensor].alias;
  return tensor;
}

std::map<TensorId, Lifetime> FindLifetimes(const LoopNest& nest) {
  std::map<TensorId, Lifetime> lifetimes;
  for (int phase = 0; phase < static_cast<int>(nest.phases.size()); ++phase) {
    VisitNodes(nest.phases[phase].body, [&](const NestNode& node) {
      ForEachAccess(node, [&](TensorId tensor, bool) {
        tensor = FollowAlias(nest, tensor);
        auto [it, fresh] = lifetimes.try_emplace(tensor, Lifetime{phase, phase});
        it->second.last = phase;
      });
    });
  }
  return lifetimes;
}

// Returns the lowest offset at which `bytes` overlap none of the allocated tensors whose lifetimes
// overlap `lifetime`.
int64_t FirstFit(const std::vector<AllocatedRange>& allocated, const Lifetime& lifetime,
                 int64_t bytes) {
  std::vector<AllocatedRange> rivals;
  for (const AllocatedRange& other : allocated) {
    const bool together =
        other.lifetime.first <= lifetime.last && lifetime.first <= other.lifetime.last;
    if (together) rivals.push_back(other);
  }
  std::ranges::sort(rivals, {}, &AllocatedRange::begin);
  int64_t offset = 0;
  for (const AllocatedRange& rival : rivals) {
    if (rival.begin - offset >= bytes) break;
    offset = std::max(offset, rival.end);
  }
  return offset;
}

void AssignWorkspaceOffsets(const LoopNest& nest, StoragePlan& plan) {
  const auto lifetimes = FindLifetimes(nest);
  std::vector<TensorId> order;
  for (const auto& [tensor, lifetime] : lifetimes) {
    if (nest.tensors[tensor].role == TensorRole::kWorkspace) order.push_back(tensor);
  }
  // Place large tensors first, because they are the hardest to fit.
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](TensorId t) { return AlignedBytes(nest.tensors[t]); });
  std::vector<AllocatedRange> allocated;
  for (const TensorId tensor : order) {
    const int64_t bytes = AlignedBytes(nest.tensors[tensor]);
    const Lifetime& lifetime = lifetimes.at(tensor);
    const int64_t offset = FirstFit(allocated, lifetime, bytes);
    allocated.push_back({offset, offset + bytes, lifetime});
    plan.offset[tensor] = offset;
    plan.workspace_bytes = std::max(plan.workspace_bytes, offset + bytes);
  }
}

bool IsInScratch(Scope scope) { return scope == Scope::kGlobal || scope == Scope::kPacked; }
bool IsShared(Scope scope) { return scope == Scope::kShared; }

// Places the tensors of Allocs whose scope `belongs` accepts, at offsets from `top` on, except
// aliases. Returns the end of the bytes in use. A tensor gets the largest offset of its Allocs.
int64_t AssignAllocOffsets(const LoopNest& nest, const Body& body, bool (*belongs)(Scope),
                           int64_t top, StoragePlan& plan) {
  int64_t most = top;
  for (const NestNode& node : body) {
    int64_t inner_top = top;
    const auto* alloc = std::get_if<Alloc>(&node.value);
    const bool allocated =
        alloc != nullptr && belongs(alloc->scope) && !nest.tensors[alloc->tensor].alias;
    if (allocated) {
      int64_t& offset = plan.offset[alloc->tensor];
      offset = std::max(offset, top);
      plan.scope[alloc->tensor] = alloc->scope;
      const int64_t alignment = IsShared(alloc->scope) ? kSharedAlignment : kAlignment;
      inner_top = offset + AlignedBytes(nest.tensors[alloc->tensor], alignment);
      most = std::max(most, inner_top);
    }
    ForEachBody(node, [&](const Body& inner) {
      most = std::max(most, AssignAllocOffsets(nest, inner, belongs, inner_top, plan));
    });
  }
  return most;
}

}  // namespace

StoragePlan PlanStorage(const LoopNest& nest) {
  StoragePlan plan;
  plan.offset.assign(nest.tensors.size(), -1);
  plan.scope.assign(nest.tensors.size(), Scope::kGlobal);
  AssignWorkspaceOffsets(nest, plan);
  // Repeat until no offset changes. If a later Alloc of a tensor increases the tensor's offset, the
  // tensors inside an earlier Alloc are placed anew.
  IdVector<TensorId, int64_t> before;
  do {
    before = plan.offset;
    plan.shared_bytes.clear();
    for (const Phase& phase : nest.phases) {
      plan.scratch_bytes =
          std::max(plan.scratch_bytes, AssignAllocOffsets(nest, phase.body, IsInScratch, 0, plan));
      plan.shared_bytes.push_back(AssignAllocOffsets(nest, phase.body, IsShared, 0, plan));
    }
  } while (before != plan.offset);
  for (const TensorId t : nest.tensors.ids()) {
    if (nest.tensors[t].alias) plan.offset[t] = plan.offset[FollowAlias(nest, t)];
  }
  return plan;
}

}  // namespace tunec
