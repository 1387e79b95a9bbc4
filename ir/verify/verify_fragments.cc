// A check of the invariants of tiles that a warp executes, and of their accumulators.
//   Tiles of warps: the phase has 32 threads along x. A tile is outside of loops over x, where all
//   lanes run together. A loop over threads that contains a tile accesses tensors only in tiles.
//   All tiles that add to one accumulator have the same intrinsic.
//   Fragments: the last two dimensions are the tile's rows and columns. A store or shuffle that
//   touches an element runs in the lane that owns the element, for all values of the surrounding
//   loops.
//   Per-thread accumulators: the last dimension has as many elements as a lane owns. A tile's index
//   is 0 in this dimension, and the same for all lanes: it uses no variable of the tile's loops.
//
// The lanes of stores are checked for each value of the variables. More than kMostValues values are
// an error.
#include "ir/verify/verify_fragments.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ir/nest/loop_range.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"

namespace tunec {
namespace {

template <class... Args>
std::unexpected<Error> Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

constexpr int64_t kMostValues = int64_t{1} << 20;  // for all variables of an index together

class FragmentVerifier {
 public:
  explicit FragmentVerifier(const LoopNest& nest)
      : nest_(nest), intervals_(nest.variables.size(), kUnknownInterval) {}

  Status Run() {
    for (const Phase& phase : nest_.phases) {
      if (!HoldsWarpTile(phase.body)) continue;
      const int64_t lanes = LaunchOf(phase).block[0];
      if (lanes != kWarpThreads) {
        return Wrong("phase {}: {} threads along x, expected {} for a warp's tile", phase.name,
                     lanes, kWarpThreads);
      }
    }
    ForEach<Alloc>(nest_, [&](const Alloc& alloc) {
      if (alloc.per_thread) per_thread_.insert(alloc.tensor);
    });
    TUNEC_RETURN_IF_ERROR(FindFragments());
    if (tiles_.empty()) return {};
    for (const Phase& phase : nest_.phases) TUNEC_RETURN_IF_ERROR(Check(phase.body));
    return {};
  }

 private:
  // Finds the intrinsic that adds to each accumulator of a warp's tiles. Fails if several
  // intrinsics add to one accumulator.
  Status FindFragments() {
    Status status;
    ForEach<Tile>(nest_, [&](const Tile& tile) {
      const TileIntrinsic* intrinsic = WarpIntrinsicOf(tile);
      if (intrinsic == nullptr || !status) return;
      const auto parts = PartsOf(tile, nest_);
      if (!parts) {
        status = std::unexpected(parts.error());
        return;
      }
      const TensorId tensor = parts->store->writes[0].tensor;
      const TileIntrinsic* first = tiles_.try_emplace(tensor, intrinsic).first->second;
      if (first != intrinsic) {
        status = Wrong("{} is the accumulator of {} and of {}", nest_.tensors[tensor].name,
                       first->name, intrinsic->name);
      }
    });
    return status;
  }

  Status Check(const Body& body) {
    for (const NestNode& node : body) TUNEC_RETURN_IF_ERROR(Check(node));
    return {};
  }

  Status Check(const NestNode& node) {
    const auto inside = [&] {
      Status status;
      ForEachBody(node, [&](const Body& inner) {
        if (status) status = Check(inner);
      });
      return status;
    };
    return Visit(
        node, [&](const Loop& loop) { return CheckLoop(loop); },
        [&](const Tile& tile) { return CheckTile(tile); }, [&](const If&) { return inside(); },
        [&](const Alloc&) { return inside(); }, [&](const Roles&) { return inside(); },
        [&](const Store& store) { return CheckStore(store); },
        [&](const AsyncCopy& copy) -> Status {
          if (!tiles_.contains(copy.from.tensor) && !tiles_.contains(copy.to.tensor)) return {};
          return Wrong("async_copy of a fragment, which is in registers");
        },
        [&](const Shuffle& shuffle) -> Status {
          TUNEC_RETURN_IF_ERROR(CheckAccess("shuffle", shuffle.from.tensor, shuffle.from.index));
          return CheckAccess("shuffle", shuffle.to.tensor, shuffle.to.index);
        },
        [](const LeafNode auto&) -> Status { return {}; });
  }

