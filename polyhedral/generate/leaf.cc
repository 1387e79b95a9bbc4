// The generation of stores, asynchronous copies and prefetches from a leaf of the tree. The values
// of all enclosing loops are known.
#include "polyhedral/generate/generator.h"
#include "polyhedral/generate/make_store.h"

namespace tunec {
namespace {

StoreSite SiteOf(const ScheduleTree& tree, StatementId id, const Conditions& conditions) {
  return {.ranges = conditions.Ranges(),
          .to_nest = [&conditions](const IndexExpr& i) { return conditions.ToNest(i); },
          .non_temporal = tree.non_temporal[id]};
}

}  // namespace

Body PrefetchesOf(const ScheduleTree& tree, StatementId id, const Conditions& conditions) {
  const Statement& statement = tree.statements[id];
  Body body;
  for (const auto& [loop, forward] : tree.forward[id]) {
    for (const LoopPrefetch& prefetch : tree.loops[loop].prefetches) {
      const auto add = [&](const auto& access, bool for_write) {
        if (access.tensor != prefetch.tensor) return;
        Prefetch ahead{.address = {access.tensor, access.index},
                       .level = prefetch.level,
                       .for_write = for_write};
        for (IndexExpr& index : ahead.address.index) {
          index = Substitute(Substitute(index, tree.inverse[id]), [&](VarId v) {
            return IndexExpr::Var(v) + (v == loop ? prefetch.distance : 0);
          });
          index = conditions.ToNest(index);
        }
        body.emplace_back(std::move(ahead));
      };
      for (const Read& read : statement.reads) add(read, false);
      for (const Write& write : statement.writes) add(write, true);
    }
  }
  return body;
}

Store InstanceOf(const ScheduleTree& tree, StatementId id, const Conditions& conditions) {
  return MakeStore(tree.statements[id], tree.inverse[id], SiteOf(tree, id, conditions));
}

Body GenerateLeaf(const ScheduleTree& tree, StatementId id, const Context& context) {
  const Statement& statement = tree.statements[id];
  const Effects effects = EffectsOf(tree.tensors, statement);
  if (effects.conditional) {
    Body body = PrefetchesOf(tree, id, context.conditions);
    Append(body, MakeConditionalStores(statement, effects, tree.inverse[id],
                                       SiteOf(tree, id, context.conditions)));
    return body;
  }
  Store store = InstanceOf(tree, id, context.conditions);
  if (context.token) {
    return BodyOf(AsyncCopy{*context.token, store.reads[0], store.writes[0], {}});
  }
  Body body = PrefetchesOf(tree, id, context.conditions);
  body.emplace_back(std::move(store));
  return body;
}

}  // namespace tunec
