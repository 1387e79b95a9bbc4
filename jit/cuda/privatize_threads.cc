// The pass visits the nest twice. The first visit finds how the number of a thread appears in the
// indices of private tensors. The second visit removes the number from the indices.
#include "jit/cuda/privatize_threads.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/nest/loop_range.h"
#include "ir/nest/rewrite_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "support/check.h"

namespace tunec {
namespace {

using Index = std::vector<IndexExpr>;
using Axes = std::array<bool, 3>;

struct ThreadLoop {
  size_t axis = 0;
  bool of_several = false;  // the loop has several threads; otherwise the thread's number is 0
};

// One dimension of a private tensor. An index is the sum of an offset of the thread and an offset
// within the thread's part.
struct Dimension {
  IndexExpr thread;  // in variables 0, 1, 2: the thread's numbers along x, y, z
  Axes axes = {};    // axes that have several threads at the access that gave `thread`
  Interval own = {kUnbounded, -kUnbounded};
};

// Returns the intrinsics of warp tiles, by the fragments that the tiles add to.
std::map<TensorId, const TileIntrinsic*> TilesByFragment(const LoopNest& nest) {
  std::map<TensorId, const TileIntrinsic*> tiles;
  ForEach<Tile>(nest, [&](const Tile& tile) {
    const TileIntrinsic* intrinsic = WarpIntrinsicOf(tile);
    if (intrinsic == nullptr) return;
    ForEach<Store>(tile.body,
                   [&](const Store& store) { tiles[store.writes[0].tensor] = intrinsic; });
  });
  return tiles;
}

class ThreadPrivatizer {
 public:
  explicit ThreadPrivatizer(const LoopNest& nest)
      : nest_(nest),
        tiles_(TilesByFragment(nest)),
        intervals_(nest.variables.size(), kUnknownInterval) {}

  Result<LoopNest> Run() {
    for (const Phase& phase : nest_.phases) TUNEC_RETURN_IF_ERROR(See(phase.body, false));
    TUNEC_RETURN_IF_ERROR(CheckVariables());
    TUNEC_RETURN_IF_ERROR(CheckFragments());
    if (dimensions_.empty()) return nest_;
    LoopNest result = nest_;
    for (const auto& [tensor, dimensions] : dimensions_) {
      Tensor& own = result.tensors[tensor];
      own.layout = {};
      for (size_t d = 0; d < dimensions.size(); ++d)
        own.shape[d] = std::max<int64_t>(dimensions[d].own.hi - dimensions[d].own.lo + 1, 1);
      const auto tile = tiles_.find(tensor);
      if (tile != tiles_.end()) ShrinkToRegisters(own, *tile->second);
    }
    return Rewrite(std::move(result), Overloaded{
                                          [&](Alloc alloc) {
                                            alloc.per_thread = dimensions_.contains(alloc.tensor);
                                            if (tiles_.contains(alloc.tensor))
                                              alloc.scope = Scope::kRegister;
                                            return alloc;
                                          },
                                          [&](Tile tile) { return OfLanes(std::move(tile)); },
                                          [&](Store store) {
                                            for (Read& read : store.reads) TakeOut(read);
                                            for (Write& write : store.writes) TakeOut(write);
                                            return store;
                                          },
                                          [&](Shuffle shuffle) {
                                            TakeOut(shuffle.from);
                                            TakeOut(shuffle.to);
                                            return shuffle;
                                          },
                                          [&](AsyncCopy copy) {
                                            TakeOut(copy.from);
                                            TakeOut(copy.to);
                                            return copy;
                                          },
                                          [&](Prefetch prefetch) {
                                            TakeOut(prefetch.address);
                                            return prefetch;
                                          },
                                      });
  }

 private:
  IntervalOf Intervals() const {
    return [this](VarId v) { return intervals_[v]; };
  }

  // --- first visit: the accesses ---

  Status See(const Body& body, bool in_threads) {
    for (const NestNode& node : body) TUNEC_RETURN_IF_ERROR(See(node, in_threads));
    return {};
  }

  Status See(const NestNode& node, bool in_threads) {
    const auto inside = [&](bool threads) {
      Status status;
      ForEachBody(node, [&](const Body& inner) {
        if (status) status = See(inner, threads);
      });
      return status;
    };
    return Visit(
        node, [&](const Loop& loop) { return SeeLoop(loop, in_threads); },
        [&](const Alloc& alloc) -> Status {
          const bool of_threads =
              IsPrivate(alloc.scope) && !in_threads && HoldsBlockLoop(alloc.body);
          if (alloc.scope == Scope::kFragment)
            TUNEC_RETURN_IF_ERROR(SeeFragment(alloc, of_threads));
          if (of_threads)
            dimensions_[alloc.tensor].resize(nest_.tensors[alloc.tensor].shape.size());
          return inside(in_threads);
        },
        [&](const Store& store) -> Status {
          for (const Read& read : store.reads) TUNEC_RETURN_IF_ERROR(SeeAccess(read));
          for (const Write& write : store.writes) TUNEC_RETURN_IF_ERROR(SeeAccess(write));
          return {};
        },
        [&](const AsyncCopy& copy) -> Status {
          TUNEC_RETURN_IF_ERROR(SeeAccess(copy.from, copy.extent));
          return SeeAccess(copy.to, copy.extent);
        },
        [&](const Prefetch& prefetch) { return SeeAccess(prefetch.address); },
        [&](const Shuffle& shuffle) -> Status {
          TUNEC_RETURN_IF_ERROR(SeeAccess(shuffle.from));
          return SeeAccess(shuffle.to);
        },
        [&](const If&) { return inside(in_threads); },
        [&](const Tile&) { return inside(in_threads); },
        [&](const Roles&) { return inside(in_threads); },
        [](const LeafNode auto&) -> Status { return {}; });
  }

