#include "jit/cuda/limits.h"

#include <algorithm>
#include <array>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

constexpr int64_t kMostThreads = 1024;  // threads of a block
constexpr int64_t kMostThreadsAlongZ = 64;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;  // along x, the axis of all blocks
constexpr int64_t kMostRegisters = 255;                  // registers of a thread
constexpr int64_t kRegisterBytes = 4;

struct Limit {
  const char* what;
  int64_t used = 0;
  int64_t most = 0;
};

Status Check(const Limit& limit, const Phase& phase, const Accelerator& device) {
  if (limit.used <= limit.most) return {};
  return Fail(ErrorCode::kResourceLimit, "phase {} has {} {}, {} has at most {}", phase.name,
              limit.used, limit.what, device.name, limit.most);
}

// Returns whether storage of the scope is meant for registers. A fragment's registers are those of
// a warp's lanes.
bool IsRegisters(Scope scope) { return scope == Scope::kRegister || scope == Scope::kFragment; }

// Returns the largest number of bytes of register tensors and fragments that one thread has at
// once. Storage around the loops over threads is divided among the threads, unless it is per
// thread.
int64_t RegisterBytes(const Body& body, const LoopNest& nest, int64_t threads) {
  int64_t most = 0;
  for (const NestNode& node : body) {
    const auto* const loop = std::get_if<Loop>(&node.value);
    const auto* const alloc = std::get_if<Alloc>(&node.value);
    const bool own =
        alloc != nullptr && IsRegisters(alloc->scope) && !nest.tensors[alloc->tensor].alias;
    const bool over_threads = loop != nullptr && IsBlock(loop->kind);
    int64_t inside = 0;
    ForEachBody(node, [&](const Body& inner) {
      inside = std::max(inside, RegisterBytes(inner, nest, over_threads ? 1 : threads));
    });
    const int64_t bytes = own ? StorageBytes(nest.tensors[alloc->tensor]) : 0;
    const bool shared_out = own && !alloc->per_thread && HoldsBlockLoop(alloc->body);
    most = std::max(most, inside + (shared_out ? bytes / threads : bytes));
  }
  return most;
}

}  // namespace

Status CheckLaunchLimits(const LoopNest& nest, const Accelerator& device) {
  const StoragePlan plan = PlanStorage(nest);
  for (size_t p = 0; p < nest.phases.size(); ++p) {
    const Phase& phase = nest.phases[p];
    const Launch launch = LaunchOf(phase);
    const int64_t tasks = CountTasks(phase);
    const int64_t blocks = tasks == 0 ? 0 : tasks / CountWaves(phase);
    for (const Limit& limit :
         {Limit{"threads a block", launch.Threads(), kMostThreads},
          Limit{"threads a block along z", launch.block[2], kMostThreadsAlongZ},
          Limit{"bytes that a block shares", plan.shared_bytes[p], device.shared_bytes},
          Limit{"blocks", blocks, kMostBlocks}}) {
      TUNEC_RETURN_IF_ERROR(Check(limit, phase, device));
    }
  }
  return {};
}

int64_t LeastRegisters(const Phase& phase, const LoopNest& nest) {
  return RegisterBytes(phase.body, nest, LaunchOf(phase).Threads()) / kRegisterBytes;
}

Status CheckRegisters(const LoopNest& nest, const Accelerator& device) {
  for (const Phase& phase : nest.phases) {
    const int64_t least = LeastRegisters(phase, nest);
    TUNEC_RETURN_IF_ERROR(
        Check({"registers a thread at least", least, kMostRegisters}, phase, device));
    if (device.registers == 0) continue;
    TUNEC_RETURN_IF_ERROR(
        Check({"registers a block at least", least * LaunchOf(phase).Threads(), device.registers},
              phase, device));
  }
  return {};
}

}  // namespace tunec
