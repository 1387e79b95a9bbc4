#include "polyhedral/generate/make_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tunec {
namespace {

struct OpenConditions {
  std::vector<IndexExpr> open;  // conditions that can fail, over the nest's variables
  bool impossible = false;      // one condition is never true
};

class StoreMaker {
 public:
  StoreMaker(const std::vector<IndexExpr>& inverse, const StoreSite& site)
      : inverse_(inverse), site_(site) {}

  void Rewrite(std::vector<IndexExpr>& all) const {
    for (IndexExpr& index : all) index = ToNest(index);
  }

  Read Rewrite(Read read) const {
    Rewrite(read.index);
    if (!read.guard) return read;
    read.guard->nonnegative = Undecided(read.guard->nonnegative).open;
    if (read.guard->nonnegative.empty()) read.guard.reset();
    return read;
  }

  // Rewrites a value over the nest's variables. Removes conditions that the ranges prove. A `holds`
  // with a condition that the ranges disprove becomes false, and Simplify folds its select.
  Expr Rewrite(const Expr& value) const {
    const Expr decided = Transform(value, [&](const Expr& node) {
      if (node.kind() == ExprKind::kIndex) {
        return Expr::Index(ToNest(node.node().index[0]), node.type());
      }
      if (node.kind() != ExprKind::kHolds) return node;
      OpenConditions conditions = Undecided(node.node().index);
      if (conditions.impossible) return Expr::Constant(0, DataType::kBool);
      return Expr::Holds(std::move(conditions.open));
    });
    return Simplify(decided);
  }

  OpenConditions Undecided(const std::vector<IndexExpr>& all) const {
    OpenConditions conditions;
    for (const IndexExpr& condition : all) {
      const IndexExpr over_loops = Simplify(Substitute(condition, inverse_), site_.ranges);
      const Interval bounds = BoundsOf(over_loops, site_.ranges);
      conditions.impossible |= bounds.hi < 0;
      if (bounds.lo < 0) conditions.open.push_back(site_.to_nest(over_loops));
    }
    return conditions;
  }

 private:
  IndexExpr ToNest(const IndexExpr& index) const {
    return site_.to_nest(Substitute(index, inverse_));
  }

  const std::vector<IndexExpr>& inverse_;
  const StoreSite& site_;
};

// Removes the reads that the store's values do not use, and renumbers the others.
void DropUnusedReads(Store& store) {
  std::vector<int> slots(store.reads.size(), -1);
  std::vector<Read> used;
  for (Expr& value : store.values) {
    value = ReplaceReads(value, [&](int slot, DataType type) {
      if (slots[slot] < 0) {
        slots[slot] = static_cast<int>(used.size());
        used.push_back(store.reads[slot]);
      }
      return Expr::Read(slots[slot], type);
    });
  }
  store.reads = std::move(used);
}

}  // namespace

Body MakeConditionalStores(const Statement& statement, const Effects& effects,
                           const std::vector<IndexExpr>& inverse, const StoreSite& site) {
  const StoreMaker maker(inverse, site);
  Body body;
  for (size_t k = 0; k < statement.writes.size(); ++k) {
    OpenConditions when = maker.Undecided(effects.writes[k].when);
    if (when.impossible) continue;
    Statement single = statement;
    single.writes = {statement.writes[k]};
    single.values = {effects.writes[k].value};
    Store store = MakeStore(single, inverse, site);
    DropUnusedReads(store);
    Body own;
    own.emplace_back(std::move(store));
    if (when.open.empty()) {
      std::ranges::move(own, std::back_inserter(body));
    } else {
      body.emplace_back(If{std::move(when.open), std::move(own)});
    }
  }
  return body;
}

Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site) {
  const StoreMaker maker(inverse, site);
  Store store{
      .statement = statement.name, .reducer = statement.reducer, .non_temporal = site.non_temporal};
  for (const Read& read : statement.reads) store.reads.push_back(maker.Rewrite(read));
  for (Write write : statement.writes) {
    maker.Rewrite(write.index);
    store.writes.push_back(std::move(write));
  }
  for (const Expr& value : statement.values) store.values.push_back(maker.Rewrite(value));
  return store;
}

}  // namespace tunec
