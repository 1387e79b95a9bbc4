// A test fixture for tests of the search. Its measurer, clock and machine are scripted.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/tune_with.h"
#include "support/random.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec::testing {

/// A measurer whose times depend only on the schedule's text, unless a test sets `seconds`. Trials
/// for which `fails` returns true have wrong results.
class ScriptedMeasurer : public Measurer {
 public:
  Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                 const std::optional<Incumbent>& incumbent,
                 const OnMeasured& on_measured) override {
    batches.push_back(candidates.size());
    incumbents.push_back(incumbent);
    for (size_t i = candidates.size(); i-- > 0;) {  // not in the requested order
      const std::string& schedule = candidates[i].schedule;
      EXPECT_TRUE(seen.insert(Print(workload.lowerings[0].compute) + schedule).second)
          << "measured twice: " << schedule;
      order.push_back(schedule);
      if (on_candidate) on_candidate();
      if (Status status = on_measured(i, Outcome(schedule)); !status) return status;
    }
    return failure ? Status(std::unexpected(*failure)) : Status();
  }
  Status Compare(const Workload&, std::span<const CandidateRequest> candidates, double,
                 const OnMeasured& on_measured) override {
    constexpr size_t kRounds = 7;
    compared.emplace_back();
    for (size_t i = 0; i < candidates.size(); ++i) {
      compared.back().push_back(candidates[i].schedule);
      Measurement again = Outcome(candidates[i].schedule);
      const double factor = compare ? compare(candidates[i].schedule) : 1;
      again.samples.assign(kRounds, again.samples.at(0) * factor);
      if (Status status = on_measured(i, again); !status) return status;
    }
    return {};
  }
  static double Seconds(const std::string& schedule) {
    return 1e-3 * (1 + static_cast<double>(StreamSeed(0, schedule) % 1000) / 1000);
  }
  Measurement Outcome(const std::string& schedule) const {
    if (fails && fails(schedule)) {
      return {.status = TrialStatus::kWrongResult, .message = "planted"};
    }
    return {.samples = std::vector<double>(3, seconds ? *seconds : Seconds(schedule)),
            .compile_ms = 10,
            .check_ms = 2,
            .measure_ms = 5,
            .artifact = CodeOf(schedule),
            .note = note};
  }

  static Artifact CodeOf(const std::string& schedule) {
    return {.object = "code of\n" + schedule, .metadata = "{}"};
  }

  std::function<bool(const std::string&)> fails;
  std::function<void()> on_candidate;  // called before Measure reports each result
  std::optional<double> seconds;       // time of every schedule, instead of Seconds()
  std::string note;                    // note of every schedule
  std::optional<Error> failure;
  std::set<std::string> seen;
  std::vector<std::string> order;
  std::vector<size_t> batches;
  std::vector<std::optional<Incumbent>> incumbents;  // incumbent of each batch
  std::vector<std::vector<std::string>> compared;    // the schedules of each Compare
  /// Returns the factor between the compared and the measured time of a schedule; empty: 1.
  std::function<double(const std::string&)> compare;
};

/// A measurer that forwards all calls to a measurer that the test owns.
class Borrowed : public Measurer {
 public:
  explicit Borrowed(Measurer& measurer) : measurer_(measurer) {}
  Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                 const std::optional<Incumbent>& incumbent,
                 const OnMeasured& on_measured) override {
    return measurer_.Measure(workload, candidates, incumbent, on_measured);
  }
  Status Compare(const Workload& workload, std::span<const CandidateRequest> candidates,
                 double seconds, const OnMeasured& on_measured) override {
    return measurer_.Compare(workload, candidates, seconds, on_measured);
  }

 private:
  Measurer& measurer_;
};

