// These sketches serve lowerings that no other kind fits: recurrences, stencils over time,
// eliminations. For each statement, isl's scheduler proposes skews and bands of loops that can be
// tiled together (band_plan.h). The steps follow the proposal, in the first of several forms that
// is useful and legal.
#include <algorithm>

#include "polyhedral/legality/legality.h"
#include "schedule/apply.h"
#include "schedule/sketches/band_writer.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

// A combination of tiles, tasks and lanes.
struct FormKind {
  bool tiles = false;
  bool tasks = false;
  bool lanes = false;
};
// The most promising combination comes first.
constexpr FormKind kForms[] = {
    {.tiles = true, .tasks = true, .lanes = true},
    {.tiles = true, .tasks = true},
    {.tiles = true, .lanes = true},
    {.tasks = true, .lanes = true},
    {.tasks = true},
    {.lanes = true},
};

std::vector<BandForm> FormsOf(const BandPlan& plan) {
  std::vector<BandForm> forms;
  for (const FormKind& kind : kForms) {
    if (kind.tiles && !plan.reuses) continue;
    if (!kind.lanes) forms.push_back({.tiles = kind.tiles, .tasks = kind.tasks, .lanes = {}});
    for (size_t i = 0; kind.lanes && i < plan.vectors.size(); ++i) {
      forms.push_back({.tiles = kind.tiles, .tasks = kind.tasks, .lanes = plan.vectors[i]});
    }
  }
  return forms;
}

// Quota of isl's operations for one query. A proposal must not cost more than its gain. The kernels
// of PolyBench need up to 500'000 operations (heat-3d, adi), and a larger quota finds no more for
// them.
constexpr unsigned long kOperations = 2'000'000;

constexpr int64_t kLeastTile = 4;
constexpr int64_t kLargestTile = 512;
constexpr int64_t kVectorsPerTile = 16;
constexpr int64_t kVectorsAcross = 2;
constexpr int64_t kMostPointsPerTile = 32;  // along a loop that is not the innermost
constexpr int64_t kBytesPerPoint = 8;       // two float32 values: before and after

struct StatementBand {
  BandPlan plan;
  BandForm form;
};

// One choice for each band.
using BandChoices = std::vector<BandChoice>;

Schedule WriteBands(const std::string& lowering, const std::vector<StatementBand>& bands,
                    const BandChoices& choices) {
  Schedule schedule{.lowering = lowering};
  for (size_t b = 0; b < bands.size(); ++b) {
    WriteBand(bands[b].plan, choices[b], schedule.loop_steps);
  }
  return schedule;
}

// Returns a knob for the tile of a loop: powers of two, and the whole loop. The initial choice is
// the largest power of two that is at most `wanted`.
Knob TileKnob(const BandLoop& loop, int64_t wanted) {
  Knob knob{.name = loop.name};
  for (int64_t tile = kLeastTile; tile < std::min(loop.extent, 2 * kLargestTile); tile *= 2) {
    if (tile <= wanted) knob.initial = static_cast<int>(knob.choices.size());
    knob.choices.push_back(tile);
  }
  knob.choices.push_back(loop.extent);
  return knob;
}

// Returns true unless the step changes only the order of iterations.
bool BringsSomething(const LoopStep& step) {
  return !std::holds_alternative<SkewStep>(step) && !std::holds_alternative<ReorderStep>(step);
}

class Builder {
 public:
  Builder(const NamedCompute& lowering, const Target& target)
      : compute_(lowering.compute),
        tree_(OriginalTree(lowering.compute)),
        dependences_(Dependences::Of(tree_.tensors, tree_.statements, kOperations)) {
    lowering_ = lowering.name;
    lanes_ = target.host.Lanes(4);
    l2_bytes_ = target.host.l2_bytes;
    threads_ = target.host.threads;
  }

  std::optional<Sketch> Build() {
    const Result<AffineSchedule> proposed =
        ProposeSchedule(dependences_, StatementFusion::kSeparate);
    if (!proposed) return std::nullopt;
    for (const StatementId s : tree_.statements.ids()) {
      auto plan = PlanBand(*proposed, compute_, tree_.statements[s], s);
      if (plan) Add(std::move(*plan));
    }
    if (bands_.empty()) return std::nullopt;
    return MakeSketch("affine", KnobsOfAll(),
                      [lowering = lowering_, bands = bands_](const BandChoices& choices) {
                        return WriteBands(lowering, bands, choices);
                      });
  }

 private:
  // Adds the band in the first form that is useful and legal (IsOfUse). Adds nothing if all forms
  // fail, or if isl exceeds its quota.
  void Add(BandPlan plan) {
    exhausted_ = false;
    const size_t before = Initial().loop_steps.size();
    const std::vector<BandForm> forms = FormsOf(plan);
    bands_.push_back({std::move(plan), {}});
    for (const BandForm& form : forms) {
      bands_.back().form = form;
      if (IsOfUse(before)) return;
      if (exhausted_) break;  // the other forms cost as much
    }
    bands_.pop_back();
  }

