// A program that compares the schedules that searches of one kernel have found.
//
//   bench_searches draw MODEL GROUP DB COUNT SEED
//   bench_searches compare MODEL GROUP ROUNDS TOP DB...
//
// `draw` measures COUNT random candidates, in turns with the fastest so far, and records them. So
// the database DB is comparable with the database of a search.
//
// `compare` runs schedules of the databases in turns, ROUNDS rounds, as cold as tuning does. These
// are the analytic schedule, the chosen one and the TOP fastest ones of each database. All times
// are measured here; the databases only name the schedules. Prints one JSON object:
//
//     {"kernel", "schedules", "best_us", "analytic": [..],
//      "databases": [{"db", "trials", "chosen": [..], "tried": [..], "ratios": [..]}]}
//
// A list [median, low, high] is the ratio of a time to that of the fastest schedule, with a 90 %
// interval. `tried` is the fastest compared schedule that the database has a trial of. `ratios` are
// those of `chosen` to the fastest chosen schedule, one per round.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/best_schedule.h"
#include "autotune/keys.h"
#include "autotune/measure/measure.h"
#include "autotune/search/history.h"
#include "autotune/search/search_space.h"
#include "autotune/search/strategy.h"
#include "bench/must.h"
#include "compiler/front_end.h"
#include "compiler/options/settings.h"
#include "compiler/tuning/tasks.h"
#include "db/database.h"
#include "support/random.h"

namespace tunec::bench {
namespace {

using Json = nlohmann::ordered_json;

// The kernel of one group of a model, and a bench on which it runs.
struct Subject {
  CompileOptions options;
  TuningTask task;
  TuningKey key;
  ThreadPool pool;
  Workbench bench;

  Subject(const std::string& model, const std::string& group)
      : options(Must(MakeCompileOptions(ModelSettings()))),
        task(TaskOf(model, group, options)),
        key(MakeTuningKey(task, options.target, options.accuracy)),
        pool(options.target.host.threads, Pinning::kCores),
        bench(Must(Workbench::Make({.lowerings = task.lowerings,
                                    .target = options.target,
                                    .accuracy = options.accuracy,
                                    .device = "",
                                    .callers = task.callers},
                                   pool))) {}

  // Returns the settings of searches.py.
  static Settings ModelSettings() {
    Settings settings;
    settings.random_weights = 1;
    settings.threads = 2;
    return settings;
  }
  static TuningTask TaskOf(const std::string& model, const std::string& group,
                           const CompileOptions& options) {
    const FrontReport front = Must(RunFrontEnd(Must(LoadModel(model, ModelSettings())), options));
    const ModelTasks tasks = CollectTasks(front, options.target);
    return tasks.unique[tasks.of_group[Must(FindGroup(front, group))]];
  }
};

void Draw(const std::string& model, const std::string& group, const std::string& file,
          int64_t count, uint64_t seed) {
  Subject subject(model, group);
  Database database = Must(Database::Open(file, OpenMode::kReadWrite));
  const SearchSpace space(SketchesFor({.lowerings = subject.task.lowerings,
                                       .target = subject.options.target,
                                       .rounding = RoundingFreedomFor(subject.options.accuracy)}));
  Random random(StreamSeed(seed, "draws"));
  std::optional<Incumbent> best;
  for (const Candidate& candidate :
       MakeRandomStrategy()->Propose(space, History(), static_cast<int>(count), random)) {
    const Measurement measured =
        subject.bench.Measure(subject.bench.Compile({candidate.schedule}), best);
    TrialRecord record{.status = measured.status, .schedule = candidate.schedule};
    if (measured.status == TrialStatus::kOk) {
      record.samples = measured.samples;
      record.median_seconds = Median(record.samples);
    }
    (void)Must(database.RecordTrial(subject.key, record));
    if (measured.status != TrialStatus::kOk) continue;
    const double seconds =
        measured.ratio && best ? *measured.ratio * best->seconds : record.median_seconds;
    if (!best || seconds < best->seconds) best = Incumbent{candidate.schedule, seconds};
  }
  TUNEC_CHECK(best.has_value(), "none of {} candidates is correct", count);
  const Status chosen = database.Choose(subject.key, best->schedule);
  TUNEC_CHECK(chosen.has_value(), "{}", chosen.error().Format());
}

// The trials of one database, and its choice.
struct Trials {
  std::string file;
  std::vector<TrialRecord> correct;  // the fastest first
  std::string chosen;
};

Trials TrialsOf(const std::string& file, const TuningKey& key) {
  const Database database = Must(Database::Open(file, OpenMode::kReadOnly));
  Trials trials{.file = file, .correct = Must(database.Trials(key)), .chosen = {}};
  std::erase_if(trials.correct, [](const TrialRecord& t) { return t.status != TrialStatus::kOk; });
  std::ranges::stable_sort(trials.correct, {}, &TrialRecord::median_seconds);
  const std::optional<TrialRecord> best = Must(database.Best(key));
  TUNEC_CHECK(best.has_value(), "{} has no trial of this kernel", file);
  trials.chosen = best->schedule;
  return trials;
}

// The compared schedules and their samples. The best schedule is found by the samples of even
// rounds, and the ratios are those of odd rounds. Otherwise the best of many equal schedules would
// seem faster than it is.
class Comparison {
 public:
  Comparison(Subject& subject, std::vector<std::string> schedules, int rounds)
      : schedules_(std::move(schedules)) {
    std::vector<CompiledCandidate> candidates;
    for (const std::string& schedule : schedules_)
      candidates.push_back(subject.bench.Compile({schedule}));
    for (Measurement& measured : subject.bench.Compare(std::move(candidates), {.rounds = rounds})) {
      TUNEC_CHECK(measured.status == TrialStatus::kOk, "{}", measured.message);
      std::vector<double> halves[2];
      for (size_t i = 0; i < measured.samples.size(); ++i)
        halves[i % 2].push_back(measured.samples[i]);
      choosing_.push_back(std::move(halves[0]));
      samples_.push_back(std::move(halves[1]));
    }
    for (size_t i = 1; i < samples_.size(); ++i) {
      if (Median(RatiosOf(choosing_[i], choosing_[fastest_])) < 1) fastest_ = i;
    }
  }

