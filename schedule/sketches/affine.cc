// What no other sketch fits: recurrences, stencils over time, eliminations. isl's scheduler says
// how each statement's loops may be slanted and which can be tiled together; the steps that say
// the same are written here, the most ambitious form of them that is legal.
#include <algorithm>

#include "polyhedral/legality/legality.h"
#include "schedule/apply.h"
#include "schedule/sketches/band_writer.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

// What is made of the loops beside lanes, and whether there are some. The best first.
struct FormKind {
  bool tiles = false;
  bool tasks = false;
  bool lanes = false;
};
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

// Of isl, for one question: a hint must not cost more than what it may bring. The kernels of
// PolyBench need up to 500'000 (heat-3d, adi) for all that is found for them with any number.
constexpr unsigned long kOperations = 2'000'000;

constexpr int64_t kLeastTile = 4;
constexpr int64_t kLargestTile = 512;
constexpr int64_t kVectorsPerTile = 16;
constexpr int64_t kVectorsAcross = 2;
constexpr int64_t kMostPointsPerTile = 32;  // of a loop that is not the innermost
constexpr int64_t kBytesPerPoint = 8;       // a value before and after

struct StatementBand {
  BandPlan plan;
  BandForm form;
};

// One for each band.
using BandChoices = std::vector<BandChoice>;

Schedule WriteBands(const std::string& lowering, const std::vector<StatementBand>& bands,
                    const BandChoices& choices) {
  Schedule schedule{.lowering = lowering};
  for (size_t b = 0; b < bands.size(); ++b) {
    WriteBand(bands[b].plan, choices[b], schedule.loop_steps);
  }
  return schedule;
}

// Powers of two, and the whole loop.
Knob TileKnob(const BandLoop& loop, int64_t wanted) {
  Knob knob{.name = loop.name};
  for (int64_t tile = kLeastTile; tile < std::min(loop.extent, 2 * kLargestTile); tile *= 2) {
    if (tile <= wanted) knob.initial = static_cast<int>(knob.choices.size());
    knob.choices.push_back(tile);
  }
  knob.choices.push_back(loop.extent);
  return knob;
}

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
  // In the first form in which the schedule with it stays legal, or not at all.
  void Add(BandPlan plan) {
    exhausted_ = false;
    const size_t before = Initial().loop_steps.size();
    const std::vector<BandForm> forms = FormsOf(plan);
    bands_.push_back({std::move(plan), {}});
    for (const BandForm& form : forms) {
      bands_.back().form = form;
      if (IsOfUse(before)) return;
      if (exhausted_) break;  // the other forms ask as much
    }
    bands_.pop_back();
  }

  // Half of the second cache holds what a tile touches at one time.
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

  // What is cut off a loop for one task, all its lanes: few where loops run inside, as each of
  // their iterations then goes over all of them.
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
    // What is walked element by element: long; lanes across an operand's rows: few rows.
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

  // Whether there are steps more than before that bring something (another order alone does not),
  // all legal with sums in the order in which they are written: so under any contract.
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
  bool exhausted_ = false;  // isl, by the last form
};

}  // namespace

void AddAffineSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches) {
  if (auto sketch = Builder(lowering, target).Build()) sketches.push_back(std::move(*sketch));
}

}  // namespace tunec
