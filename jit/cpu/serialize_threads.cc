// First the storage, of which it has to be known which threads use it, then the threads themselves.
#include "jit/cpu/serialize_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/nest/rewrite_loop_nest.h"

namespace tunec {
namespace {

bool IsForThreads(const NestNode& node) {
  return Visit(
      node, [](const Loop& loop) { return IsGrid(loop.kind) || IsBlock(loop.kind); },
      [](const AsyncCopy&) { return true; }, [](const Arrive&) { return true; },
      [](const Wait&) { return true; }, [](const Barrier&) { return true; },
      [](const Store&) { return false; }, [](const Prefetch&) { return false; },
      [](const If&) { return false; }, [](const Alloc&) { return false; },
      [](const Tile&) { return false; }, [](const Roles&) { return false; });
}

LoopNest StorageOfTasks(LoopNest nest) {
  return Rewrite(std::move(nest), [](Alloc alloc) {
    const bool of_several_threads = HoldsBlockLoop(alloc.body);
    if (alloc.scope == Scope::kShared || of_several_threads) alloc.scope = Scope::kPacked;
    return alloc;
  });
}

VarId NewVariable(IdVector<VarId, std::string>& variables, size_t dimension) {
  std::string name = fmt::format("copied_{}", dimension);
  while (std::ranges::find(variables, name) != variables.end()) name += "_";
  return variables.push_back(std::move(name));
}

// A store, in loops over the box.
Body Copy(const AsyncCopy& copy, DataType type, IdVector<VarId, std::string>& all_variables) {
  Store store{.statement = "async_copy", .reads = {copy.from}, .writes = {copy.to}};
  store.values = {Expr::Read(0, type)};
  std::vector<VarId> variables;
  for (size_t d = 0; d < copy.extent.size(); ++d) {
    variables.push_back(NewVariable(all_variables, d));
    const IndexExpr within = IndexExpr::Var(variables.back());
    std::vector<IndexExpr>& from = store.reads[0].index;
    std::vector<IndexExpr>& to = store.writes[0].index;
    from[from.size() - copy.extent.size() + d] += within;
    to[to.size() - copy.extent.size() + d] += within;
  }
  Body body = BodyOf(std::move(store));
  for (size_t d = copy.extent.size(); d-- > 0;) {
    Loop loop{.var = variables[d], .lower = {IndexExpr(0)}, .upper = {IndexExpr(copy.extent[d])}};
    loop.body = std::move(body);
    body = BodyOf(std::move(loop));
  }
  return body;
}

LoopNest OneThread(LoopNest nest) {
  IdVector<VarId, std::string> variables = nest.variables;
  const Tensors& tensors = nest.tensors;
  LoopNest result =
      Rewrite(nest, Overloaded{
                        [](Loop loop) {
                          if (IsGrid(loop.kind)) loop.kind = LoopKind::kParallel;
                          if (IsBlock(loop.kind)) loop.kind = LoopKind::kSerial;
                          return loop;
                        },
                        [&](const AsyncCopy& copy) {
                          return Copy(copy, tensors[copy.from.tensor].type, variables);
                        },
                        [](const Arrive&) { return Body(); },
                        [](const Wait&) { return Body(); },
                        [](const Barrier&) { return Body(); },
                    });
  result.variables = std::move(variables);
  return result;
}

}  // namespace

LoopNest SerializeThreads(const LoopNest& nest) {
  bool any = false;
  for (const Phase& phase : nest.phases) {
    VisitNodes(phase.body, [&](const NestNode& node) { any |= IsForThreads(node); });
  }
  return any ? OneThread(StorageOfTasks(nest)) : nest;
}

}  // namespace tunec
