#include "autotune/simulation/simulate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "autotune/measure/measure_time.h"
#include "autotune/tune_with.h"
#include "support/random.h"

namespace tunec {
namespace {

constexpr const char* kLowering = "table";

// Returns a schedule that encodes a candidate. Factors of a split must be positive.
Schedule Encode(int sketch, const std::vector<int64_t>& positions) {
  SplitStep step{.loop = "candidate", .factors = {sketch + 1}};
  for (const int64_t position : positions) step.factors.push_back(position + 1);
  return {.lowering = kLowering, .loop_steps = {std::move(step)}};
}

// Returns the sketches of the table. The values of the knobs are the positions of the choices.
std::vector<Sketch> SketchesOf(const TimeTable& table) {
  std::vector<Sketch> sketches;
  for (const TableSketch& recorded : table.sketches) {
    const auto position = static_cast<int>(sketches.size());
    Sketch sketch{.name = std::to_string(position), .knobs = recorded.knobs};
    for (Knob& knob : sketch.knobs) std::iota(knob.choices.begin(), knob.choices.end(), 0);
    sketch.fill = [position](const std::vector<int64_t>& values) {
      return Encode(position, values);
    };
    sketches.push_back(std::move(sketch));
  }
  return sketches;
}

Result<const TableEntry*> FindEntry(const TimeTable& table, const std::string& schedule) {
  TUNEC_ASSIGN(const Schedule parsed, ParseSchedule(schedule, "simulated"));
  const auto& factors = std::get<SplitStep>(parsed.loop_steps.at(0)).factors;
  Decisions decisions;
  for (size_t i = 1; i < factors.size(); ++i) decisions.push_back(static_cast<int>(factors[i]) - 1);
  return &NearestEntry(table, static_cast<int>(factors[0]) - 1, decisions);
}

// The times of one simulated search: the noise, and the least true ratio of the tried candidates.
class SimulatedTimes {
 public:
  SimulatedTimes(const TimeTable& table, uint64_t seed)
      : table_(table), random_(StreamSeed(seed, "noise")) {}

  /// Measures an entry, in turns with the entry `other` unless it is null. `known` is the recorded
  /// time of `other`.
  Result<Measurement> Measure(const TableEntry& entry, const TableEntry* other, double known) {
    if (entry.status != TrialStatus::kOk) {
      return Measurement{.status = entry.status, .message = "recorded"};
    }
    least_ = std::min(least_.value_or(entry.ratio), entry.ratio);
    Measurement measurement;
    if (other == nullptr) {
      TUNEC_ASSIGN(measurement.samples,
                   TimeRuns(RunsOf(entry), std::nullopt, {}, [&] { return now_; }));
      return measurement;
    }
    ReferenceRuns reference{.time_of = RunsOf(*other), .known = known};
    TUNEC_ASSIGN(TimesInTurns times,
                 TimeInTurns(RunsOf(entry), reference, {}, [&] { return now_; }));
    SetTimes(times, measurement);
    return measurement;
  }

  /// Compares entries in turns for `seconds` of the simulated clock.
  Result<ComparedTimes> Compare(std::span<const TableEntry* const> entries, double seconds) {
    std::vector<TimeOf> kernels;
    for (const TableEntry* entry : entries) kernels.push_back(RunsOf(*entry));
    return CompareInTurns(kernels, {.seconds = seconds}, {}, [&] { return now_; });
  }

  /// Returns the seconds of the simulated clock.
  double Now() const { return now_; }
  /// Advances the clock by the time of compiling and checking a candidate.
  void Compile() {
    constexpr double kSeconds = 0.03;  // the mean of a search of ResNet-50 on two cores
    now_ += kSeconds;
  }

  /// Draws one sample: the seconds of one run.
  double Sample(const TableEntry& entry) {
    constexpr double kDeviation = 1.4826;  // standard deviation over median absolute deviation
    return table_.fixed_seconds * entry.ratio * std::exp(kDeviation * entry.spread * Normal());
  }

  /// Returns the errors if `chosen` is the choice. Returns none if nothing correct was tried.
  Result<SimulatedErrors> Errors(const TableEntry* chosen, int64_t trials) const {
    if (!least_ || chosen == nullptr) {
      return Fail(ErrorCode::kNotFound, "none of {} tried candidates is correct", trials);
    }
    double best = *least_;
    for (const TableEntry& entry : table_.entries) {
      if (entry.status == TrialStatus::kOk) best = std::min(best, entry.ratio);
    }
    return SimulatedErrors{*least_ / best - 1, chosen->ratio / *least_ - 1, trials};
  }

