// Sketches for a device in which each phase has a separate kind. Sums of products are computed in
// tiles. Other statements are long sums or elementwise phases. If none of these kinds fits, each
// thread of a block computes one element (blocks.cc). Flash attention is one phase
// (cuda_stream.cc). Its sketches come first if they are estimated to be faster.
//
// Several kinds of tiles may fit a phase, by matrix instructions or by threads. The tuner then
// receives sketches with each kind. Sketches of all combinations of kinds would be too many. One
// sketch has the fastest kind of each phase, by the estimates. Each further sketch has one kind of
// tile in all phases that it fits, and the fastest kind elsewhere. Of these sketches, the fastest
// by the estimates comes first.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/apply.h"
#include "schedule/sketches/cuda_stream.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/sub_compute.h"

namespace tunec {
namespace {

constexpr std::string_view kBlocks = "blocks";

// The kinds that fit the statements of one phase. There are several only for tiles.
using PhaseKinds = std::vector<DevicePhase>;

// Finds the kinds that fit each phase of a lowering.
class PhasePlanner {
 public:
  PhasePlanner(const NamedCompute& lowering, const Accelerator& device,
               const RoundingFreedom& rounding)
      : lowering_(lowering), device_(WithAllFacts(device)), rounding_(rounding) {}

  std::vector<PhaseKinds> Phases() {
    const Compute& compute = lowering_.compute;
    std::vector<PhaseKinds> phases;
    for (StatementId at(0); compute.statements.contains(at);) {
      const StatementId begin = at;
      at = begin.next();
      if (compute.statements[begin].reducer) {
        const StatementId end = FollowersEnd(compute, begin);
        if (AddWhatFits(begin, end, phases)) {
          at = end;
          continue;
        }
      }
      AddWhatFits(begin, at, phases);
    }
    return phases;
  }

  /// Returns the estimated time of the phases that Phases found, with the fastest kind of each.
  double LeastSeconds() const { return least_seconds_; }

 private:
  using Make = std::optional<DevicePhase> (*)(const PhaseQuestion&);

  bool AddWhatFits(StatementId begin, StatementId end, std::vector<PhaseKinds>& phases) {
    const Compute part = StatementsOf(lowering_.compute, begin, end);
    PhaseKinds kinds;
    for (const Make make : {MakeCudaTensorPhase, MakeCudaConvPhase, MakeCudaTilePhase})
      AddIfItFits(make, part, kinds);
    for (const Make make : {MakeCudaLongSumPhase, MakeCudaElementsPhase, MakeBlockPhase})
      if (kinds.empty()) AddIfItFits(make, part, kinds);
    if (kinds.empty()) return false;
    const auto least = [&](const DevicePhase& phase) {
      return phase.seconds.value_or(MoveSeconds(part));
    };
    least_seconds_ += std::ranges::min(kinds | std::views::transform(least));
    phases.push_back(std::move(kinds));
    return true;
  }

  void AddIfItFits(Make make, const Compute& part, PhaseKinds& kinds) const {
    std::optional<DevicePhase> phase =
        make({.compute = part, .device = device_, .rounding = rounding_});
    if (!phase) return;
    Schedule alone{.lowering = lowering_.name};
    phase->WriteInitial(alone);
    if (CheckApplies(part, alone, rounding_)) kinds.push_back(*std::move(phase));
  }

  // Returns the time of a phase without an estimate. Each tensor that is not workspace is moved
  // once between memory and L2.
  double MoveSeconds(const Compute& part) const {
    PhaseCost cost{.blocks = device_.processors};
    for (const Tensor& tensor : part.tensors) {
      if (tensor.role != TensorRole::kWorkspace)
        cost.memory_bytes += static_cast<double>(StorageBytes(tensor));
    }
    return EstimateSeconds(cost, device_);
  }