  Status CheckLoop(const Loop& loop) {
    if (IsBlock(loop.kind) && HoldsWarpTile(loop.body)) {
      TUNEC_RETURN_IF_ERROR(CheckWarpLoop(loop));
    }
    Interval range = RangeOf(loop, [this](VarId v) { return intervals_[v]; });
    range.hi = std::max(range.lo, range.hi);
    const Interval saved = std::exchange(intervals_[loop.var], range);
    const auto outer = lane_;
    if (loop.kind == LoopKind::kBlockX) lane_ = loop.var;
    const Status status = Check(loop.body);
    lane_ = outer;
    intervals_[loop.var] = saved;
    return status;
  }

  // Checks a loop over threads around a tile: it must not be over x, and it may access tensors only
  // in tiles. Each tile contains one store.
  Status CheckWarpLoop(const Loop& loop) const {
    const std::string& name = nest_.variables[loop.var];
    if (loop.kind == LoopKind::kBlockX) {
      return Wrong("loop {} separates lanes, but the tile inside needs all lanes together", name);
    }
    int64_t stores = 0;
    int64_t of_tiles = 0;
    VisitNodes(loop.body, [&](const NestNode& node) {
      Visit(
          node, [&](const Store&) { ++stores; }, [&](const AsyncCopy&) { ++stores; },
          [&](const Prefetch&) { ++stores; }, [&](const Tile&) { ++of_tiles; }, [](const Loop&) {},
          [](const If&) {}, [](const Alloc&) {}, [](const Arrive&) {}, [](const Wait&) {},
          [](const Barrier&) {}, [&](const Shuffle&) { ++stores; }, [](const Roles&) {});
    });
    if (stores == of_tiles) return {};
    return Wrong("loop {} is over warps because a tile is inside, so it may contain only tiles",
                 name);
  }

  Status CheckTile(const Tile& tile) const {
    if (WarpIntrinsicOf(tile) == nullptr) return {};
    TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, nest_));
    const bool per_thread = per_thread_.contains(parts.store->writes[0].tensor);
    return per_thread ? CheckElementsOfLane(tile, parts) : CheckRowsAndColumns(tile, parts);
  }

  // Checks a tile whose accumulator is per thread. The accumulator's last dimension must have as
  // many elements as a lane owns. The last index must be 0. No index may use a loop of the tile.
  Status CheckElementsOfLane(const Tile& tile, const TileParts& parts) const {
    const Write& write = parts.store->writes[0];
    const Tensor& tensor = nest_.tensors[write.tensor];
    const int64_t elements = ElementsOfLane(*parts.intrinsic->accumulator.owners);
    if (tensor.shape.empty() || tensor.shape.back() != elements) {
      return Wrong("tile {}: the last dimension of {} does not have the {} elements of a lane",
                   tile.intrinsic, tensor.name, elements);
    }
    if (write.index.back() != IndexExpr(0)) {
      return Wrong("tile {}: the last index of {} is not 0", tile.intrinsic, tensor.name);
    }
    for (const Loop* loop : parts.loops) {
      const auto uses = [&](const IndexExpr& index) { return index.Uses(loop->var); };
      if (loop == nullptr || std::ranges::none_of(write.index, uses)) continue;
      return Wrong("tile {}: the index of {} uses {}, but all lanes have one index", tile.intrinsic,
                   tensor.name, nest_.variables[loop->var]);
    }
    return {};
  }