  // Returns the tile's number of iterations along all loops but the long one (AddKnobs). One
  // iteration of the tile's outermost loop should touch at most half of the L2 cache.
  int64_t PointsPerTile(size_t loops) const {
    int64_t points = kMostPointsPerTile;
    const auto bytes = [&] {
      int64_t size = kBytesPerPoint * kVectorsPerTile * lanes_;
      for (size_t i = 2; i < loops; ++i) size *= points;
      return size;
    };
    while (points > kLeastTile && bytes() > l2_bytes_ / 2) points /= 2;
    return points;
  }

  // Returns BandChoice::piece. If other loops are inside the lanes' loop, the piece is short,
  // because each of their iterations walks the whole piece.
  int64_t PieceOf(const StatementBand& band) const {
    const bool innermost = band.form.lanes && *band.form.lanes + 1 == band.plan.loops.size();
    return lanes_ * (innermost ? kVectorsPerTile : kVectorsAcross);
  }

  Knobs<BandChoices> KnobsOfAll() const {
    BandChoices fixed;
    for (const StatementBand& band : bands_) {
      fixed.push_back({.form = band.form, .piece = PieceOf(band), .threads = threads_});
      if (band.form.tiles) fixed.back().tiles.resize(band.plan.band_end - band.plan.band_begin);
    }
    Knobs<BandChoices> knobs(std::move(fixed));
    for (size_t b = 0; b < bands_.size(); ++b) {
      if (bands_[b].form.tiles) AddKnobs(b, knobs);
    }
    return knobs;
  }

  void AddKnobs(size_t band, Knobs<BandChoices>& knobs) const {
    const auto& [plan, form] = bands_[band];
    const int64_t points = PointsPerTile(plan.band_end - plan.band_begin);
    // The tile is long along the loop that walks contiguous elements. If an operand is strided
    // along the lanes, the tile is short along the lanes, and long where the operand is contiguous.
    size_t walked = form.lanes.value_or(plan.band_end - 1);
    const bool across = form.lanes && plan.along_operand.contains(walked);
    if (across) walked = plan.along_operand.at(walked);
    for (size_t i = plan.band_begin; i < plan.band_end; ++i) {
      const int64_t other = across && form.lanes == i ? kVectorsAcross * lanes_ : points;
      const int64_t wanted = i == walked ? kVectorsPerTile * lanes_ : other;
      const size_t tile = i - plan.band_begin;
      knobs.Add(TileKnob(plan.loops[i], wanted), [band, tile](BandChoices& choices, int64_t value) {
        choices[band].tiles[tile] = value;
      });
    }
    if (form.lanes) return;
    knobs.Add({plan.statement + " jam", {1, 2, 4, 8, 16}, 3},
              [band](BandChoices& choices, int64_t value) { choices[band].jam = value; });
  }

  Schedule Initial() const {
    const Knobs<BandChoices> knobs = KnobsOfAll();
    std::vector<int64_t> values;
    for (const Knob& knob : knobs.list()) values.push_back(knob.choices[knob.initial]);
    return WriteBands(lowering_, bands_, knobs.Choose(values));
  }

  // Returns true if a step after the first `steps_before` changes more than the order of
  // iterations, and the schedule is legal. The check requires sums in the written order, so the
  // schedule is legal under any contract.
  bool IsOfUse(size_t steps_before) {
    const ReductionOrder order = ReductionOrder::kAsWritten;
    const Schedule schedule = Initial();
    const auto first = schedule.loop_steps.begin() + static_cast<std::ptrdiff_t>(steps_before);
    if (std::none_of(first, schedule.loop_steps.end(), BringsSomething)) return false;
    const auto draft = DraftSchedule(compute_, schedule, order);
    if (!draft) return false;
    const Status legal = CheckLegality(dependences_, draft->kernel.tree, order);
    exhausted_ = !legal && legal.error().code == ErrorCode::kResourceLimit;
    return legal.has_value();
  }

  const Compute& compute_;
  ScheduleTree tree_;
  Dependences dependences_;
  std::string lowering_;
  std::vector<StatementBand> bands_;
  int64_t lanes_ = 1;
  int64_t l2_bytes_ = 0;
  int threads_ = 1;
  bool exhausted_ = false;  // isl exceeded its quota for the last form
};

}  // namespace

void AddAffineSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches) {
  if (auto sketch = Builder(lowering, target).Build()) sketches.push_back(std::move(*sketch));
}

}  // namespace tunec