  const NamedCompute& lowering_;
  const Accelerator device_;
  const RoundingFreedom& rounding_;
  double least_seconds_ = 0;
};

// Returns true if both times are known and `a` is less.
bool IsFaster(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *a < *b;
}

// A choice of one kind for each phase: `wanted` if it fits the phase, else the fastest kind.
struct Combination {
  std::string wanted;  // empty: the fastest kind of each phase
  std::vector<DevicePhase> phases;
};

Combination Combine(const std::vector<PhaseKinds>& phases, const std::string& wanted) {
  Combination combination{wanted, {}};
  for (const PhaseKinds& kinds : phases) {
    const auto by_time = [](const DevicePhase& a, const DevicePhase& b) {
      return IsFaster(a.seconds, b.seconds);
    };
    auto found = std::ranges::find(kinds, wanted, &DevicePhase::kind);
    if (found == kinds.end()) found = std::ranges::min_element(kinds, by_time);
    combination.phases.push_back(*found);
  }
  return combination;
}

// Returns the combinations that differ in some phase's kind, the fastest kinds first.
std::vector<Combination> Combinations(const std::vector<PhaseKinds>& phases) {
  const auto same = [](const DevicePhase& a, const DevicePhase& b) { return a.kind == b.kind; };
  std::vector<Combination> all;
  for (const std::string wanted : {"", "cuda_tensor", "cuda_conv", "cuda_tile"}) {
    Combination next = Combine(phases, wanted);
    const auto is_known = [&](const Combination& known) {
      return std::ranges::equal(known.phases, next.phases, same);
    };
    if (std::ranges::none_of(all, is_known)) all.push_back(std::move(next));
  }
  return all;
}

// Returns the names of the phases' kinds, each once, in the order of their first phases.
std::string NameOf(const std::vector<DevicePhase>& phases) {
  std::vector<std::string> kinds;
  std::string name;
  for (const DevicePhase& phase : phases) {
    if (std::ranges::find(kinds, phase.kind) != kinds.end()) continue;
    kinds.push_back(phase.kind);
    name += (name.empty() ? "" : "+") + phase.kind;
  }
  return name;
}

// Returns the knobs of all phases. If there are several phases, each name begins with the number of
// the knob's phase.
std::vector<Knob> KnobsOf(const std::vector<DevicePhase>& phases) {
  std::vector<Knob> knobs;
  for (size_t p = 0; p < phases.size(); ++p) {
    for (Knob knob : phases[p].knobs) {
      if (phases.size() > 1) knob.name = fmt::format("{}.{}", p, knob.name);
      knobs.push_back(std::move(knob));
    }
  }
  return knobs;
}

std::optional<double> SecondsOf(const std::vector<DevicePhase>& phases) {
  double seconds = 0;
  for (const DevicePhase& phase : phases) {
    if (!phase.seconds) return std::nullopt;
    seconds += *phase.seconds;
  }
  return seconds;
}

Sketch SketchOf(const std::string& lowering, std::string name, std::vector<DevicePhase> phases) {
  std::vector<Knob> knobs = KnobsOf(phases);
  return {.name = std::move(name),
          .knobs = std::move(knobs),
          .fill = [phases = std::move(phases), lowering](const std::vector<int64_t>& values) {
            Schedule schedule{.lowering = lowering};
            auto next = values.begin();
            for (const DevicePhase& phase : phases) {
              const auto end = next + std::ssize(phase.knobs);
              phase.write({next, end}, schedule);
              next = end;
            }
            return schedule;
          }};
}

struct Candidate {
  Sketch sketch;
  std::optional<double> seconds;
  double least_seconds = 0;  // estimate for the lowering, with the fastest kinds
};

// Returns a new name for the combination and adds the name to `names`. If another sketch has the
// same kinds, the name ends with the combination's `wanted`.
std::string NewName(const Combination& combination, std::set<std::string>& names) {
  std::string name = NameOf(combination.phases);
  if (names.contains(name)) name += "/" + combination.wanted;
  names.insert(name);
  return name;
}

void AddCandidates(const NamedCompute& lowering, const std::vector<PhaseKinds>& phases,
                   double least_seconds, std::vector<Candidate>& candidates) {
  const auto is_blocks = [](const DevicePhase& phase) { return phase.kind == kBlocks; };
  std::set<std::string> names;
  for (Combination& combination : Combinations(phases)) {
    if (std::ranges::all_of(combination.phases, is_blocks)) continue;
    const std::optional<double> seconds = SecondsOf(combination.phases);
    std::string name = NewName(combination, names);
    candidates.push_back({SketchOf(lowering.name, std::move(name), std::move(combination.phases)),
                          seconds, least_seconds});
  }
}

bool HasSequentialLoop(const Compute& compute) {
  const auto is_sequential = [](const Iterator& iterator) {
    return iterator.kind == IteratorKind::kSequential;
  };
  return std::ranges::any_of(compute.statements, [&](const Statement& statement) {
    return std::ranges::any_of(statement.iterators, is_sequential);
  });
}

// Inserts the sketches of flash attention before all candidates or after them. They come first if
// the fastest one takes less time than `least_seconds` of each candidate.
void AddStreams(std::vector<EstimatedSketch> streams, std::vector<Candidate>& candidates) {
  const auto is_faster = [&](const EstimatedSketch& stream) {
    return std::ranges::all_of(candidates, [&](const Candidate& candidate) {
      return stream.seconds < candidate.least_seconds;
    });
  };
  const bool first = !streams.empty() && is_faster(streams.front());
  auto at = first ? candidates.begin() : candidates.end();
  for (EstimatedSketch& stream : streams)
    at = std::next(candidates.insert(at, {std::move(stream.sketch), stream.seconds, 0}));
}

}  // namespace

void DevicePhase::WriteInitial(Schedule& schedule) const {
  std::vector<int64_t> values;
  for (const Knob& knob : knobs)
    values.push_back(knob.choices.at(static_cast<size_t>(knob.initial)));
  write(values, schedule);
}

void AddCudaSketches(const std::vector<NamedCompute>& lowerings, const Accelerator& device,
                     const RoundingFreedom& rounding, std::vector<Sketch>& sketches) {
  const auto shares = [](const Tensor& tensor) { return tensor.alias.has_value(); };
  std::vector<EstimatedSketch> streams =
      MakeCudaStreamSketches(lowerings, WithAllFacts(device), rounding);
  std::vector<Candidate> candidates;
  for (const NamedCompute& lowering : lowerings) {
    if (std::ranges::any_of(lowering.compute.tensors, shares)) continue;
    // A sequential loop carries values between KV blocks. Only flash attention uses such a
    // lowering, because phases compute complete rows.
    if (!streams.empty() && HasSequentialLoop(lowering.compute)) continue;
    PhasePlanner planner(lowering, device, rounding);
    const std::vector<PhaseKinds> phases = planner.Phases();
    AddCandidates(lowering, phases, planner.LeastSeconds(), candidates);
  }
  // Only the first position matters. A first candidate without an estimate stays first.
  const auto is_faster = [](const Candidate& a, const Candidate& b) {
    return IsFaster(a.seconds, b.seconds);
  };
  const auto best = std::ranges::min_element(candidates, is_faster);
  if (best != candidates.end()) std::rotate(candidates.begin(), best, best + 1);
  AddStreams(std::move(streams), candidates);
  for (Candidate& candidate : candidates) sketches.push_back(std::move(candidate.sketch));
}

}  // namespace tunec
