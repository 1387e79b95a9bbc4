#include "ir/nest/plain_shuffles.h"

#include <utility>

#include "ir/nest/rewrite_loop_nest.h"

namespace tunec {
namespace {

// Returns the number `thread` with its bit `distance`, a power of two, inverted. The result is
// thread + distance if the bit is 0, and thread - distance if the bit is 1.
IndexExpr PartnerOf(const IndexExpr& thread, int64_t distance) {
  const IndexExpr bit =
      IndexExpr::FloorDiv(thread, distance) - IndexExpr::FloorDiv(thread, 2 * distance) * 2;
  return thread + distance - bit * (2 * distance);
}

// Returns the shuffle as a store that copies the element of the partner thread.
Store StoreOf(const Shuffle& shuffle, const Tensors& tensors) {
  Store store{.statement = "shuffle", .reads = {shuffle.from}, .writes = {shuffle.to}};
  const IndexExpr partner = PartnerOf(IndexExpr::Var(shuffle.thread), shuffle.distance);
  for (IndexExpr& index : store.reads[0].index) {
    index = Substitute(index,
                       [&](VarId v) { return v == shuffle.thread ? partner : IndexExpr::Var(v); });
  }
  store.values = {Expr::Read(0, tensors[shuffle.from.tensor].type)};
  return store;
}

}  // namespace

LoopNest PlainShuffles(LoopNest nest) {
  const Tensors tensors = nest.tensors;
  return Rewrite(std::move(nest),
                 [&](const Shuffle& shuffle) { return StoreOf(shuffle, tensors); });
}

}  // namespace tunec