  // Checks that the last two indices of the accumulator are the variables of the tile's rows and
  // columns, plus multiples of the tile's extents.
  Status CheckRowsAndColumns(const Tile& tile, const TileParts& parts) const {
    const Write& write = parts.store->writes[0];
    const size_t rank = write.index.size();
    if (rank < 2) return Wrong("tile {}: the accumulator has no rows and columns", tile.intrinsic);
    constexpr std::array kAxes = {TileAxis::kRow, TileAxis::kColumn};
    for (size_t i = 0; i < kAxes.size(); ++i) {
      const TileAxis axis = kAxes.at(i);
      const VarId variable = parts.loops[static_cast<int>(axis)]->var;
      const IndexExpr& index = write.index[rank - kAxes.size() + i];
      if (IsMultiple(index - IndexExpr::Var(variable), parts.intrinsic->Extent(axis))) continue;
      return Wrong("tile {}: {} of {} are not aligned to a tile", tile.intrinsic, Name(axis),
                   nest_.tensors[write.tensor].name);
    }
    return {};
  }

  // Returns whether the constant and all coefficients of the index are multiples of `divisor`. The
  // index is then a multiple, too, for all values of the loop variables.
  static bool IsMultiple(const IndexExpr& index, int64_t divisor) {
    const auto divides = [&](const IndexTerm& term) { return term.coefficient % divisor == 0; };
    return index.constant() % divisor == 0 && std::ranges::all_of(index.terms(), divides);
  }

  Status CheckStore(const Store& store) const {
    const std::string who = fmt::format("store {}", store.statement);
    for (const Read& read : store.reads)
      TUNEC_RETURN_IF_ERROR(CheckAccess(who, read.tensor, read.index));
    for (const Write& write : store.writes)
      TUNEC_RETURN_IF_ERROR(CheckAccess(who, write.tensor, write.index));
    return {};
  }

  Status CheckAccess(std::string_view who, TensorId tensor,
                     const std::vector<IndexExpr>& index) const {
    const auto found = tiles_.find(tensor);
    if (found == tiles_.end() || per_thread_.contains(tensor)) return {};
    const Status status = CheckLane(*found->second, index);
    if (status) return {};
    return Wrong("{}: fragment {}: {}", who, nest_.tensors[tensor].name, status.error().message);
  }

  Status CheckLane(const TileIntrinsic& intrinsic, const std::vector<IndexExpr>& index) const {
    if (!lane_)
      return Wrong("access outside a loop over block.x, expected an access by the element's lane");
    const IndexExpr& row = index[index.size() - 2];
    const IndexExpr& column = index[index.size() - 1];
    const auto intervals = [this](VarId v) { return intervals_[v]; };
    const IndexExpr owner = Simplify(LaneOf(*intrinsic.accumulator.owners, row, column), intervals);
    const IndexExpr wrong = owner - IndexExpr::Var(*lane_);
    std::vector<VarId> variables;
    wrong.CollectVars(variables);
    std::vector<int64_t> values(intervals_.size(), 0);
    int64_t budget = kMostValues;
    return CheckZero(wrong, variables, values, budget);
  }

  // Checks that `wrong` is 0 for all values of `variables`. Fails if `budget`
  // values are not enough.
  Status CheckZero(const IndexExpr& wrong, std::span<const VarId> variables,
                   std::vector<int64_t>& values, int64_t& budget) const {
    if (variables.empty()) {
      const int64_t off = Evaluate(wrong, values);
      const int64_t lane = values[lane_->index()];
      if (off == 0) return {};
      return Wrong("lane {} touches an element of lane {}", lane, lane + off);
    }
    const VarId variable = variables.front();
    const Interval range = intervals_[variable];
    for (int64_t value = range.lo; value <= range.hi; ++value) {
      if (--budget < 0) return Wrong("the index has too many values to check");
      values[variable.index()] = value;
      TUNEC_RETURN_IF_ERROR(CheckZero(wrong, variables.subspan(1), values, budget));
    }
    return {};
  }

  const LoopNest& nest_;
  IdVector<VarId, Interval> intervals_;
  std::map<TensorId, const TileIntrinsic*> tiles_;  // by accumulator
  std::set<TensorId> per_thread_;                   // tensors whose Allocs are per thread
  std::optional<VarId> lane_;                       // variable of the surrounding loop over block.x
};

}  // namespace

Status VerifyFragments(const LoopNest& nest) { return FragmentVerifier(nest).Run(); }

}  // namespace tunec
