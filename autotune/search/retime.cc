#include "autotune/search/retime.h"

#include <cmath>
#include <map>
#include <utility>

#include "autotune/measure/measure_time.h"

namespace tunec {
namespace {

// Records new times of the candidates. The geometric mean of the factors between new and old times
// is the drift of the machine. The drift is divided out, so that the new times are comparable with
// the old times of other candidates. Fewer than two new times are not recorded.
Status RecordRetimed(TaskSearch& search, const std::vector<std::string>& schedules,
                     const std::map<size_t, Measurement>& timed, Database& database) {
  std::vector<std::pair<TrialRecord, double>> again;
  double drift = 0;
  for (const auto& [i, measurement] : timed) {
    if (measurement.status != TrialStatus::kOk || measurement.samples.empty()) continue;
    TUNEC_ASSIGN(std::optional<TrialRecord> record, database.Find(search.key(), schedules.at(i)));
    if (!record || record->status != TrialStatus::kOk) continue;
    const double seconds = Median(measurement.samples);
    drift += std::log(seconds / record->median_seconds);
    record->samples.insert(record->samples.end(), measurement.samples.begin(),
                           measurement.samples.end());
    record->mad_seconds = MedianDeviation(measurement.samples);
    again.emplace_back(std::move(*record), seconds);
  }
  if (again.size() < 2) return {};
  const double factor = std::exp(drift / static_cast<double>(again.size()));
  for (auto& [record, seconds] : again) {
    record.median_seconds = seconds / factor;
    TUNEC_ASSIGN(const RecordOutcome outcome, database.RecordTrial(search.key(), record));
    if (outcome == RecordOutcome::kReplaced)
      search.UpdateTime(record.schedule, record.median_seconds);
  }
  return {};
}

}  // namespace

// Times candidates close to the best again, since a good time may be due to noise.
Status RetimeBest(TaskSearch& search, Measurer& measurer, Database& database) {
  constexpr size_t kMost = 4;
  constexpr double kClose = 1.1;
  constexpr int kRounds = 7;
  std::vector<std::string> schedules;
  std::vector<CandidateRequest> requests;
  for (const TriedCandidate& tried : search.Ranked()) {
    if (schedules.size() == kMost) break;
    if (tried.seconds > kClose * search.progress.best_seconds.value_or(0)) break;
    schedules.push_back(tried.schedule);
    requests.push_back({tried.schedule});
  }
  if (schedules.size() < 2) return {};
  std::map<size_t, Measurement> timed;
  const Status status = measurer.Retime(search.MakeWorkload(), requests, kRounds,
                                        [&](size_t i, const Measurement& measurement) -> Status {
                                          timed[i] = measurement;
                                          return {};
                                        });
  // If the timing failed, the recorded times stay valid, so only a cancellation is returned.
  if (!status) {
    return status.error().code == ErrorCode::kCancelled ? status : Status();
  }
  return RecordRetimed(search, schedules, timed, database);
}

}  // namespace tunec
