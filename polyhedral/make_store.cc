#include "polyhedral/make_store.h"

#include <utility>

namespace tunec {
namespace {

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
    read.guard->nonnegative = Undecided(read.guard->nonnegative).first;
    if (read.guard->nonnegative.empty()) read.guard.reset();
    return read;
  }

  // A condition that the ranges decide becomes a constant, and Simplify folds the select.
  Expr Rewrite(const Expr& value) const {
    const Expr decided = Transform(value, [&](const Expr& node) {
      if (node.kind() == ExprKind::kIndex) {
        return Expr::Index(ToNest(node.node().index[0]), node.type());
      }
      if (node.kind() != ExprKind::kHolds) return node;
      auto [open, impossible] = Undecided(node.node().index);
      if (impossible) return Expr::Constant(0, DataType::kBool);
      return Expr::Holds(std::move(open));
    });
    return Simplify(decided, FloatRules::kStrict);
  }

 private:
  IndexExpr ToNest(const IndexExpr& index) const {
    return site_.to_nest(Substitute(index, inverse_));
  }

  // The conditions that can fail, in terms of the nest, and whether one of all never holds.
  std::pair<std::vector<IndexExpr>, bool> Undecided(const std::vector<IndexExpr>& all) const {
    std::vector<IndexExpr> open;
    bool impossible = false;
    for (const IndexExpr& condition : all) {
      const IndexExpr over_loops = Simplify(Substitute(condition, inverse_), site_.ranges);
      const Interval bounds = BoundsOf(over_loops, site_.ranges);
      impossible |= bounds.hi < 0;
      if (bounds.lo < 0) open.push_back(site_.to_nest(over_loops));
    }
    return {std::move(open), impossible};
  }

  const std::vector<IndexExpr>& inverse_;
  const StoreSite& site_;
};

}  // namespace

Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site) {
  const StoreMaker maker(inverse, site);
  Store store{.statement = statement.name, .reducer = statement.reducer};
  for (const Read& read : statement.reads) store.reads.push_back(maker.Rewrite(read));
  for (Write write : statement.writes) {
    maker.Rewrite(write.index);
    store.writes.push_back(std::move(write));
  }
  for (const Expr& value : statement.values) store.values.push_back(maker.Rewrite(value));
  return store;
}

}  // namespace tunec
