#include "ir/nest/plain_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/nest/rewrite_loop_nest.h"

namespace tunec {
namespace {

VarId NewVariable(IdVector<VarId, std::string>& variables, size_t dimension) {
  std::string name = fmt::format("copied_{}", dimension);
  while (std::ranges::find(variables, name) != variables.end()) name += "_";
  return variables.push_back(std::move(name));
}

// Returns loops over the elements of the copy, around inside(c), where c copies the element of one
// iteration. Adds the loop variables to `all_variables`.
template <class Inside>
Body InLoops(AsyncCopy copy, LoopKind innermost, IdVector<VarId, std::string>& all_variables,
             const Inside& inside) {
  const std::vector<int64_t> extent = std::exchange(copy.extent, {});
  std::vector<VarId> variables;
  for (size_t d = 0; d < extent.size(); ++d) {
    variables.push_back(NewVariable(all_variables, d));
    const IndexExpr within = IndexExpr::Var(variables.back());
    std::vector<IndexExpr>& from = copy.from.index;
    std::vector<IndexExpr>& to = copy.to.index;
    from[from.size() - extent.size() + d] += within;
    to[to.size() - extent.size() + d] += within;
  }
  Body body = BodyOf(inside(std::move(copy)));
  for (size_t d = extent.size(); d-- > 0;) {
    Loop loop{.var = variables[d],
              .kind = d + 1 == extent.size() ? innermost : LoopKind::kSerial,
              .lower = {IndexExpr(0)},
              .upper = {IndexExpr(extent[d])}};
    loop.body = std::move(body);
    body = BodyOf(std::move(loop));
  }
  return body;
}

Body Plain(const AsyncCopy& copy, DataType type, IdVector<VarId, std::string>& variables) {
  return InLoops(copy, LoopKind::kSerial, variables, [&](AsyncCopy one) {
    Store store{.statement = "async_copy", .reads = {std::move(one.from)}, .writes = {one.to}};
    store.values = {Expr::Read(0, type)};
    return store;
  });
}

}  // namespace

LoopNest PlainCopies(const LoopNest& nest, const std::set<int>& retained_tokens) {
  IdVector<VarId, std::string> variables = nest.variables;
  const auto if_retained = [&](const auto& node) {
    return retained_tokens.contains(node.token) ? BodyOf(node) : Body();
  };
  LoopNest result =
      Rewrite(nest, Overloaded{
                        [&](const AsyncCopy& copy) {
                          return retained_tokens.contains(copy.token)
                                     ? BodyOf(copy)
                                     : Plain(copy, nest.tensors[copy.from.tensor].type, variables);
                        },
                        [&](const Arrive& arrive) { return if_retained(arrive); },
                        [&](const Wait& wait) { return if_retained(wait); },
                    });
  result.variables = std::move(variables);
  return result;
}

LoopNest ElementCopies(const LoopNest& nest) {
  IdVector<VarId, std::string> variables = nest.variables;
  const auto in_loops = [&](LoopKind innermost) {
    return [&variables, innermost](const AsyncCopy& copy) {
      return InLoops(copy, innermost, variables, [](AsyncCopy one) { return one; });
    };
  };
  // First rewrites the copies inside vector loops, with serial loops only, then all other copies.
  auto inside_vectors = in_loops(LoopKind::kSerial);
  LoopNest result = Rewrite(nest, [&](Loop loop) {
    if (loop.kind == LoopKind::kVector)
      loop.body = RewriteBody(std::move(loop.body), inside_vectors);
    return loop;
  });
  result = Rewrite(std::move(result), in_loops(LoopKind::kVector));
  result.variables = std::move(variables);
  return result;
}

}  // namespace tunec
