#include "kernel/predict/warp_sectors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>
#include <set>

#include "kernel/predict/occupancy.h"
#include "kernel/predict/phase_work.h"

namespace tunec {
namespace {

bool UsesVar(const std::vector<IndexExpr>& index, VarId variable) {
  return std::ranges::any_of(index, [&](const IndexExpr& e) { return e.Uses(variable); });
}

int64_t LowerOf(const Loop& loop, std::span<const int64_t> point) {
  int64_t lower = INT64_MIN;
  for (const IndexExpr& bound : loop.lower) lower = std::max(lower, Evaluate(bound, point));
  return lower;
}

constexpr int64_t kAccessBytes = 16;  // largest number of bytes of one access of a thread

// A walk over threads, and over the lanes of the vector loops that the offset uses. The walk counts
// the pieces of memory, of `piece_bytes` bytes, that the accesses touch.
class WarpWalk {
 public:
  WarpWalk(IndexExpr offset, int64_t element_bytes, int64_t piece_bytes,
           const SampledStore& sampled)
      : offset_(std::move(offset)),
        element_bytes_(element_bytes),
        piece_bytes_(piece_bytes),
        loops_(sampled.loops),
        point_(sampled.point.begin(), sampled.point.end()) {}

  void VisitThread(const std::array<int64_t, 3>& thread) {
    for (const RunningLoop& running : loops_) {
      if (!IsBlock(running.loop->kind)) continue;
      const int64_t number = thread.at(BlockAxis(running.loop->kind));
      const int64_t lower = LowerOf(*running.loop, point_);
      if (number < lower || number >= lower + running.extent) return;
      point_[running.loop->var.index()] = number;
    }
    OfLanes(0);
  }

  double PiecesPerElement() const {
    if (elements_ == 0) return 1;
    return static_cast<double>(pieces_.size()) / static_cast<double>(elements_);
  }

 private:
  void OfLanes(size_t depth) {
    while (depth < loops_.size() && !HasLanes(*loops_[depth].loop)) ++depth;
    if (depth == loops_.size()) {
      ++elements_;
      pieces_.insert(FloorDivide(Evaluate(offset_, point_) * element_bytes_, piece_bytes_));
      return;
    }
    const Loop& loop = *loops_[depth].loop;
    const int64_t lower = LowerOf(loop, point_);
    for (int64_t lane = 0; lane < loops_[depth].extent; ++lane) {
      point_[loop.var.index()] = lower + lane;
      OfLanes(depth + 1);
    }
  }

  bool HasLanes(const Loop& loop) const {
    return loop.kind == LoopKind::kVector && offset_.Uses(loop.var);
  }

  IndexExpr offset_;
  int64_t element_bytes_;
  int64_t piece_bytes_;
  std::span<const RunningLoop> loops_;
  std::vector<int64_t> point_;
  std::set<int64_t> pieces_;
  int64_t elements_ = 0;
};

}  // namespace

double SectorsPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                         const SampledStore& sampled, const Launch& launch) {
  const IndexExpr offset = StorageOffset(tensor, index);
  if (offset.UsesLoaded()) return 1;
  WarpWalk walk(offset, static_cast<int64_t>(SizeOf(tensor.type)), kSectorBytes, sampled);
  for (int64_t t = 0; t < std::min(kWarpThreads, launch.Threads()); ++t) {
    walk.VisitThread({t % launch.block[0], t / launch.block[0] % launch.block[1],
                      t / (launch.block[0] * launch.block[1])});
  }
  return walk.PiecesPerElement();
}

double AccessesPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                          const SampledStore& sampled) {
  const IndexExpr offset = StorageOffset(tensor, index);
  if (offset.UsesLoaded()) return 1;
  WarpWalk walk(offset, static_cast<int64_t>(SizeOf(tensor.type)), kAccessBytes, sampled);
  walk.VisitThread({0, 0, 0});
  return walk.PiecesPerElement();
}

double RepeatsOf(const std::vector<IndexExpr>& index, const SampledStore& sampled) {
  double repeats = 1;
  bool unchanged = true;    // no loop so far changes the index
  bool only_copies = true;  // true while all loops so far are unrolled or vector loops
  for (const auto& [loop, extent] : std::views::reverse(sampled.loops)) {
    if (IsBlock(loop->kind)) continue;
    if (NumbersTasks(loop->kind)) break;
    const bool copies = loop->kind == LoopKind::kUnrolled || loop->kind == LoopKind::kVector;
    only_copies = only_copies && copies;
    if (!unchanged && !only_copies) break;
    if (UsesVar(index, loop->var)) {
      unchanged = false;
    } else {
      repeats *= static_cast<double>(extent);
    }
  }
  return repeats;
}

}  // namespace tunec
