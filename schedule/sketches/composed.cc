// Composed: sketches of a Compute with several loop nests that no single pattern fits. A reduction
// with its elementwise followers is one part, and a run of other statements is one part. Each part
// has a separate sketch, whose steps name only loops of the part. This sketch must apply to the
// part alone. The legality of the whole schedule is checked when the schedule is applied.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "schedule/access_analysis.h"
#include "schedule/apply.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/order_copies.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/sub_compute.h"

namespace tunec {
namespace {

// The values of the knobs, by part.
using PartValues = std::vector<std::vector<int64_t>>;

// The sketches for statements without a pattern: affine sketches, or none.
enum class Rest { kAffine, kAsWritten };

class Composer {
 public:
  Composer(const NamedCompute& lowering, const SketchQuestion& question, Rest rest)
      : compute_(lowering.compute), name_(lowering.name), question_(question), rest_(rest) {}

  std::optional<Sketch> Compose(const char* name);

 private:
  StatementId RunEnd(StatementId begin) const;
  std::vector<Sketch> Patterns(StatementId begin, StatementId end) const;
  StatementId AddReduction(StatementId begin);
  void AddOthers(StatementId begin, StatementId end);
  bool AddFirst(StatementId begin, StatementId end, std::vector<Sketch> sketches);
  bool AgreesOnPacks(Sketch& sketch);
  bool Applies(const NamedCompute& part, const Sketch& sketch) const;
  void AddSketch(Sketch sketch, const std::string& statement);

