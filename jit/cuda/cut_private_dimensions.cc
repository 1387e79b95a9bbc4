// The first walk over the nest finds the periods of the dimensions of private tensors. A period is
// the number of elements that a row of threads covers. The second walk splits the indices by the
// periods.
#include "jit/cuda/cut_private_dimensions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/nest/loop_range.h"
#include "ir/nest/rewrite_loop_nest.h"

namespace tunec {
namespace {

using Index = std::vector<IndexExpr>;

struct ThreadPeriod {
  int64_t period = 0;  // elements that one row of threads covers; 0: not known from any access
  bool rejected = false;
};

class DimensionCutter {
 public:
  explicit DimensionCutter(const LoopNest& nest)
      : nest_(nest), intervals_(nest.variables.size(), kUnknownInterval) {}

  LoopNest Run() {
    for (const Phase& phase : nest_.phases) See(phase.body, false);
    std::erase_if(turns_, [&](const auto& entry) { return !IsWorthCutting(entry.first); });
    if (turns_.empty()) return nest_;
    LoopNest result = nest_;
    for (const auto& [tensor, dimensions] : turns_) {
      Tensor& cut = result.tensors[tensor];
      cut.layout = {};
      const std::vector<int64_t> shape = std::exchange(cut.shape, {});
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t period = PeriodOf(tensor, d);
        if (period > 0) cut.shape.push_back(CeilDivide(shape[d], period));
        cut.shape.push_back(period > 0 ? period : shape[d]);
      }
    }
    for (Phase& phase : result.phases) Cut(phase.body);
    return result;
  }

 private:
  IntervalOf Intervals() const {
    return [this](VarId v) { return intervals_[v]; };
  }

  // Returns the period by which the dimension is split, or 0 if it is not split.
  int64_t PeriodOf(TensorId tensor, size_t d) const {
    const ThreadPeriod& turns = turns_.at(tensor)[d];
    return !turns.rejected && turns.period < nest_.tensors[tensor].shape[d] ? turns.period : 0;
  }

  bool IsWorthCutting(TensorId tensor) const {
    for (size_t d = 0; d < turns_.at(tensor).size(); ++d)
      if (PeriodOf(tensor, d) > 0) return true;
    return false;
  }

  // Calls `walk` for each body directly inside the node. If the node is a loop, `intervals_` has
  // the range of its variable during the call. If it is a loop over threads, `threads_` has the
  // variable.
  template <class Node, class Walk>
  void Enter(Node& node, const Walk& walk) {
    auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr) return ForEachBody(node, walk);
    Interval range = RangeOf(*loop, Intervals());
    range.hi = std::max(range.lo, range.hi);
    const Interval saved = std::exchange(intervals_[loop->var], range);
    if (IsBlock(loop->kind)) threads_.insert(loop->var);
    walk(loop->body);
    if (IsBlock(loop->kind)) threads_.erase(loop->var);
    intervals_[loop->var] = saved;
  }

  void See(const Body& body, bool in_threads) {
    for (const NestNode& node : body) {
      if (const auto* alloc = std::get_if<Alloc>(&node.value)) {
        // A fragment's last two dimensions must remain the rows and columns of its tiles.
        const bool may_cut = IsPrivate(alloc->scope) && alloc->scope != Scope::kFragment;
        if (may_cut && !in_threads && HoldsBlockLoop(alloc->body))
          turns_[alloc->tensor].resize(nest_.tensors[alloc->tensor].shape.size());
      }
      // The dimensions of the tensors of an asynchronous copy stay unchanged.
      if (const auto* copy = std::get_if<AsyncCopy>(&node.value)) {
        for (const TensorId tensor : {copy->from.tensor, copy->to.tensor})
          if (const auto found = turns_.find(tensor); found != turns_.end())
            for (ThreadPeriod& turns : found->second) turns.rejected = true;
      }
      ForEachIndex(node, [&](TensorId tensor, const Index& index) {
        const auto found = turns_.find(tensor);
        if (found == turns_.end()) return;
        for (size_t d = 0; d < index.size(); ++d) SeeIndex(index[d], found->second[d]);
      });
      const auto* loop = std::get_if<Loop>(&node.value);
      const bool inside = in_threads || (loop != nullptr && IsBlock(loop->kind));
      Enter(node, [&](const Body& inner) { See(inner, inside); });
    }
  }

  void SeeIndex(const IndexExpr& index, ThreadPeriod& turns) const {
    std::optional<int64_t> period;
    for (const VarId thread : threads_) {
      const int64_t step = index.Coefficient(thread);
      if (step == 0 || intervals_[thread].hi == 0) continue;
      if (step < 0 || period) {
        turns.rejected = true;
        return;
      }
      period = step * (intervals_[thread].hi + 1);
    }
    if (!period) {
      turns.rejected |= UsesThread(index);
      return;
    }
    if (turns.period != 0 && turns.period != *period) turns.rejected = true;
    turns.period = *period;
    turns.rejected |= UsesThread(Simplify(IndexExpr::FloorDiv(index, *period), Intervals()));
  }

  bool UsesThread(const IndexExpr& index) const {
    return std::ranges::any_of(
        threads_, [&](VarId thread) { return intervals_[thread].hi > 0 && index.Uses(thread); });
  }

  void Cut(Body& body) {
    for (NestNode& node : body) {
      ForEachIndex(node, [&](TensorId tensor, Index& index) {
        if (turns_.contains(tensor)) index = CutIndex(tensor, index);
      });
      Enter(node, [&](Body& inner) { Cut(inner); });
    }
  }

  Index CutIndex(TensorId tensor, const Index& index) const {
    Index cut;
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t period = PeriodOf(tensor, d);
      if (period == 0) {
        cut.push_back(index[d]);
        continue;
      }
      const IndexExpr turn = Simplify(IndexExpr::FloorDiv(index[d], period), Intervals());
      cut.push_back(turn);
      cut.push_back(Simplify(index[d] - turn * period, Intervals()));
    }
    return cut;
  }

  // Calls `take` for each index of the node itself, if it is a Store, Shuffle or Prefetch.
  template <class Node, class Take>
  static void ForEachIndex(Node& node, const Take& take) {
    Visit(node, [&](auto& leaf) {
      using Kind = std::remove_cvref_t<decltype(leaf)>;
      if constexpr (std::same_as<Kind, Store>) {
        for (auto& read : leaf.reads) take(read.tensor, read.index);
        for (auto& write : leaf.writes) take(write.tensor, write.index);
      } else if constexpr (std::same_as<Kind, Shuffle>) {
        take(leaf.from.tensor, leaf.from.index);
        take(leaf.to.tensor, leaf.to.index);
      } else if constexpr (std::same_as<Kind, Prefetch>) {
        take(leaf.address.tensor, leaf.address.index);
      }
    });
  }

  const LoopNest& nest_;
  IdVector<VarId, Interval> intervals_;
  std::set<VarId> threads_;  // block loops around the current node
  std::map<TensorId, std::vector<ThreadPeriod>> turns_;
};

}  // namespace

LoopNest CutPrivateDimensions(const LoopNest& nest) { return DimensionCutter(nest).Run(); }

}  // namespace tunec
