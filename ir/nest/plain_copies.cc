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

}  // namespace

LoopNest PlainCopies(const LoopNest& nest) {
  IdVector<VarId, std::string> variables = nest.variables;
  LoopNest result =
      Rewrite(nest, Overloaded{
                        [&](const AsyncCopy& copy) {
                          return Copy(copy, nest.tensors[copy.from.tensor].type, variables);
                        },
                        [](const Arrive&) { return Body(); },
                        [](const Wait&) { return Body(); },
                    });
  result.variables = std::move(variables);
  return result;
}

}  // namespace tunec