/// Returns a roofline with a ceiling of float32 arithmetic, in operations per second, and a ceiling
/// of memory bandwidth. `disturbance` is the share of the machine that other processes had.
inline Roofline RooflineOf(double flops, double bytes_per_second, double disturbance = 0) {
  return {.bytes_per_second = bytes_per_second,
          .arithmetics = {{Float32Fma().name, {flops, disturbance}}}};
}

inline Compute Matmul(int64_t n) {
  return test::MustParse(test::ProductText(
      {.rows = 64, .columns = 128, .length = n, .right = {.weight = "constant"}, .value = ""}));
}

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    options_.target = DetectCpu(2);
    options_.trials = 40;
    options_.seed = 3;
  }
  // Returns the sketches of a small artificial search space. The tests check the search, not the
  // real sketches.
  static std::vector<Sketch> Sketches(const TuningTask&) {
    const auto unroll = [](const std::string& loop, int64_t factor) {
      return UnrollStep{loop, static_cast<int>(factor)};
    };
    Sketch main{.name = "main"};
    for (const char* name : {"i", "j", "k"}) main.knobs.push_back({name, {1, 2, 4, 8}, 1});
    main.fill = [unroll](const std::vector<int64_t>& v) {
      return Schedule{
          .lowering = "direct",
          .loop_steps = {unroll("acc.i", v[0]), unroll("acc.j", v[1]), unroll("acc.k", v[2])}};
    };
    Sketch other{.name = "other", .knobs = {{"factor", {16, 32, 64}, 0}}};
    other.fill = [unroll](const std::vector<int64_t>& v) {
      return Schedule{.lowering = "direct", .loop_steps = {unroll("acc.k", v[0])}};
    };
    Sketch naive{.name = "naive"};
    naive.fill = [](const std::vector<int64_t>&) { return Schedule{.lowering = "direct"}; };
    return {main, other, naive};
  }
  static std::vector<Sketch> SketchesAndOneMore(const TuningTask& task) {
    std::vector<Sketch> sketches = Sketches(task);
    Sketch added{.name = "added", .knobs = {{"factor", {3, 5}, 0}}};
    added.fill = [](const std::vector<int64_t>& v) {
      return Schedule{.lowering = "direct",
                      .loop_steps = {UnrollStep{"acc.i", static_cast<int>(v[0])}}};
    };
    sketches.insert(sketches.begin() + 1, added);
    return sketches;
  }
  /// Returns sketches with so many candidates that no test measures all of them.
  static std::vector<Sketch> ManySketches(const TuningTask& task) {
    std::vector<Sketch> sketches = Sketches(task);
    for (Knob& knob : sketches[0].knobs) {
      knob.choices.clear();
      for (int64_t factor = 1; factor <= 16; ++factor) knob.choices.push_back(factor);
    }
    return sketches;
  }
  TuneReport Tuned(ScriptedMeasurer& measurer, const SketchSource& sketches = Sketches) {
    const TuningParts parts{.make_measurer = [&]() -> Result<std::unique_ptr<Measurer>> {
                              return std::make_unique<Borrowed>(measurer);
                            },
                            .sketches = sketches,
                            .ceilings = meters_,
                            .machine_is_busy = [this] { return busy_; },
                            .clock = [this] { return now_; }};
    Result<TuneReport> report = TuneWith(*database_, tasks_, options_, parts);
    if (!report) ADD_FAILURE() << report.error().Format();
    return report ? *report : TuneReport{};
  }
  int64_t Recorded(const TuningTask& task) {
    return *database_->CountTrials(MakeTuningKey(task, options_.target, options_.accuracy));
  }

  std::unique_ptr<Database> database_ =
      std::make_unique<Database>(*Database::Open(":memory:", OpenMode::kReadWrite));
  std::vector<TuningTask> tasks_ = {TaskOf(Matmul(96), 2), TaskOf(Matmul(160), 1)};
  TunerOptions options_;
  Ceilings::Meters meters_;  // if empty, no ceiling is measured
  bool busy_ = false;
  double now_ = 0;
};

}  // namespace tunec::testing
