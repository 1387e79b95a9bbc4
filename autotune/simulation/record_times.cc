#include "autotune/simulation/record_times.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autotune/keys.h"
#include "autotune/measure/measure_time.h"
#include "autotune/search/strategy.h"
#include "support/hash.h"

namespace tunec {
namespace {

TimeTable EmptyTable(const TuningTask& task, const Workload& workload, const SearchSpace& space) {
  const TuningKey key = MakeTuningKey(task, workload.target, workload.accuracy);
  TimeTable table{.workload = StableHash(key.workload.text),
                  .description = task.description,
                  .target = key.target};
  for (int s = 0; s <= space.Naive(); ++s) {
    table.sketches.push_back({space.NameOf(s), space.sketches()[s].knobs});
  }
  return table;
}

// Returns the analytic schedule of each sketch, then the random candidates with other schedules.
std::vector<Candidate> DrawCandidates(const SearchSpace& space, const RecordingOptions& options) {
  std::vector<Candidate> candidates;
  std::set<std::string> seen;
  for (int s = 0; s <= space.Naive(); ++s) {
    candidates.push_back(space.Initial(s));
    seen.insert(candidates.back().schedule);
  }
  Random random(StreamSeed(options.seed, "table"));
  const auto count = static_cast<int>(options.candidates);
  for (Candidate& drawn : MakeRandomStrategy()->Propose(space, {}, count, random)) {
    if (!seen.contains(drawn.schedule)) candidates.push_back(std::move(drawn));
  }
  return candidates;
}

// Rounds to five significant digits, which the file then has.
double Rounded(double value) { return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr); }

// Returns the entry of a candidate that was measured in turns with the fixed kernel.
TableEntry EntryOf(const Candidate& candidate, const Measurement& measurement,
                   double fixed_seconds) {
  TableEntry entry{
      .sketch = candidate.sketch, .decisions = candidate.decisions, .status = measurement.status};
  if (entry.status != TrialStatus::kOk) return entry;
  const double median = Median(measurement.samples);
  entry.ratio = Rounded(measurement.ratio.value_or(median / fixed_seconds));
  entry.spread = Rounded(MedianDeviation(measurement.samples) / median);
  return entry;
}

Result<std::vector<Measurement>> MeasureAll(Measurer& measurer, const Workload& workload,
                                            std::span<const Candidate> candidates,
                                            const std::optional<Incumbent>& fixed) {
  std::vector<CandidateRequest> requests;
  for (const Candidate& candidate : candidates) requests.push_back({candidate.schedule});
  std::vector<Measurement> measurements(candidates.size());
  TUNEC_RETURN_IF_ERROR(measurer.Measure(workload, requests, fixed,
                                         [&](size_t i, const Measurement& measurement) -> Status {
                                           measurements[i] = measurement;
                                           return {};
                                         }));
  return measurements;
}

// Times the first correct analytic schedule.
Status TimeFixedKernel(TimeTable& table, const Workload& workload, const SearchSpace& space,
                       Measurer& measurer) {
  for (int s = 0; s <= space.Naive(); ++s) {
    const Candidate initial = space.Initial(s);
    TUNEC_ASSIGN(const auto measured, MeasureAll(measurer, workload, {&initial, 1}, std::nullopt));
    if (measured[0].status != TrialStatus::kOk) continue;
    table.fixed_sketch = s;
    table.fixed_seconds = Rounded(Median(measured[0].samples));
    return {};
  }
  return Fail(ErrorCode::kNotFound, "no analytic schedule of '{}' is correct", table.description);
}

// Fails unless `table` is a part of a table with the space of `fresh` and these candidates.
Status CheckPart(const TimeTable& table, TimeTable fresh,
                 const std::vector<Candidate>& candidates) {
  TimeTable header = table;
  header.entries.clear();
  fresh.fixed_sketch = table.fixed_sketch;
  fresh.fixed_seconds = table.fixed_seconds;
  bool same = Print(header) == Print(fresh);
  for (size_t i = 0; i < std::min(table.entries.size(), candidates.size()); ++i) {
    same &= table.entries[i].sketch == candidates[i].sketch &&
            table.entries[i].decisions == candidates[i].decisions;
  }
  if (same) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "the table has another workload, target, space or seed; record to another file");
}

