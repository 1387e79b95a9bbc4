#include "ir/nest/sample_instances.h"

#include <algorithm>
#include <vector>

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

class Sampler {
 public:
  Sampler(size_t variables, const std::function<void(const SampledStore&)>& visit)
      : visit_(visit), point_(variables, 0) {}

  void InBody(const Body& body) {
    for (const NestNode& node : body) InNode(node);
  }

 private:
  void InNode(const NestNode& node) {
    Visit(
        node, [&](const Loop& loop) { InLoop(loop); },
        [&](const If& branch) {
          if (Holds(branch)) InBody(branch.body);
        },
        [&](const Alloc& alloc) { InBody(alloc.body); },
        [&](const Tile& tile) {
          tile_ = &tile;
          InBody(tile.body);
          tile_ = nullptr;
        },
        [&](const Roles& roles) {
          for (const Role& role : roles.roles) InBody(role.body);
        },
        [&](const Store& store) {
          visit_(
              {.store = store, .count = weight_, .loops = loops_, .point = point_, .tile = tile_});
        },
        [](const LeafNode auto&) {});
  }

  // Returns whether all conditions without loaded values hold.
  bool Holds(const If& branch) const {
    return std::ranges::none_of(branch.nonnegative, [&](const IndexExpr& condition) {
      return !condition.UsesLoaded() && Evaluate(condition, point_) < 0;
    });
  }

  void InLoop(const Loop& loop) {
    int64_t lower = INT64_MIN;
    for (const IndexExpr& bound : loop.lower) lower = std::max(lower, Evaluate(bound, point_));
    int64_t upper = INT64_MAX;
    for (const IndexExpr& bound : loop.upper) upper = std::min(upper, Evaluate(bound, point_));
    if (upper <= lower) return;
    const int64_t extent = upper - lower;
    const int64_t most = steps_ < kExactSteps ? kExactSteps : kSamples;
    const int64_t visited = !ShapesBody(loop.body, loop.var) ? 1 : std::min(extent, most);
    const double outer_weight = weight_;
    weight_ *= static_cast<double>(extent) / static_cast<double>(visited);
    loops_.push_back({&loop, extent});
    for (int64_t n = 0; n < visited; ++n) {
      ++steps_;
      // Several samples are spaced evenly over the range. They include the last iteration, which
      // may have a smaller tile.
      point_[loop.var.index()] = visited == 1 ? lower : lower + n * (extent - 1) / (visited - 1);
      InBody(loop.body);
    }
    loops_.pop_back();
    weight_ = outer_weight;
  }

  static constexpr int64_t kExactSteps = 4096;
  static constexpr int64_t kSamples = 4;
  const std::function<void(const SampledStore&)>& visit_;
  std::vector<int64_t> point_;
  std::vector<RunningLoop> loops_;
  const Tile* tile_ = nullptr;  // tile around the present node
  double weight_ = 1;
  int64_t steps_ = 0;
};

}  // namespace

void SampleInstances(const Body& body, size_t variables,
                     const std::function<void(const SampledStore&)>& visit) {
  Sampler(variables, visit).InBody(body);
}

}  // namespace tunec
