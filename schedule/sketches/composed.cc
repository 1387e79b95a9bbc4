// Composed: a Compute of several loop nests, none of which the others' pattern fits. Each reduction
// with what follows it element by element has a sketch of its own, each run of other statements,
// too; the steps for one part name no loop of another. What a part is offered must apply to it by
// itself; that the whole is legal is proven when the schedule is applied.
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

// The values of the parts' knobs, part by part.
using PartValues = std::vector<std::vector<int64_t>>;

// What becomes of statements that have no pattern.
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
  std::vector<PackStep> packs_;  // of the parts so far
  std::vector<Sketch> parts_;
  std::vector<std::vector<Knob>> knobs_;  // of the parts, named after their first statements
  size_t groups_ = 0;                     // of statements
  bool any_ = false;  // something has its pattern that makes the sketch worth its while
};

// Of statements that all compute element by element, or none does.
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

// A tensor can be packed in one order only: another one is done without, where that can be chosen.
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

// With what follows it, or alone. Returns where the next part begins.
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

// Where nothing fits, the statements stay as they are written.
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

// What two parts pack alike is packed once. What is an argument of a part may be computed by
// another, and then is no copy.
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

// Two parts may want to round one tensor; then none is given that freedom.
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
