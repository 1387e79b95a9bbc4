#include "autotune/search/finalists.h"

#include <algorithm>
#include <map>
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
  constexpr size_t kMost = 8;
  constexpr double kClose = 1.05;
  // A long kernel has fewer finalists: a comparison has at least seven rounds.
  constexpr double kMostRoundSeconds = 3;
  std::vector<std::string> finalists;
  const auto add = [&](const std::string& schedule) {
    if (std::ranges::find(finalists, schedule) == finalists.end()) finalists.push_back(schedule);
  };
  if (chosen) add(*chosen);
  if (const auto analytic = search.AnalyticSchedule()) add(*analytic);
  const std::vector<TriedCandidate> ranked = search.Ranked();
  double round = 0;
  size_t close = 0;
  for (const TriedCandidate& tried : ranked) {
    round += tried.seconds;
    const bool fits = close == 0 || (close < kMost && round <= kMostRoundSeconds);
    if (!fits) break;
    if (tried.low > kClose * ranked.front().seconds) continue;
    add(tried.schedule);
    ++close;
  }
  return finalists;
}

// Returns the position of the finalist to choose: 0, the reference, unless another one is faster by
// the whole interval of its median ratio.
size_t FindWinner(const ComparedTimes& times) {
  size_t fastest = 0;
  double least = 1;
  for (size_t i = 1; i < times.size(); ++i) {
    if (times[i].size() < times[0].size()) continue;  // left out as slower than another one
    const double ratio = Median(RatiosOf(times[i], times[0]));
    if (ratio < least) fastest = i;
    least = std::min(least, ratio);
  }
  if (fastest == 0) return 0;
  const auto interval = FindMedianInterval(RatiosOf(times[fastest], times[0]), kDecided);
  return interval && interval->high < 1 ? fastest : 0;
}

// Replaces the samples of a recorded trial by those of the comparison.
Status RecordCompared(TaskSearch& search, const std::string& schedule,
                      const std::vector<double>& samples, Database& database) {
  TUNEC_ASSIGN(std::optional<TrialRecord> record, database.Find(search.key(), schedule));
  if (!record || record->status != TrialStatus::kOk) return {};
  record->samples = samples;
  record->median_seconds = Median(samples);
  record->mad_seconds = MedianDeviation(samples);
  record->created_at = std::max(UnixNow(), record->created_at + 1);  // so that it replaces the old
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
    if (times[0].empty()) return {};
    winner = FindWinner(times);
    const std::optional<double> reference = search.SecondsOf(finalists[0]);
    for (size_t i = 0; i < finalists.size(); ++i) {
      if (times[i].empty()) continue;
      TUNEC_RETURN_IF_ERROR(RecordCompared(search, finalists[i], times[i], database));
      if (reference)
        search.UpdateTime(finalists[i], *reference * Median(RatiosOf(times[i], times[0])));
    }
  }
  TUNEC_RETURN_IF_ERROR(database.Choose(search.key(), finalists[winner]));
  search.Choose(finalists[winner]);
  return {};
}

}  // namespace tunec
