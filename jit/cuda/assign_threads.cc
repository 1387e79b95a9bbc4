// The pass wraps sequences of nodes in loops over threads if IsForAll is false for each node. The
// sequences are as long as possible. The pass adds missing axes to chains of loops over threads.
#include "jit/cuda/assign_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "ir/nest/rewrite_loop_nest.h"
#include "ir/tile_intrinsic.h"

namespace tunec {
namespace {

constexpr std::array kAxes = {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ};
using Axes = std::array<bool, 3>;

bool IsAny(const Axes& axes) { return axes[0] || axes[1] || axes[2]; }

// Returns whether the node or a node inside it must not be limited to thread 0. Such nodes are, for
// example, loops over threads, barriers and tiles of warps.
bool IsForAll(const NestNode& node) {
  bool for_all = false;
  VisitNodes({node}, [&](const NestNode& inner) {
    for_all |= Visit(
        inner, [](const Loop& loop) { return IsBlock(loop.kind) || NumbersTasks(loop.kind); },
        [](const Alloc& alloc) { return alloc.scope == Scope::kShared; },
        [](const Arrive&) { return true; }, [](const Wait&) { return true; },
        [](const Barrier&) { return true; }, [](const Shuffle&) { return true; },
        [](const Roles&) { return true; }, [](const If&) { return false; },
        [](const Tile& tile) { return WarpIntrinsicOf(tile) != nullptr; },
        [](const Store&) { return false; }, [](const Prefetch&) { return false; },
        [](const AsyncCopy&) { return false; });
  });
  return for_all;
}

class ThreadAssigner {
 public:
  explicit ThreadAssigner(const LoopNest& nest) : nest_(nest) {}

  LoopNest Run() {
    LoopNest result = nest_;
    for (Phase& phase : result.phases) {
      const Launch launch = LaunchOf(phase);
      Axes axes = {};
      for (size_t axis = 0; axis < axes.size(); ++axis) axes.at(axis) = launch.block.at(axis) > 1;
      if (IsAny(axes)) phase.body = Assigned(std::move(phase.body), axes);
    }
    result.variables = std::move(variables_);
    return result;
  }

 private:
  // Returns the body with its work inside loops over threads. `axes` are the axes along which the
  // phase has several threads.
  Body Assigned(Body body, const Axes& axes) {
    Body result;
    Body alone;  // consecutive nodes of thread 0
    const auto finish = [&] {
      if (!alone.empty()) Append(result, OfThread0(std::exchange(alone, {}), axes));
    };
    for (NestNode& node : body) {
      if (!IsForAll(node)) {
        alone.push_back(std::move(node));
        continue;
      }
      finish();
      if (auto* loop = std::get_if<Loop>(&node.value); loop != nullptr && IsBlock(loop->kind)) {
        *loop = Completed(std::move(*loop), axes);
      } else if (std::holds_alternative<Tile>(node.value)) {
        Append(result, OfWarp0(BodyOf(std::move(std::get<Tile>(node.value))), axes));
        continue;
      } else {
        ForEachBody(node, [&](Body& inner) { inner = Assigned(std::move(inner), axes); });
      }
      result.push_back(std::move(node));
    }
    finish();
    return result;
  }

  // Adds the missing axes to a chain of loops over threads, but never x around a tile of a warp.
  Loop Completed(Loop loop, Axes axes) {
    axes.at(BlockAxis(loop.kind)) = false;
    auto* inner = loop.body.size() == 1 ? std::get_if<Loop>(&loop.body[0].value) : nullptr;
    if (inner != nullptr && IsBlock(inner->kind)) {
      *inner = Completed(std::move(*inner), axes);
    } else if (HoldsWarpTile(loop.body)) {
      loop.body = OfWarp0(std::move(loop.body), axes);
    } else {
      loop.body = OfThread0(std::move(loop.body), axes);
    }
    return loop;
  }

  // Wraps tiles of warps in loops of one iteration over the `axes` except x. All threads along x
  // execute such a tile together.
  Body OfWarp0(Body body, Axes axes) {
    axes[0] = false;
    return OfThread0(std::move(body), axes);
  }

  Body OfThread0(Body body, const Axes& axes) {
    for (size_t axis = axes.size(); axis-- > 0;) {
      if (!axes.at(axis)) continue;
      Loop loop{.var = Variable(axis), .kind = kAxes.at(axis)};
      loop.lower = {IndexExpr(0)};
      loop.upper = {IndexExpr(1)};
      loop.body = std::move(body);
      body = BodyOf(std::move(loop));
    }
    return body;
  }

  VarId Variable(size_t axis) {
    std::optional<VarId>& variable = of_axis_.at(axis);
    if (!variable) {
      std::string name = fmt::format("thread_{}", "xyz"[axis]);
      while (std::ranges::find(variables_, name) != variables_.end()) name += "_";
      variable = variables_.push_back(std::move(name));
    }
    return *variable;
  }

  const LoopNest& nest_;
  IdVector<VarId, std::string> variables_ = nest_.variables;
  std::array<std::optional<VarId>, 3> of_axis_;
};

}  // namespace

LoopNest AssignThreads(const LoopNest& nest) { return ThreadAssigner(nest).Run(); }

}  // namespace tunec