// Compares entries in turns with the fixed kernel, and replaces their times and that of the fixed
// kernel's own entry.
Status CompareEntries(TimeTable& table, std::span<const size_t> positions, const Workload& workload,
                      std::span<const Candidate> candidates, const Incumbent& fixed,
                      Measurer& measurer) {
  constexpr double kSecondsPerEntry = 0.25;
  std::vector<CandidateRequest> requests = {{fixed.schedule}};
  for (const size_t position : positions) requests.push_back({candidates[position].schedule});
  std::vector<std::vector<double>> samples(requests.size());
  TUNEC_RETURN_IF_ERROR(measurer.Compare(workload, requests,
                                         kSecondsPerEntry * static_cast<double>(requests.size()),
                                         [&](size_t i, const Measurement& measurement) -> Status {
                                           samples[i] = measurement.samples;
                                           return {};
                                         }));
  const auto replace = [&](size_t position, const std::vector<double>& times) {
    if (times.empty() || samples[0].empty()) return;
    TableEntry& entry = table.entries[position];
    entry.ratio = Rounded(Median(RatiosOf(times, samples[0])));
    entry.spread = Rounded(MedianDeviation(times) / Median(times));
  };
  for (size_t i = 0; i < positions.size(); ++i) replace(positions[i], samples[i + 1]);
  replace(table.fixed_sketch, samples[0]);  // the first entries are the analytic schedules
  return {};
}

// Returns the positions of the `count` correct entries with the least ratios.
std::vector<size_t> FastestEntries(const TimeTable& table, size_t count) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < table.entries.size(); ++i) {
    if (table.entries[i].status == TrialStatus::kOk) positions.push_back(i);
  }
  std::ranges::stable_sort(positions, {}, [&](size_t i) { return table.entries[i].ratio; });
  positions.resize(std::min(count, positions.size()));
  return positions;
}

// Compares the fastest entries until all of the first kCompared have been compared.
Status CompareFastest(TimeTable& table, const Workload& workload,
                      std::span<const Candidate> candidates, const Incumbent& fixed,
                      Measurer& measurer) {
  constexpr size_t kCompared = 32;
  constexpr size_t kAtOnce = 8;
  std::set<size_t> compared;
  for (;;) {
    std::vector<size_t> next = FastestEntries(table, kCompared);
    std::erase_if(next, [&](size_t position) { return compared.contains(position); });
    if (next.empty()) return {};
    next.resize(std::min(kAtOnce, next.size()));
    TUNEC_RETURN_IF_ERROR(CompareEntries(table, next, workload, candidates, fixed, measurer));
    compared.insert(next.begin(), next.end());
  }
}

}  // namespace

Status RecordTimes(TimeTable& table, const TuningTask& task, const Workload& workload,
                   const SearchSpace& space, Measurer& measurer, const RecordingOptions& options) {
  const std::vector<Candidate> candidates = DrawCandidates(space, options);
  TimeTable fresh = EmptyTable(task, workload, space);
  if (table.sketches.empty()) {
    table = std::move(fresh);
    TUNEC_RETURN_IF_ERROR(TimeFixedKernel(table, workload, space, measurer));
  } else {
    TUNEC_RETURN_IF_ERROR(CheckPart(table, std::move(fresh), candidates));
  }
  const Incumbent fixed{space.Initial(table.fixed_sketch).schedule, table.fixed_seconds};
  const std::span<const Candidate> all(candidates);
  while (table.entries.size() < all.size()) {
    const size_t done = table.entries.size();
    const auto batch = all.subspan(done, std::min<size_t>(options.batch, all.size() - done));
    TUNEC_ASSIGN(const auto measured, MeasureAll(measurer, workload, batch, fixed));
    for (size_t i = 0; i < batch.size(); ++i) {
      table.entries.push_back(EntryOf(batch[i], measured[i], table.fixed_seconds));
    }
    if (options.on_batch) TUNEC_RETURN_IF_ERROR(options.on_batch(table, all.size()));
  }
  TUNEC_RETURN_IF_ERROR(CompareFastest(table, workload, all, fixed, measurer));
  return options.on_batch ? options.on_batch(table, all.size()) : Status();
}

}  // namespace tunec
