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
  return {};
}

}  // namespace tunec
