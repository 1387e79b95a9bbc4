// Tiles of a permutable band: each loop longer than its tile is split, and the loops over tiles are
// the outer loops. No dependence of the band has a negative component, so no dependence between
// tiles has one either. If every loop over tiles carries a dependence, the tiles of one diagonal
// run at the same time.
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
  // A loop of the statement, or a loop over tiles.
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
    // The lanes' loop may be the band's only coincident loop. It is then split if the parts become
    // tasks, or if other loops are inside.
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

  // Adds the order of the loops. Coincident loops over tiles come first, so that they become tasks.
  // If nothing is tiled and the band is innermost, the same holds for its loops.
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

  // Isolates the complete tiles of split loops. Does nothing for a statement with conditions or
  // skews. Skewed tiles are partial at both ends, and the bounds of their loops depend on the tile.
  void Isolate() {
    if (!plan_.skews.empty() || plan_.has_conditions) return;
    for (const std::string& loop : partial_) Add(IsolateStep{loop});
  }

  // Jams iterations of an outer loop, if there is no vector loop. The jammed iterations fill the
  // time in which an inner iteration waits for the previous one.
  void Jam() {
    if (!vector_ && tiles_.empty() && choice_.form.tasks && plan_.around_recurrence) JamRows();
    if (vector_ || tiles_.empty() || points_.size() < 2 || choice_.jam < 2) return;
    const Part& beside = points_[points_.size() - 2];
    if (beside.extent > choice_.jam) Add(UnrollJamStep{beside.name, choice_.jam});
  }

  // Jams four iterations of the first coincident loop, if enough tasks remain. A larger number
  // would need too many registers for the addresses of the iterations.
  void JamRows() {
    constexpr int64_t kRows = 4;
    const auto rows = std::ranges::find_if(points_, &Part::coincident);
    if (rows == points_.end() || rows + 1 == points_.end()) return;
    if (rows->extent < kRows * kTasksPerThread * choice_.threads) return;
    Add(UnrollJamStep{rows->name, kRows});
    rows->name += ".0";
    rows->extent = CeilDivide(rows->extent, kRows);
  }

  // Generates separate code for each iteration of the loops in `cases`.
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

  // Runs the diagonals of the two outermost loops over tiles one after the other. The tiles of a
  // diagonal are tasks. The shorter loop gives the tasks, because fewer tasks of a diagonal are
  // then empty.
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
  std::vector<std::string> order_;  // current loops of the statement, outermost first
  std::vector<Part> before_;        // loops outside the band
  std::vector<Part> tiles_;
  std::vector<Part> points_;  // loops in tiles or not tiled, and loops inside the band
  std::vector<std::string> partial_;
  std::optional<std::string> vector_;
};

}  // namespace

void WriteBand(const BandPlan& plan, const BandChoice& choice, std::vector<LoopStep>& steps) {
  BandWriter(plan, choice, steps).Write();
}

}  // namespace tunec
