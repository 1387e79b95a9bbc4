#include "autotune/search/finalists.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autotune/measure/measure_time.h"

namespace tunec {
namespace {

// Returns the schedules to compare, the reference first. The result is empty if no schedule is
// correct.
std::vector<std::string> SelectFinalists(const TaskSearch& search,
                                         const std::optional<std::string>& chosen) {
  constexpr size_t kMost = 5;
  constexpr double kClose = 1.05;
  // A long kernel has fewer finalists: a comparison has at least seven rounds.
  constexpr double kMostRoundSeconds = 3;
  std::vector<std::string> finalists;
  double round = 0;  // seconds of one run of each finalist
  const auto add = [&](const std::string& schedule) {
    if (std::ranges::find(finalists, schedule) != finalists.end()) return;
    finalists.push_back(schedule);
    round += search.SecondsOf(schedule).value_or(0);
  };
  if (chosen) add(*chosen);
  if (const auto analytic = search.AnalyticSchedule()) add(*analytic);
  const std::vector<TriedCandidate> ranked = search.Ranked();
  size_t close = 0;
  for (const TriedCandidate& tried : ranked) {
    if (tried.low > kClose * ranked.front().seconds) continue;
    if (close > 0 && (close == kMost || round + tried.seconds > kMostRoundSeconds)) break;
    add(tried.schedule);
    ++close;
  }
  return finalists;
}

// Returns the position of the finalist to choose: the reference, unless another one is faster by
// the whole interval of its median ratio.
size_t FindWinner(const ComparedTimes& times, size_t reference) {
  const size_t fastest = FindFastest(times, reference);
  const auto interval = RatioInterval(times[fastest], times[reference]);
  return interval && interval->high < 1 ? fastest : reference;
}

// Replaces the samples of a recorded trial by those of the comparison.
Status RecordCompared(TaskSearch& search, const std::string& schedule,
                      const std::vector<double>& samples, Database& database) {
  TUNEC_ASSIGN(std::optional<TrialRecord> record, database.Find(search.key(), schedule));
  if (!record || record->status != TrialStatus::kOk) return {};
  record->samples = samples;
  record->median_seconds = Median(samples);
  record->mad_seconds = MedianDeviation(samples);
  // The new record must be later than the old one to replace it.
  const int64_t before = std::min(record->created_at, std::numeric_limits<int64_t>::max() - 1);
  record->created_at = std::max(UnixNow(), before + 1);
  TUNEC_ASSIGN([[maybe_unused]] const RecordOutcome outcome,
               database.RecordTrial(search.key(), *record));
  return {};
}

}  // namespace

Status ChooseFinalist(TaskSearch& search, Measurer& measurer, Database& database, double seconds) {
  TUNEC_ASSIGN(const std::optional<std::string> chosen, database.Chosen(search.key()));
  const std::vector<std::string> finalists = SelectFinalists(search, chosen);
  if (finalists.empty()) return {};
  size_t winner = 0;
  if (finalists.size() > 1) {
    std::vector<CandidateRequest> requests;
    for (const std::string& schedule : finalists) requests.push_back({schedule});
    ComparedTimes times(finalists.size());
    const Status status = measurer.Compare(search.MakeWorkload(), requests, seconds,
                                           [&](size_t i, const Measurement& measurement) -> Status {
                                             if (measurement.status == TrialStatus::kOk)
                                               times.at(i) = measurement.samples;
                                             return {};
                                           });
    // If the comparison failed, records and choice stay, so only a cancellation is returned.
    if (!status) return status.error().code == ErrorCode::kCancelled ? status : Status();
    // The first finalist that runs is the reference.
    size_t reference = 0;
    while (reference < times.size() && times[reference].empty()) ++reference;
    if (reference == times.size()) return {};
    winner = FindWinner(times, reference);
    const std::optional<double> known = search.SecondsOf(finalists[reference]);
    for (size_t i = reference; i < finalists.size(); ++i) {
      if (times[i].empty()) continue;
      TUNEC_RETURN_IF_ERROR(RecordCompared(search, finalists[i], times[i], database));
      if (known)
        search.UpdateTime(finalists[i], *known * Median(RatiosOf(times[i], times[reference])));
    }
  }
  const Status status = database.Choose(search.key(), finalists[winner]);
  if (status) search.Choose(finalists[winner]);
  // Another process may have removed the trial meanwhile.
  return status || status.error().code == ErrorCode::kNotFound ? Status() : status;
}

}  // namespace tunec