 private:
  // Returns a function that draws a sample and advances the simulated clock.
  TimeOf RunsOf(const TableEntry& entry) {
    return [this, &entry](int runs) -> Result<double> {
      const double seconds = runs * Sample(entry);
      now_ += seconds;
      return seconds;
    };
  }
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - double{random_.Unit()}));
    return radius * std::cos(2 * std::numbers::pi * double{random_.Unit()});
  }

  const TimeTable& table_;
  Random random_;
  double now_ = 0;  // seconds of the simulated clock
  std::optional<double> least_;
};

class TableMeasurer : public Measurer {
 public:
  TableMeasurer(const TimeTable& table, SimulatedTimes& times) : table_(table), times_(times) {}

  Status Measure(const Workload&, std::span<const CandidateRequest> candidates,
                 const std::optional<Incumbent>& incumbent,
                 const OnMeasured& on_measured) override {
    const TableEntry* other = nullptr;
    if (incumbent) {
      TUNEC_ASSIGN(other, FindEntry(table_, incumbent->schedule));
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
      TUNEC_ASSIGN(const TableEntry* entry, FindEntry(table_, candidates[i].schedule));
      times_.Compile();
      TUNEC_ASSIGN(const Measurement measurement,
                   times_.Measure(*entry, other, incumbent ? incumbent->seconds : 0));
      TUNEC_RETURN_IF_ERROR(on_measured(i, measurement));
    }
    return {};
  }

  Status Compare(const Workload&, std::span<const CandidateRequest> candidates, double seconds,
                 const OnMeasured& on_measured) override {
    std::vector<const TableEntry*> entries;
    for (const CandidateRequest& candidate : candidates) {
      TUNEC_ASSIGN(entries.emplace_back(), FindEntry(table_, candidate.schedule));
    }
    TUNEC_ASSIGN(const ComparedTimes times, times_.Compare(entries, seconds));
    for (size_t i = 0; i < candidates.size(); ++i)
      TUNEC_RETURN_IF_ERROR(on_measured(i, {.samples = times[i]}));
    return {};
  }

 private:
  const TimeTable& table_;
  SimulatedTimes& times_;
};

}  // namespace

Result<SimulatedErrors> SimulateSearch(const TimeTable& table, int64_t trials, uint64_t seed) {
  // The search reads only the text of this Compute. It has no multiply-adds, so no ceiling counts.
  TUNEC_ASSIGN(const Compute compute, ParseCompute(R"(compute table {
      input X: f32[1]
      output Y: f32[1]
      Y[i: 1]:
        Y[i] = X[i]
    })",
                                                   "simulated"));
  const TuningTask task{
      .kind = "table", .description = "table", .lowerings = {{kLowering, compute}}};
  TunerOptions options;
  options.trials = trials;
  options.seed = seed;
  SimulatedTimes times(table, seed);
  const TuningParts parts{.make_measurer = [&]() -> Result<std::unique_ptr<Measurer>> {
                            return std::make_unique<TableMeasurer>(table, times);
                          },
                          .sketches = [&](const TuningTask&) { return SketchesOf(table); },
                          .clock = [&] { return times.Now(); }};
  TUNEC_ASSIGN(Database database, Database::Open(kInMemory, OpenMode::kReadWrite));
  TUNEC_ASSIGN(const TuneReport report, TuneWith(database, {task}, options, parts));
  TUNEC_ASSIGN(const std::optional<TrialRecord> best,
               database.Best(MakeTuningKey(task, options.target, options.accuracy)));
  const TableEntry* chosen = nullptr;
  if (best) {
    TUNEC_ASSIGN(chosen, FindEntry(table, best->schedule));
  }
  return times.Errors(chosen, report.progress.measured);
}

Result<SimulatedErrors> SimulateDraws(const TimeTable& table, int64_t trials, uint64_t seed) {
  SimulatedTimes times(table, seed);
  Random random(StreamSeed(seed, "draws"));
  std::vector<size_t> order(table.entries.size());
  std::iota(order.begin(), order.end(), 0);
  if (trials < std::ssize(order)) {
    for (int64_t i = 0; i < trials; ++i) {
      std::swap(order[i], order[i + random.Below(order.size() - i)]);
    }
    order.resize(trials);
  }
  const TableEntry* chosen = nullptr;
  std::optional<double> best;
  for (const size_t position : order) {
    const TableEntry& entry = table.entries[position];
    TUNEC_ASSIGN(const Measurement measurement, times.Measure(entry, chosen, best.value_or(0)));
    if (measurement.status != TrialStatus::kOk) continue;
    const double seconds =
        measurement.ratio ? *measurement.ratio * *best : Median(measurement.samples);
    if (best && seconds >= *best) continue;
    best = seconds;
    chosen = &entry;
  }
  return times.Errors(chosen, std::ssize(order));
}

}  // namespace tunec