  Status SeeFragment(const Alloc& alloc, bool of_threads) const {
    const std::string& name = nest_.tensors[alloc.tensor].name;
    if (!tiles_.contains(alloc.tensor))
      return Fail(ErrorCode::kUnsupported, "no tile assigns the elements of {} to lanes", name);
    if (of_threads) return {};
    return Fail(ErrorCode::kUnsupported, "fragment {} is inside a loop over threads", name);
  }

  Status SeeLoop(const Loop& loop, bool in_threads) {
    Interval range = RangeOf(loop, Intervals());
    range.hi = std::max(range.lo, range.hi);
    const Interval saved = std::exchange(intervals_[loop.var], range);
    if (IsBlock(loop.kind)) thread_loops_[loop.var] = {BlockAxis(loop.kind), range.hi > 0};
    const Status status = See(loop.body, in_threads || IsBlock(loop.kind));
    thread_loops_.erase(loop.var);
    intervals_[loop.var] = saved;
    return status;
  }

  template <class Access>
  Status SeeAccess(const Access& access, const std::vector<int64_t>& extents = {}) {
    const auto found = dimensions_.find(access.tensor);
    if (found == dimensions_.end()) return {};
    for (size_t d = 0; d < access.index.size(); ++d) {
      const size_t from_end = access.index.size() - d;
      const int64_t extent = from_end <= extents.size() ? extents[extents.size() - from_end] : 1;
      const Status seen = SeeIndex(access.index[d], extent, found->second[d]);
      if (!seen) {
        return Fail(seen.error().code, "{} storage of each thread, index {}: {}",
                    nest_.tensors[access.tensor].name, d, seen.error().message);
      }
    }
    return {};
  }

  Status SeeIndex(const IndexExpr& index, int64_t extent, Dimension& dimension) {
    const IndexExpr own = OwnPart(index);
    TUNEC_ASSIGN(const IndexExpr thread, ThreadPart(index - own));
    const Axes axes = AxesHere();
    if (dimension.own.lo > dimension.own.hi) {
      dimension.thread = thread;
      dimension.axes = axes;
    } else if (Of(thread, dimension.axes) != Of(dimension.thread, axes)) {
      return Fail(ErrorCode::kUnsupported, "two accesses assign an element to different threads");
    } else if (std::ranges::count(axes, true) > std::ranges::count(dimension.axes, true)) {
      dimension.thread = thread;
      dimension.axes = axes;
    }
    const Interval range = BoundsOf(own, Intervals());
    if (range.lo <= -kUnbounded || range.hi >= kUnbounded)
      return Fail(ErrorCode::kUnsupported, "the index has no bounds");
    dimension.own.lo = std::min(dimension.own.lo, range.lo);
    dimension.own.hi = std::max(dimension.own.hi, range.hi + extent - 1);
    return {};
  }

  // Returns the part of the index that does not depend on the thread. It is the index with all
  // thread numbers set to 0.
  IndexExpr OwnPart(const IndexExpr& index) const {
    const IndexExpr own = Substitute(index, [&](VarId v) {
      return thread_loops_.contains(v) ? IndexExpr(0) : IndexExpr::Var(v);
    });
    return Simplify(own, Intervals());
  }

  // Converts `rest`, the index without its own part, to the variables of Dimension::thread. Fails
  // if `rest` depends on more than the thread's numbers.
  Result<IndexExpr> ThreadPart(const IndexExpr& rest) const {
    const IndexExpr thread = Simplify(rest, Intervals());
    std::vector<VarId> variables;
    thread.CollectVars(variables);
    const bool mixed =
        std::ranges::any_of(variables, [&](VarId v) { return !thread_loops_.contains(v); });
    if (mixed || thread.UsesLoaded())
      return Fail(ErrorCode::kUnsupported, "the index mixes the thread's number and other loops");
    return Substitute(thread,
                      [&](VarId v) { return IndexExpr::Var(VarId(thread_loops_.at(v).axis)); });
  }

  Axes AxesHere() const {
    Axes axes = {};
    for (const auto& [variable, loop] : thread_loops_) axes.at(loop.axis) |= loop.of_several;
    return axes;
  }

