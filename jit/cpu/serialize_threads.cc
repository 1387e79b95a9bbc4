// The pass converts the storage first, because this step needs the loops over threads. Then it
// converts copies, shuffles and loops.
#include "jit/cpu/serialize_threads.h"

#include <utility>

#include "ir/nest/plain_copies.h"
#include "ir/nest/plain_shuffles.h"
#include "ir/nest/rewrite_loop_nest.h"

namespace tunec {
namespace {

bool IsForThreads(const NestNode& node) {
  return Visit(
      node, [](const Loop& loop) { return IsGrid(loop.kind) || IsBlock(loop.kind); },
      [](const AsyncCopy&) { return true; }, [](const Arrive&) { return true; },
      [](const Wait&) { return true; }, [](const Barrier&) { return true; },
      [](const Shuffle&) { return true; }, [](const Store&) { return false; },
      [](const Prefetch&) { return false; }, [](const If&) { return false; },
      [](const Alloc& alloc) { return alloc.scope == Scope::kShared; },
      [](const Tile&) { return false; }, [](const Roles&) { return false; });
}

LoopNest StorageOfTasks(LoopNest nest) {
  return Rewrite(std::move(nest), [](Alloc alloc) {
    const bool of_several_threads = HoldsBlockLoop(alloc.body);
    if (alloc.scope == Scope::kShared || of_several_threads) alloc.scope = Scope::kPacked;
    alloc.swizzle = {};  // a CPU has no banks
    return alloc;
  });
}

LoopNest OneThread(LoopNest nest) {
  return Rewrite(std::move(nest), Overloaded{
                                      [](Loop loop) {
                                        if (IsGrid(loop.kind)) loop.kind = LoopKind::kParallel;
                                        if (IsBlock(loop.kind)) loop.kind = LoopKind::kSerial;
                                        return loop;
                                      },
                                      [](const Barrier&) { return Body(); },
                                  });
}

}  // namespace

LoopNest SerializeThreads(const LoopNest& nest) {
  bool any = false;
  for (const Phase& phase : nest.phases) {
    VisitNodes(phase.body, [&](const NestNode& node) { any |= IsForThreads(node); });
  }
  return any ? OneThread(PlainShuffles(PlainCopies(StorageOfTasks(nest)))) : nest;
}

}  // namespace tunec