  const Compute& compute_;
  const std::string& name_;
  const SketchQuestion& question_;
  Rest rest_;
  std::vector<PackStep> packs_;  // steps of the parts so far
  std::vector<Sketch> parts_;
  std::vector<std::vector<Knob>> knobs_;  // by part; names start with the part's first statement
  size_t groups_ = 0;                     // number of parts, also of those without a sketch
  bool any_ = false;                      // a part has a pattern that justifies the sketch
};

// Returns the end of the run that begins at `begin`. A run has no reductions, and a pointwise
// sketch fits either all of its statements or none.
StatementId Composer::RunEnd(StatementId begin) const {
  const auto is_pointwise = [&](StatementId statement) {
    std::vector<Sketch> found;
    AddPointwiseSketches({name_, StatementsOf(compute_, statement, statement.next())},
                         question_.target, found);
    return !found.empty();
  };
  StatementId end = begin.next();
  while (compute_.statements.contains(end) && !compute_.statements[end].reducer &&
         is_pointwise(end) == is_pointwise(begin)) {
    ++end;
  }
  return end;
}

// Returns true if the sketch packs no tensor in another order than the earlier parts. On a
// conflict, first sets the knob `pack` to 0, if the sketch has this knob and choice.
bool Composer::AgreesOnPacks(Sketch& sketch) {
  const auto conflicts = [&] {
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    return std::ranges::any_of(schedule.compute_steps, [&](const ComputeStep& step) {
      const auto* pack = std::get_if<PackStep>(&step);
      return pack != nullptr && std::ranges::any_of(packs_, [&](const PackStep& other) {
               return other.tensor == pack->tensor && other != *pack;
             });
    });
  };
  if (!conflicts()) return true;
  const auto knob = std::ranges::find(sketch.knobs, "pack", &Knob::name);
  if (knob == sketch.knobs.end() || knob->choices.front() != 0) return false;
  *knob = {.name = "pack", .choices = {0}};
  return !conflicts();
}

bool Composer::Applies(const NamedCompute& part, const Sketch& sketch) const {
  const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
  return CheckApplies(part.compute, schedule, question_.rounding).has_value();
}

void Composer::AddSketch(Sketch sketch, const std::string& statement) {
  for (const ComputeStep& step : sketch.Fill(sketch.InitialDecisions()).compute_steps) {
    if (const auto* pack = std::get_if<PackStep>(&step)) packs_.push_back(*pack);
  }
  for (Knob& knob : knobs_.emplace_back(sketch.knobs)) knob.name = statement + " " + knob.name;
  parts_.push_back(std::move(sketch));
}

bool Composer::AddFirst(StatementId begin, StatementId end, std::vector<Sketch> sketches) {
  const NamedCompute part{name_, StatementsOf(compute_, begin, end)};
  for (Sketch& sketch : sketches) {
    if (!AgreesOnPacks(sketch) || !Applies(part, sketch)) continue;
    AddSketch(std::move(sketch), compute_.statements[begin].name);
    return true;
  }
  return false;
}

std::vector<Sketch> Composer::Patterns(StatementId begin, StatementId end) const {
  std::vector<Sketch> sketches;
  AddPatternSketches({name_, StatementsOf(compute_, begin, end)}, question_, sketches);
  return sketches;
}

// Adds the reduction with its followers, or alone. Returns the first statement of the next part.
StatementId Composer::AddReduction(StatementId begin) {
  ++groups_;
  for (const StatementId end : {FollowersEnd(compute_, begin), begin.next()}) {
    if (!AddFirst(begin, end, Patterns(begin, end))) continue;
    any_ = true;
    return end;
  }
  AddOthers(begin, begin.next());
  return begin.next();
}

// Adds a pattern for the statements, or else an affine sketch if `rest_` is kAffine. If no sketch
// fits, the statements have no steps.
void Composer::AddOthers(StatementId begin, StatementId end) {
  if (AddFirst(begin, end, Patterns(begin, end))) {
    any_ |= rest_ == Rest::kAsWritten;
    return;
  }
  if (rest_ == Rest::kAsWritten) return;
  std::vector<Sketch> affine;
  AddAffineSketches({name_, StatementsOf(compute_, begin, end)}, question_.target, affine);
  AddFirst(begin, end, std::move(affine));
}

// Returns the schedule of all parts. A compute step that several parts have is added once.
// OrderCopies runs again for the whole Compute, because one part may compute an argument of another
// part. A `pack` of this argument makes no copy.
Schedule Fill(const std::string& lowering, const Compute& compute, const std::vector<Sketch>& parts,
              const PartValues& values) {
  Schedule schedule{.lowering = lowering};
  for (size_t p = 0; p < parts.size(); ++p) {
    Schedule part = parts[p].fill(values[p]);
    for (ComputeStep& step : part.compute_steps) {
      if (std::ranges::find(schedule.compute_steps, step) == schedule.compute_steps.end()) {
        schedule.Add(std::move(step));
      }
    }
    std::ranges::move(part.loop_steps, std::back_inserter(schedule.loop_steps));
  }
  OrderCopies(compute, schedule);
  return schedule;
}

Knobs<PartValues> KnobsOf(const std::vector<std::vector<Knob>>& parts) {
  PartValues none;
  for (const std::vector<Knob>& part : parts) none.emplace_back(part.size());
  Knobs<PartValues> knobs(std::move(none));
  for (size_t p = 0; p < parts.size(); ++p) {
    for (size_t k = 0; k < parts[p].size(); ++k) {
      knobs.Add(parts[p][k], [p, k](PartValues& values, int64_t value) { values[p][k] = value; });
    }
  }
  return knobs;
}

std::optional<Sketch> Composer::Compose(const char* name) {
  const auto shares = [](const Tensor& tensor) { return tensor.alias.has_value(); };
  if (std::ranges::any_of(compute_.tensors, shares)) return std::nullopt;
  for (StatementId at(0); compute_.statements.contains(at);) {
    if (compute_.statements[at].reducer) {
      at = AddReduction(at);
    } else {
      ++groups_;
      const StatementId end = RunEnd(at);
      AddOthers(at, end);
      at = end;
    }
  }
  if (!any_ || groups_ < 2) return std::nullopt;
  const auto write = [lowering = name_, compute = std::make_shared<const Compute>(compute_),
                      parts = std::move(parts_)](const PartValues& values) {
    return Fill(lowering, *compute, parts, values);
  };
  return MakeSketch(name, KnobsOf(knobs_), write);
}

// Returns the composed sketch. The rounding steps of two parts may conflict, for example if both
// round one tensor. The parts are then chosen again without a gain, so that plain multiply-adds
// come first.
std::optional<Sketch> ComposedOf(const NamedCompute& lowering, const SketchQuestion& question,
                                 Rest rest, const char* name) {
  std::optional<Sketch> sketch = Composer(lowering, question, rest).Compose(name);
  if (!sketch) return sketch;
  const Schedule schedule = sketch->Fill(sketch->InitialDecisions());
  const auto rounds = [](const ComputeStep& step) {
    return std::holds_alternative<PrecisionStep>(step);
  };
  if (std::ranges::none_of(schedule.compute_steps, rounds) ||
      ApplyComputeSteps(lowering.compute, schedule, question.rounding)) {
    return sketch;
  }
  SketchQuestion unrounded = question;
  unrounded.gain = {};
  return Composer(lowering, unrounded, rest).Compose(name);
}

}  // namespace

void AddComposedSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches) {
  auto sketch = ComposedOf(lowering, question, Rest::kAffine, "composed");
  if (sketch) sketches.push_back(std::move(*sketch));
}

void AddPartialSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches) {
  auto sketch = ComposedOf(lowering, question, Rest::kAsWritten, "partial");
  if (sketch) sketches.push_back(std::move(*sketch));
}

}  // namespace tunec