  double FastestSeconds() const { return Median(samples_[fastest_]); }
  bool Has(const std::string& schedule) const {
    return std::ranges::find(schedules_, schedule) != schedules_.end();
  }
  /// Returns the samples of odd rounds of a schedule that Has.
  const std::vector<double>& SamplesOf(const std::string& schedule) const {
    return samples_[Find(schedule)];
  }
  /// Returns the schedule's ratio to the fastest one in even rounds.
  double RatioForChoice(const std::string& schedule) const {
    return Median(RatiosOf(choosing_[Find(schedule)], choosing_[fastest_]));
  }
  Json ToFastest(const std::string& schedule) const {
    const std::vector<double>& samples = SamplesOf(schedule);
    const double ratio = Median(RatiosOf(samples, samples_[fastest_]));
    const auto interval = RatioInterval(samples, samples_[fastest_]);
    return {ratio, interval ? interval->low : ratio, interval ? interval->high : ratio};
  }

 private:
  size_t Find(const std::string& schedule) const {
    return std::ranges::find(schedules_, schedule) - schedules_.begin();
  }

  std::vector<std::string> schedules_;
  std::vector<std::vector<double>> choosing_;  // samples of even rounds, one vector per schedule
  std::vector<std::vector<double>> samples_;   // samples of odd rounds
  size_t fastest_ = 0;
};

void Compare(const std::string& model, const std::string& group, int rounds, size_t top,
             const std::vector<std::string>& files) {
  Subject subject(model, group);
  std::vector<Trials> databases;
  for (const std::string& file : files) databases.push_back(TrialsOf(file, subject.key));
  const TunerOptions tuner{.target = subject.options.target, .accuracy = subject.options.accuracy};
  std::vector<std::string> schedules = {Print(Must(BestSchedule(nullptr, subject.task, tuner)))};
  const auto add = [&](const std::string& schedule) {
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  };
  for (const Trials& trials : databases) {
    add(trials.chosen);
    for (size_t i = 0; i < std::min(top, trials.correct.size()); ++i)
      add(trials.correct[i].schedule);
  }
  const Comparison comparison(subject, schedules, rounds);
  const auto median = [&](const Trials& trials) {
    return comparison.RatioForChoice(trials.chosen);
  };
  const std::vector<double>& reference =
      comparison.SamplesOf(std::ranges::min(databases, {}, median).chosen);
  Json rows = Json::array();
  for (const Trials& trials : databases) {
    std::string tried = trials.chosen;
    for (const TrialRecord& trial : trials.correct) {
      if (!comparison.Has(trial.schedule)) continue;
      const double least = comparison.RatioForChoice(tried);
      if (comparison.RatioForChoice(trial.schedule) < least) tried = trial.schedule;
    }
    rows.push_back({{"db", trials.file},
                    {"trials", trials.correct.size()},
                    {"chosen", comparison.ToFastest(trials.chosen)},
                    {"tried", comparison.ToFastest(tried)},
                    {"ratios", RatiosOf(comparison.SamplesOf(trials.chosen), reference)}});
  }
  fmt::print("{}\n", Json{{"kernel", subject.task.description},
                          {"schedules", schedules.size()},
                          {"best_us", 1e6 * comparison.FastestSeconds()},
                          {"analytic", comparison.ToFastest(schedules[0])},
                          {"databases", rows}}
                         .dump());
}

}  // namespace
}  // namespace tunec::bench

// NOLINTNEXTLINE(bugprone-exception-escape): an exception ends the program, like errors in Must.
int main(int argc, char** argv) {
  using tunec::bench::Compare, tunec::bench::Draw;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 6 && words[0] == "draw") {
    Draw(words[1], words[2], words[3], std::strtoll(words[4].c_str(), nullptr, 10),
         std::strtoull(words[5].c_str(), nullptr, 10));
  } else if (words.size() >= 6 && words[0] == "compare") {
    Compare(words[1], words[2], static_cast<int>(std::strtol(words[3].c_str(), nullptr, 10)),
            std::strtoul(words[4].c_str(), {}, 10), {words.begin() + 5, words.end()});
  } else {
    fmt::print(stderr,
               "usage: bench_searches draw MODEL GROUP DB COUNT SEED\n"
               "       bench_searches compare MODEL GROUP ROUNDS TOP DB...\n");
    return 2;
  }
  return 0;
}