  // Returns `thread` with 0 in place of the number along each axis that is not in `axes`. Along
  // such an axis, only thread 0 makes the access that gave `axes`.
  static IndexExpr Of(const IndexExpr& thread, const Axes& axes) {
    return Substitute(thread, [&](VarId axis) {
      return axes.at(axis.index()) ? IndexExpr::Var(axis) : IndexExpr(0);
    });
  }

  // --- second visit: the rewritten nest ---

  template <class Access>
  void TakeOut(Access& access) const {
    const auto found = dimensions_.find(access.tensor);
    if (found == dimensions_.end()) return;
    for (size_t d = 0; d < access.index.size(); ++d) {
      const IndexExpr own = Substitute(access.index[d], [&](VarId v) {
        return of_threads_.contains(v) ? IndexExpr(0) : IndexExpr::Var(v);
      });
      access.index[d] = own - found->second[d].own.lo;
    }
    const auto tile = tiles_.find(access.tensor);
    if (tile != tiles_.end()) TakeElement(access.index, *tile->second);
  }

  // Replaces an element's row and column by the numbers of the tile and of the lane's element:
  //     [..., row, column] -> [..., floor(row/16), floor(column/8), element]
  static void TakeElement(Index& index, const TileIntrinsic& tile) {
    const size_t rank = index.size();
    const IndexExpr row = index[rank - 2];
    const IndexExpr column = index[rank - 1];
    index[rank - 2] = IndexExpr::FloorDiv(row, tile.Extent(TileAxis::kRow));
    index[rank - 1] = IndexExpr::FloorDiv(column, tile.Extent(TileAxis::kColumn));
    index.push_back(ElementOf(*tile.accumulator.owners, row, column));
  }

  // Returns the tile with 0 in place of its loop variables in the accumulator's index. All lanes
  // then have the same index. Returns other tiles than those of warps unchanged.
  Tile OfLanes(Tile tile) const {
    if (WarpIntrinsicOf(tile) == nullptr) return tile;
    std::set<VarId> variables;
    ForEach<Loop>(tile.body, [&](const Loop& loop) { variables.insert(loop.var); });
    const auto at_first = [&](Store store) {
      for (IndexExpr& index : store.writes[0].index) {
        index = Substitute(index, [&](VarId v) {
          return variables.contains(v) ? IndexExpr(0) : IndexExpr::Var(v);
        });
      }
      return store;
    };
    tile.body = RewriteBody(std::move(tile.body), at_first);
    return tile;
  }

  static void ShrinkToRegisters(Tensor& fragment, const TileIntrinsic& tile) {
    const size_t rank = fragment.shape.size();
    int64_t& rows = fragment.shape[rank - 2];
    int64_t& columns = fragment.shape[rank - 1];
    rows = CeilDivide(rows, tile.Extent(TileAxis::kRow));
    columns = CeilDivide(columns, tile.Extent(TileAxis::kColumn));
    fragment.shape.push_back(ElementsOfLane(*tile.accumulator.owners));
  }

  // Checks that the accessed part of each fragment begins at a tile. The new indices count tiles
  // from the beginning of this part.
  Status CheckFragments() const {
    for (const auto& [tensor, tile] : tiles_) {
      const auto found = dimensions_.find(tensor);
      const size_t rank = nest_.tensors[tensor].shape.size();
      TUNEC_CHECK(found != dimensions_.end() && rank >= 2, "a tile outside of its fragment");
      const bool whole = found->second[rank - 2].own.lo % tile->Extent(TileAxis::kRow) == 0 &&
                         found->second[rank - 1].own.lo % tile->Extent(TileAxis::kColumn) == 0;
      if (!whole) {
        return Fail(ErrorCode::kUnsupported, "fragment {} begins within a tile",
                    nest_.tensors[tensor].name);
      }
    }
    return {};
  }

  // Fails if a variable numbers threads in one loop but not in another. All occurrences of such a
  // variable in the indices would be removed.
  Status CheckVariables() const {
    Status status;
    ForEach<Loop>(nest_, [&](const Loop& loop) {
      if (!of_threads_.contains(loop.var) || IsBlock(loop.kind)) return;
      status = Fail(ErrorCode::kUnsupported, "{} is a thread's number in one loop, not in another",
                    nest_.variables[loop.var]);
    });
    return status;
  }

  std::set<VarId> VariablesOfThreads() const {
    std::set<VarId> variables;
    ForEach<Loop>(nest_, [&](const Loop& loop) {
      if (IsBlock(loop.kind)) variables.insert(loop.var);
    });
    return variables;
  }

  const LoopNest& nest_;
  const std::map<TensorId, const TileIntrinsic*> tiles_;  // by the fragment that they add to
  IdVector<VarId, Interval> intervals_;
  std::map<VarId, ThreadLoop> thread_loops_;  // loops around the current node
  const std::set<VarId> of_threads_ = VariablesOfThreads();
  std::map<TensorId, std::vector<Dimension>>
      dimensions_;  // dimensions of the tensors that become private
};

}  // namespace

Result<LoopNest> PrivatizeThreads(const LoopNest& nest) { return ThreadPrivatizer(nest).Run(); }

}  // namespace tunec
