// Multiply-adds that a LoopNest executes. A loop whose variable no inner bound or condition
// mentions multiplies what is inside it; any other is walked, evenly sampled once a walk
// has become long (tile loops with a ragged last tile stay exact).
#include <algorithm>
#include <set>

#include "ir/loop_nest.h"
#include "ir/multiply_add.h"
#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

bool UsesAny(const std::vector<IndexExpr>& exprs, VarId variable) {
  return std::ranges::any_of(exprs, [&](const IndexExpr& e) { return e.Uses(variable); });
}

bool ShapesBody(const Body& body, VarId variable) {
  bool found = false;
  VisitNodes(body, [&](const NestNode& node) {
    found |= Visit(
        node,
        [&](const Loop& loop) {
          return UsesAny(loop.lower, variable) || UsesAny(loop.upper, variable);
        },
        [&](const If& branch) { return UsesAny(branch.nonnegative, variable); },
        [](const Alloc&) { return false; }, [](const Tile&) { return false; },
        [](const Roles&) { return false; }, [](const LeafNode auto&) { return false; });
  });
  return found;
}

double MultiplyAddsOf(const Store& store) {
  double count = 0;
  VisitMultiplyAdds(store.values, store.reducer, [&](const MultiplyAdd&) { count += 1; });
  return count;
}

class Counter {
 public:
  explicit Counter(size_t variables) : point_(variables, 0) {}

  double InBody(const Body& body, bool in_vector) {
    double count = 0;
    for (const NestNode& node : body) count += InNode(node, in_vector);
    return count;
  }
  double vector() const { return vector_; }

 private:
  double InNode(const NestNode& node, bool in_vector) {
    return Visit(
        node, [&](const Loop& loop) { return InLoop(loop, in_vector); },
        [&](const If& branch) { return Holds(branch) ? InBody(branch.body, in_vector) : 0; },
        [&](const Alloc& alloc) { return InBody(alloc.body, in_vector); },
        [&](const Tile& tile) { return InBody(tile.body, in_vector); },
        [&](const Roles& roles) {
          double count = 0;
          for (const Role& role : roles.roles) count += InBody(role.body, in_vector);
          return count;
        },
        [&](const Store& store) {
          const double count = MultiplyAddsOf(store);
          if (in_vector) vector_ += count * weight_;
          return count;
        },
        [](const LeafNode auto&) { return 0.0; });
  }

  // As far as it is known.
  bool Holds(const If& branch) const {
    return std::ranges::none_of(branch.nonnegative, [&](const IndexExpr& condition) {
      return !condition.UsesLoaded() && Evaluate(condition, point_) < 0;
    });
  }

  double InLoop(const Loop& loop, bool in_vector) {
    int64_t lower = INT64_MIN;
    for (const IndexExpr& bound : loop.lower) lower = std::max(lower, Evaluate(bound, point_));
    int64_t upper = INT64_MAX;
    for (const IndexExpr& bound : loop.upper) upper = std::min(upper, Evaluate(bound, point_));
    if (upper <= lower) return 0;
    const int64_t extent = upper - lower;
    const int64_t most = steps_ < kExactSteps ? kExactSteps : kSamples;
    const int64_t visited = !ShapesBody(loop.body, loop.var) ? 1 : std::min(extent, most);
    const double outer_weight = weight_;
    const double share = static_cast<double>(extent) / static_cast<double>(visited);
    weight_ *= share;
    double count = 0;
    for (int64_t n = 0; n < visited; ++n) {
      ++steps_;
      // Evenly over the range, its last iteration included: there the ragged tile is.
      point_[loop.var.index()] = visited == 1 ? lower : lower + n * (extent - 1) / (visited - 1);
      count += InBody(loop.body, in_vector || loop.kind == LoopKind::kVector);
    }
    weight_ = outer_weight;
    return count * share;
  }

  static constexpr int64_t kExactSteps = 4096;
  static constexpr int64_t kSamples = 4;
  std::vector<int64_t> point_;
  double weight_ = 1;
  double vector_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

MultiplyAdds CountMultiplyAdds(const LoopNest& nest) {
  MultiplyAdds result;
  Counter counter(nest.variables.size());
  for (const Phase& phase : nest.phases) result.total += counter.InBody(phase.body, false);
  result.vector = counter.vector();
  return result;
}

}  // namespace tunec
