// Tiles of a permutable band: every loop is cut, the loops over tiles go outside. None of its
// dependences has a negative part, so tiles may run in any order that respects it, too: where no
// loop over tiles is free of dependences, the tiles of one diagonal run at the same time.
#include "schedule/sketches/band_writer.h"

#include <algorithm>

namespace tunec {
namespace {

constexpr int64_t kTasksPerThread = 8;

class BandWriter {
 public:
  BandWriter(const BandPlan& plan, const BandChoice& choice, std::vector<LoopStep>& steps)
      : plan_(plan), choice_(choice), steps_(steps), order_(plan.order) {}

  void Write() {
    for (const SkewStep& skew : plan_.skews) Add(skew);
    for (size_t i = 0; i < plan_.loops.size(); ++i) Cut(i);
    Reorder();
    Isolate();
    Jam();
    if (choice_.form.tasks) Tasks();
    if (vector_) Add(VectorizeStep{*vector_});
    Peel();
  }

 private:
  // A loop of the band, or one over its tiles.
  struct Part {
    std::string name;
    int64_t extent = 0;
    bool coincident = false;
  };

  template <class T>
  void Add(T step) {
    steps_.emplace_back(std::move(step));
  }

  int64_t TileOf(size_t loop) const {
    const BandLoop& of = plan_.loops[loop];
    if (plan_.InBand(loop) && choice_.form.tiles) {
      return std::min(choice_.tiles[loop - plan_.band_begin], of.extent);
    }
    // Lanes and tasks of one loop, or lanes around loops.
    const bool lone = IsVector(loop) && plan_.LoneCoincident() == loop;
    const bool cut = lone && (choice_.form.tasks || loop + 1 < plan_.loops.size());
    return cut ? std::min(choice_.piece, of.extent) : of.extent;
  }

  bool IsVector(size_t loop) const { return choice_.form.lanes == loop; }

  void Cut(size_t loop) {
    const BandLoop& of = plan_.loops[loop];
    const int64_t tile = TileOf(loop);
    std::string inner = of.name;
    if (tile < of.extent) {
      Add(SplitStep{of.name, {tile}});
      tiles_.push_back({of.name + ".0", CeilDivide(of.extent, tile), of.coincident});
      if (of.extent % tile != 0) partial_.push_back(tiles_.back().name);
      inner = of.name + ".1";
      const auto at = std::ranges::find(order_, of.name);
      *at = tiles_.back().name;
      order_.insert(at + 1, inner);
    }
    if (IsVector(loop)) {
      vector_ = inner;
    } else if (loop < plan_.band_begin) {
      before_.push_back({inner, of.extent, of.coincident});
    } else {
      points_.push_back({inner, tile, of.coincident && plan_.InBand(loop)});
    }
  }

  // Loops that carry nothing come first, to become tasks.
  void Reorder() {
    const auto carries_nothing = [](const Part& part) { return part.coincident; };
    std::ranges::stable_partition(tiles_, carries_nothing);
    if (tiles_.empty() && plan_.band_end == plan_.loops.size()) {
      std::ranges::stable_partition(points_, carries_nothing);
    }
    ReorderStep wanted;
    for (const auto* parts : {&before_, &tiles_, &points_}) {
      for (const Part& part : *parts) wanted.loops.push_back(part.name);
    }
    if (vector_) wanted.loops.push_back(*vector_);
    if (wanted.loops != order_) Add(std::move(wanted));
  }

  // Slanted tiles are partial at both ends, which their bounds say.
  void Isolate() {
    if (!plan_.skews.empty() || plan_.has_conditions) return;
    for (const std::string& loop : partial_) Add(IsolateStep{loop});
  }

  // Where each iteration waits for the one before, those of a loop outside fill the time.
  void Jam() {
    if (!vector_ && tiles_.empty() && choice_.form.tasks && plan_.around_recurrence) JamRows();
    if (vector_ || tiles_.empty() || points_.size() < 2 || choice_.jam < 2) return;
    const Part& beside = points_[points_.size() - 2];
    if (beside.extent > choice_.jam) Add(UnrollJamStep{beside.name, choice_.jam});
  }

  // Few: the address of each is a register.
  void JamRows() {
    constexpr int64_t kRows = 4;
    const auto rows = std::ranges::find_if(points_, &Part::coincident);
    if (rows == points_.end() || rows + 1 == points_.end()) return;
    if (rows->extent < kRows * kTasksPerThread * choice_.threads) return;
    Add(UnrollJamStep{rows->name, kRows});
    rows->name += ".0";
    rows->extent = CeilDivide(rows->extent, kRows);
  }

  // Code of its own for each case.
  void Peel() {
    for (const size_t loop : plan_.cases) {
      const BandLoop& of = plan_.loops[loop];
      if (IsVector(loop) || TileOf(loop) < of.extent) continue;
      PeelStep peel{.loop = of.name};
      for (int64_t point = 1; point < of.extent; ++point) peel.points.push_back(point);
      Add(std::move(peel));
    }
  }

  void Tasks() {
    const std::vector<Part>& outer = tiles_.empty() ? points_ : tiles_;
    int64_t tasks = 1;
    size_t parallel = 0;
    while (parallel < outer.size() && outer[parallel].coincident &&
           tasks < kTasksPerThread * choice_.threads) {
      tasks *= outer[parallel++].extent;
    }
    if (parallel > 0) {
      for (const Part& loop : before_) Add(WavefrontStep{loop.name});
      for (size_t i = 0; i < parallel; ++i) Add(ParallelizeStep{outer[i].name});
    } else if (before_.empty() && tiles_.size() > 1) {
      Diagonals();
    }
  }

  // Along the two outermost loops over tiles. The one with fewer iterations counts the tasks: of
  // those that a diagonal does not have, there are fewer then.
  void Diagonals() {
    const bool first_is_longer = tiles_[0].extent > tiles_[1].extent;
    const std::string& longer = tiles_[first_is_longer ? 0 : 1].name;
    const std::string& shorter = tiles_[first_is_longer ? 1 : 0].name;
    const std::string wave = plan_.statement + ".wave";
    Add(SkewStep{longer, shorter, 1, wave});
    if (!first_is_longer) Add(ReorderStep{{wave, shorter}});
    Add(WavefrontStep{wave});
    Add(ParallelizeStep{shorter});
  }

  const BandPlan& plan_;
  const BandChoice& choice_;
  std::vector<LoopStep>& steps_;
  std::vector<std::string> order_;  // the statement's loops as they are, outermost first
  std::vector<Part> before_;        // loops outside the band
  std::vector<Part> tiles_;
  std::vector<Part> points_;  // in tiles, or not tiled; and loops inside the band
  std::vector<std::string> partial_;
  std::optional<std::string> vector_;
};

}  // namespace

void WriteBand(const BandPlan& plan, const BandChoice& choice, std::vector<LoopStep>& steps) {
  BandWriter(plan, choice, steps).Write();
}

}  // namespace tunec
