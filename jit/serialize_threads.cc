#include "jit/serialize_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/visit_loop_nest.h"

namespace tunec {
namespace {

bool IsForThreads(const NestNode& node) {
  if (const auto* loop = std::get_if<Loop>(&node.value)) {
    return IsGrid(loop->kind) || IsBlock(loop->kind);
  }
  return std::holds_alternative<AsyncCopy>(node.value) ||
         std::holds_alternative<Arrive>(node.value) || std::holds_alternative<Wait>(node.value) ||
         std::holds_alternative<Barrier>(node.value);
}

class Serializer {
 public:
  explicit Serializer(const LoopNest& nest) : nest_(nest) {}

  LoopNest Run() {
    for (Phase& phase : nest_.phases) phase.body = Rewrite(phase.body);
    return std::move(nest_);
  }

 private:
  Body Rewrite(const Body& body) {
    Body result;
    for (const NestNode& node : body) {
      const bool gone = std::holds_alternative<Arrive>(node.value) ||
                        std::holds_alternative<Wait>(node.value) ||
                        std::holds_alternative<Barrier>(node.value);
      if (!gone) result.push_back(Rewrite(node));
    }
    return result;
  }

  NestNode Rewrite(const NestNode& node) {
    if (const auto* copy = std::get_if<AsyncCopy>(&node.value)) return Copy(*copy);
    NestNode result = node;
    if (auto* loop = std::get_if<Loop>(&result.value)) {
      if (IsGrid(loop->kind)) loop->kind = LoopKind::kParallel;
      if (IsBlock(loop->kind)) loop->kind = LoopKind::kSerial;
      loop->body = Rewrite(loop->body);
    } else if (auto* branch = std::get_if<If>(&result.value)) {
      branch->body = Rewrite(branch->body);
    } else if (auto* alloc = std::get_if<Alloc>(&result.value)) {
      const bool of_several_threads = HoldsBlockLoop(alloc->body);
      if (alloc->scope == Scope::kShared || of_several_threads) alloc->scope = Scope::kPacked;
      alloc->body = Rewrite(alloc->body);
    }
    return result;
  }

  VarId NewVariable(size_t dimension) {
    std::string name = fmt::format("copied_{}", dimension);
    while (std::ranges::find(nest_.variables, name) != nest_.variables.end()) name += "_";
    nest_.variables.push_back(std::move(name));
    return static_cast<VarId>(nest_.variables.size() - 1);
  }

  // A store, in loops over the box.
  NestNode Copy(const AsyncCopy& copy) {
    Store store{.statement = "async_copy", .reads = {copy.from}, .writes = {copy.to}};
    store.values = {Expr::Read(0, nest_.tensors[copy.from.tensor].type)};
    std::vector<VarId> variables;
    for (size_t d = 0; d < copy.extent.size(); ++d) {
      variables.push_back(NewVariable(d));
      const IndexExpr within = IndexExpr::Var(variables.back());
      std::vector<IndexExpr>& from = store.reads[0].index;
      std::vector<IndexExpr>& to = store.writes[0].index;
      from[from.size() - copy.extent.size() + d] += within;
      to[to.size() - copy.extent.size() + d] += within;
    }
    NestNode node{std::move(store)};
    for (size_t d = copy.extent.size(); d-- > 0;) {
      Loop loop{.var = variables[d], .lower = {IndexExpr(0)}, .upper = {IndexExpr(copy.extent[d])}};
      loop.body.push_back(std::move(node));
      node = NestNode{std::move(loop)};
    }
    return node;
  }

  LoopNest nest_;
};

}  // namespace

LoopNest SerializeThreads(const LoopNest& nest) {
  bool any = false;
  for (const Phase& phase : nest.phases) {
    VisitNodes(phase.body, [&](const NestNode& node) { any |= IsForThreads(node); });
  }
  return any ? Serializer(nest).Run() : nest;
}

}  // namespace tunec
