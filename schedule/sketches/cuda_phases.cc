// Each phase of a device's kernel by a kind of its own: products in tiles, what is around them
// element by element. What no kind fits is done in blocks. Products that stream are one phase
// (cuda_stream.cc), where that is estimated to be faster.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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

// Finds a kind for one phase after the other.
class PhasePlanner {
 public:
  PhasePlanner(const NamedCompute& lowering, const Accelerator& device,
               const RoundingFreedom& rounding)
      : lowering_(lowering), device_(WithAllFacts(device)), rounding_(rounding) {}

  std::vector<DevicePhase> Phases() {
    const Compute& compute = lowering_.compute;
    std::vector<DevicePhase> phases;
    for (StatementId at(0); compute.statements.contains(at);) {
      const StatementId begin = at;
      at = begin.next();
      if (compute.statements[begin].reducer) {
        const StatementId end = FollowersEnd(compute, begin);
        if (AddFirstThatFits(begin, end, phases)) {
          at = end;
          continue;
        }
      }
      AddFirstThatFits(begin, at, phases);
    }
    return phases;
  }

  /// Of the phases last found, at least.
  double LeastSeconds() const { return least_seconds_; }

 private:
  bool AddFirstThatFits(StatementId begin, StatementId end, std::vector<DevicePhase>& phases) {
    constexpr std::array kKinds = {MakeCudaTensorPhase, MakeCudaTilePhase, MakeCudaElementsPhase,
                                   MakeBlockPhase};
    const Compute part = StatementsOf(lowering_.compute, begin, end);
    for (const auto& make : kKinds) {
      std::optional<DevicePhase> phase =
          make({.compute = part, .device = device_, .rounding = rounding_});
      if (!phase) continue;
      Schedule alone{.lowering = lowering_.name};
      phase->WriteInitial(alone);
      if (!CheckApplies(part, alone, rounding_)) continue;
      least_seconds_ += phase->seconds.value_or(MoveSeconds(part));
      phases.push_back(*std::move(phase));
      return true;
    }
    return false;
  }

  // Of what is not estimated: each tensor goes through memory once.
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

// The kinds, each once, in the order of their first phases.
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

// Of several phases each knob says which one's it is.
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

Sketch SketchOf(const std::string& lowering, std::vector<DevicePhase> phases) {
  std::string name = NameOf(phases);
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
  double least_seconds = 0;  // that it takes, where `seconds` is not known
};

bool IsFaster(const Candidate& a, const Candidate& b) {
  return a.seconds && b.seconds && *a.seconds < *b.seconds;
}

bool HasSequentialLoop(const Compute& compute) {
  const auto is_sequential = [](const Iterator& iterator) {
    return iterator.kind == IteratorKind::kSequential;
  };
  return std::ranges::any_of(compute.statements, [&](const Statement& statement) {
    return std::ranges::any_of(statement.iterators, is_sequential);
  });
}

// All phases in one: before the others where it is faster than any of them can be, else behind.
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
  const auto is_blocks = [](const DevicePhase& phase) { return phase.kind == kBlocks; };
  std::vector<EstimatedSketch> streams =
      MakeCudaStreamSketches(lowerings, WithAllFacts(device), rounding);
  std::vector<Candidate> candidates;
  for (const NamedCompute& lowering : lowerings) {
    if (std::ranges::any_of(lowering.compute.tensors, shares)) continue;
    // What carries values from chunk to chunk is for streams: phases have the whole rows.
    if (!streams.empty() && HasSequentialLoop(lowering.compute)) continue;
    PhasePlanner planner(lowering, device, rounding);
    std::vector<DevicePhase> phases = planner.Phases();
    if (std::ranges::all_of(phases, is_blocks)) continue;
    const std::optional<double> seconds = SecondsOf(phases);
    candidates.push_back(
        {SketchOf(lowering.name, std::move(phases)), seconds, planner.LeastSeconds()});
  }
  // Only the first place matters. What is not estimated keeps it.
  const auto best = std::ranges::min_element(candidates, IsFaster);
  if (best != candidates.end()) std::rotate(candidates.begin(), best, best + 1);
  AddStreams(std::move(streams), candidates);
  for (Candidate& candidate : candidates) sketches.push_back(std::move(candidate.sketch));
}

}  // namespace tunec
