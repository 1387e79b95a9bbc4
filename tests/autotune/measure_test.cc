#include "autotune/measure/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "autotune/checker/guarded_memory.h"
#include "autotune/checker/kernel_reference.h"
#include "device/open_device.h"
#include "support/random.h"
#include "tests/autotune/fault.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using testing::Fault;
using ::testing::HasSubstr;
using testing::kGoodSchedule;
using testing::kIllegalSchedule;
using testing::MatmulRelu;
using testing::QuantisedMatmul;
using testing::SoftmaxRows;
using testing::WithFault;
using testing::WorkloadOf;

class MeasureTest : public ::testing::Test {
 protected:
  Measurement Measured(const Compute& compute, const CandidateRequest& request) {
    Result<Workbench> bench = Workbench::Make(WorkloadOf(compute), pool_, testing::PlantedFaults());
    if (!bench) ADD_FAILURE() << bench.error().Format();
    if (!bench) return {};
    return bench->Measure(bench->Compile(request), std::nullopt);
  }
  ThreadPool pool_{2};
};

TEST_F(MeasureTest, ACorrectCandidateIsTimed) {
  const Measurement result = Measured(MatmulRelu(), {kGoodSchedule});
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_GE(result.samples.size(), 3u);
  ASSERT_TRUE(result.accuracy_error);
  EXPECT_LT(*result.accuracy_error, 1e-6);
}

TEST_F(MeasureTest, ACandidateThatIsCompiledAheadIsCompiledOnce) {
  std::atomic<int> compiled = 0;
  const auto hook = [&](LoopPipelineOptions&, std::string_view) { ++compiled; };
  const std::vector<CandidateRequest> ahead = {{kGoodSchedule}, {kIllegalSchedule}};
  Result<Workbench> bench =
      Workbench::Make(WorkloadOf(MatmulRelu()), pool_, hook, /*lock=*/nullptr, ahead);
  ASSERT_TRUE(bench) << bench.error().Format();
  const Measurement result = bench->Measure(bench->Compile(ahead[0]), std::nullopt);
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_GT(result.compile_ms, 0);
  EXPECT_EQ(compiled, 1) << "only one of two threads is idle while the reference is computed";
}

TEST_F(MeasureTest, AFailureAheadIsReportedWhenTheCandidateIsCompiled) {
  const std::vector<CandidateRequest> ahead = {{kIllegalSchedule}};
  Result<Workbench> bench =
      Workbench::Make(WorkloadOf(MatmulRelu()), pool_, {}, /*lock=*/nullptr, ahead);
  ASSERT_TRUE(bench) << bench.error().Format();
  const CompiledCandidate candidate = bench->Compile(ahead[0]);
  ASSERT_TRUE(candidate.failure());
  EXPECT_EQ(candidate.failure()->status, TrialStatus::kIllegal);
}

// Multiplies a row by a matrix of 512 KiB, once a constant and once an input. Other processes may
// slow down both cases, so the least of several measured times is used.
TEST_F(MeasureTest, ConstantsAreColdAndInputsWarm) {
  const auto least = [&](const std::string& weight) {
    const Compute compute = test::MustParse(test::ProductText(
        {.rows = 1, .columns = 512, .length = 256, .right = {.weight = weight}, .value = ""}));
    double seconds = 1e9;
    for (int turn = 0; turn < 5; ++turn) {
      const Measurement result =
          Measured(compute, {"lower direct\nsplit acc.j 64\nreorder acc.j.0 acc.k acc.j.1\n"
                             "vectorize acc.j.1\nvectorize acc.init.j\n"});
      EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
      for (const double sample : result.samples) seconds = std::min(seconds, sample);
    }
    return seconds;
  };
  EXPECT_GT(least("constant"), 1.2 * least(""));
}

TEST(GuardedMemory, OfCallersLiesAsTheirArraysDo) {
  ThreadPool pool(1);
  const auto device = OpenDevice({.host = DetectCpu(1).host}, pool);
  for (const size_t bytes : {100UL, 5000UL, 3UL << 20}) {
    const auto of_caller = GuardedMemory::Allocate(**device, bytes, Placement::kCallers);
    const auto own = GuardedMemory::Allocate(**device, bytes);
    ASSERT_TRUE(of_caller && own);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(of_caller->data().address) % 4096, 16u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(own->data().address) % 64, 0u);
    EXPECT_EQ(*of_caller->Overrun(), 0);
    of_caller->data().on_host[-1] = std::byte{0};
    EXPECT_EQ(*of_caller->Overrun(), -1);
  }
}

TEST_F(MeasureTest, PackedWeightsArePrepacked) {
  const Measurement result =
      Measured(MatmulRelu(), {"lower direct\npack B 1/8 0 1%8\nparallelize acc.i\n"});
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
}

// If products are rounded before they are added, the error is exactly that of the sequential
// evaluation. With fused multiply-adds the error sometimes differs. The checker may accept both.
TEST_F(MeasureTest, ExactRoundsProductsBeforeTheyAreAdded) {
  const auto error_under = [&](AccuracyMode mode, uint64_t seed) {
    Workload workload = WorkloadOf(MatmulRelu());
    workload.accuracy = {mode};
    workload.seed = seed;
    Result<Workbench> bench = Workbench::Make(workload, pool_);
    if (!bench) return -1.0;
    return bench->Measure(bench->Compile({kGoodSchedule}), std::nullopt)
        .accuracy_error.value_or(-1);
  };
  bool fused_differ = false;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const auto reference =
        ComputeKernelReference(MatmulRelu(), {AccuracyMode::kExact}, seed, DetectCpu(2), pool_);
    ASSERT_TRUE(reference) << reference.error().Format();
    const OutputChecker& checker = reference->checkers[0];
    const double separate = MeasureError(checker.sequential, checker).e;
    EXPECT_EQ(error_under(AccuracyMode::kExact, seed), separate);
    fused_differ |= error_under(AccuracyMode::kF32, seed) != separate;
  }
  EXPECT_TRUE(fused_differ);
}

TEST_F(MeasureTest, AMissingInitialisationIsAWrongResult) {
  for (const Compute& compute : {MatmulRelu(), SoftmaxRows()}) {
    const Measurement result = Measured(compute, {WithFault("lower direct\n", Fault::kDropInit)});
    EXPECT_EQ(result.status, TrialStatus::kWrongResult) << compute.name;
    EXPECT_NE(result.message, "");
    EXPECT_EQ(result.samples.size(), 1u) << "of the run that was checked";
  }
}

TEST_F(MeasureTest, AWrongIndexIsAWrongResult) {
  const Measurement result =
      Measured(MatmulRelu(), {WithFault(kGoodSchedule, Fault::kReverseIndex)});
  EXPECT_EQ(result.status, TrialStatus::kWrongResult);
  EXPECT_THAT(result.message, HasSubstr("error"));
}

// The checker accepts the result of another step only if the sum is close to an edge.
TEST_F(MeasureTest, FaultsBehindStepsAreWrongResults) {
  for (const Fault fault : {Fault::kDropInit, Fault::kReverseIndex, Fault::kDropTerm,
                            Fault::kTwoSteps, Fault::kOverrun}) {
    const Measurement result = Measured(QuantisedMatmul(), {WithFault("lower direct\n", fault)});
    EXPECT_EQ(result.status, TrialStatus::kWrongResult) << Name(fault);
  }
  const Measurement right = Measured(QuantisedMatmul(), {"lower direct\n"});
  EXPECT_EQ(right.status, TrialStatus::kOk) << right.message;
}

// A few of the 64 x 64 sums are close to the edge between two multiples of 1/512. In another order
// they may fall on the other side.
TEST_F(MeasureTest, SumsInAnotherOrderAreRightBehindSteps) {
  for (const char* schedule : {"lower direct\nreorder acc.k acc.i acc.j\nvectorize acc.j\n",
                               "lower direct\nsplit acc.k 4\nreorder acc.i acc.j acc.k.1 acc.k.0\n",
                               "lower direct\nvectorize acc.k\n"}) {
    const Measurement result = Measured(QuantisedMatmul(), {schedule});
    EXPECT_EQ(result.status, TrialStatus::kOk) << schedule << result.message;
  }
}

TEST_F(MeasureTest, WritingBeyondAnOutputIsAWrongResult) {
  const Measurement result = Measured(MatmulRelu(), {WithFault(kGoodSchedule, Fault::kOverrun)});
  EXPECT_EQ(result.status, TrialStatus::kWrongResult);
  EXPECT_THAT(result.message, HasSubstr("beyond C"));
}

TEST_F(MeasureTest, WritingBeyondAPackedWeightIsAWrongResult) {
  const Measurement result = Measured(
      MatmulRelu(), {WithFault("lower direct\npack B 1/8 0 1%8\n", Fault::kOverrunPacked)});
  EXPECT_EQ(result.status, TrialStatus::kWrongResult);
  EXPECT_THAT(result.message, HasSubstr("beyond B.pack"));
}

TEST_F(MeasureTest, AnIllegalScheduleNamesItsDependence) {
  const Measurement result = Measured(MatmulRelu(), {kIllegalSchedule});
  EXPECT_EQ(result.status, TrialStatus::kIllegal);
  EXPECT_THAT(result.message, HasSubstr("acc"));
}

TEST_F(MeasureTest, NonsenseIsACompileError) {
  EXPECT_EQ(Measured(MatmulRelu(), {"lower direct\nsplit nowhere 2\n"}).status,
            TrialStatus::kCompileError);
  EXPECT_EQ(Measured(MatmulRelu(), {"lower winograd\n"}).status, TrialStatus::kCompileError);
  EXPECT_EQ(Measured(MatmulRelu(), {"rubbish"}).status, TrialStatus::kCompileError);
}

TEST_F(MeasureTest, CandidatesAreComparedInTurns) {
  Result<Workbench> bench = Workbench::Make(WorkloadOf(MatmulRelu()), pool_);
  ASSERT_TRUE(bench) << bench.error().Format();
  std::vector<CompiledCandidate> candidates;
  candidates.push_back(bench->Compile({kGoodSchedule}));
  candidates.push_back(bench->Compile({kIllegalSchedule}));
  candidates.push_back(bench->Compile({"lower direct\n"}));
  const std::vector<Measurement> timed = bench->Compare(std::move(candidates), {.rounds = 5});
  ASSERT_EQ(timed.size(), 3u);
  EXPECT_EQ(timed[0].samples.size(), 5u);
  EXPECT_EQ(timed[1].status, TrialStatus::kIllegal);
  EXPECT_EQ(timed[2].samples.size(), 5u);
}

// A simulated kernel, the number of its runs, and a clock that only these runs advance.
struct Simulated {
  double now = 0;
  int runs = 0;
  std::vector<double> Time(double seconds, std::optional<double> best, TimingPolicy policy = {}) {
    return *TimeRuns(
        [this, seconds](int times) {
          now += seconds * times;
          runs += times;
          return Result<double>(seconds * times);
        },
        best, policy, [this] { return now; });
  }
};

TEST(TimeRunsTest, ShortKernelsRunManyTimesASample) {
  Simulated simulated;
  const std::vector<double> samples = simulated.Time(1e-6, std::nullopt);
  EXPECT_EQ(samples.size(), 25u);
  EXPECT_NEAR(Median(samples), 1e-6, 1e-9);
  EXPECT_GE(simulated.runs, 25 * 100);
}

TEST(TimeRunsTest, TheBudgetBoundsTheSamples) {
  Simulated simulated;
  EXPECT_EQ(simulated.Time(5e-3, std::nullopt).size(), 4u);
  EXPECT_EQ(simulated.Time(100e-3, std::nullopt).size(), 3u);
  EXPECT_EQ(simulated.Time(2, std::nullopt).size(), 1u);
}

TEST(TimeRunsTest, ASlowCandidateLosesTheRaceAfterTwoSamples) {
  Simulated simulated;
  EXPECT_EQ(simulated.Time(3e-3, 1e-3).size(), 2u);
  EXPECT_EQ(simulated.runs, 3);
  EXPECT_GT(simulated.Time(1.5e-3, 1e-3).size(), 3u);
}

TEST(TimeRunsTest, TheCheckingRunMayDecide) {
  Simulated simulated;
  const auto run = [&](int times) {
    simulated.runs += times;
    return Result<double>(0.05 * times);
  };
  const Clock clock = [] { return 0.0; };
  EXPECT_EQ(TimeRuns(run, 1e-3, {}, clock, 0.1), (std::vector<double>{0.05}));
  EXPECT_EQ(simulated.runs, 1) << "the warm-up run confirms that the candidate is slow";
  EXPECT_EQ(TimeRuns(run, std::nullopt, {}, clock, 3), (std::vector<double>{3}));
  EXPECT_EQ(simulated.runs, 1);
  EXPECT_GT(TimeRuns(run, 0.04, {}, clock, 0.45)->size(), 2u) << "only the checking run was slow";
}

TEST(TimeRunsTest, AClockThatStandsStillEnds) {
  const auto samples =
      TimeRuns([](int) { return 0.0; }, std::nullopt, {.most_samples = 2}, [] { return 1.0; });
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), 2u);
  EXPECT_GT(samples->front(), 0);
}

// A simulated machine that times two kernels in turns and becomes slower: run r takes 1 + r / 1000
// times the kernel's time. `others` is the number of runs of the second kernel.
struct SlowingDown {
  double now = 0;
  int runs = 0;
  int others = 0;

  TimeOf Of(double seconds, int& count) {
    return [this, seconds, &count](int times) {
      double sum = 0;
      for (int i = 0; i < times; ++i) sum += seconds * (1 + 1e-3 * runs++);
      count += times;
      now += sum;
      return Result<double>(sum);
    };
  }
  TimesInTurns Time(double seconds, double other, double known,
                    std::optional<double> before = std::nullopt) {
    int own = 0;
    ReferenceRuns reference{.time_of = Of(other, others), .known = known};
    return *TimeInTurns(
        Of(seconds, own), reference, {}, [this] { return now; }, before);
  }
};

TEST(TimeInTurnsTest, RatiosDoNotDependOnTheMachinesSpeed) {
  SlowingDown machine;
  const TimesInTurns times = machine.Time(1.05e-3, 1e-3, 1e-3);
  EXPECT_GE(times.samples.size(), 3u);
  EXPECT_EQ(times.samples.size(), times.ratios.size());
  EXPECT_EQ(times.turns + 1, machine.others) << "one run of warming up";
  EXPECT_NEAR(Median(times.ratios), 1.05, 0.003);
  // The machine is half as fast as when the other kernel's time was recorded. The samples are the
  // measured times.
  machine.runs = 1000;
  const TimesInTurns slow = machine.Time(1.05e-3, 1e-3, 1e-3);
  EXPECT_NEAR(Median(slow.ratios), 1.05, 0.003);
  EXPECT_NEAR(Median(slow.samples), 2.1e-3, 0.1e-3);
}

TEST(TimeInTurnsTest, SlowerCandidatesEndEarly) {
  SlowingDown machine;
  EXPECT_EQ(machine.Time(1.5e-3, 1e-3, 1e-3).samples.size(), 3u) << "all ratios above 1.1";
  EXPECT_EQ(machine.Time(3e-3, 1e-3, 1e-3).samples.size(), 2u) << "both ratios above 2";
  machine = {};
  EXPECT_EQ(machine.Time(20e-3, 1e-3, 1e-3, 0.1).samples, std::vector<double>{20e-3});
  EXPECT_EQ(machine.others, 0);
}

TEST(TimeInTurnsTest, LongRunsHaveOneTurn) {
  SlowingDown machine;
  EXPECT_EQ(machine.Time(2, 1.9, 1.9).samples.size(), 1u);
  EXPECT_EQ(machine.others, 2);
}

// Two kernels of one machine. While `is_slow` is true, the machine is three times slower.
struct Disturbed {
  double now = 0;
  std::function<bool()> is_slow;
  TimeOf Of(double seconds) {
    return [this, seconds](int times) {
      const double sum = seconds * times * (is_slow() ? 3 : 1);
      now += sum;
      return Result<double>(sum);
    };
  }
  TimesInTurns Time(double seconds, double other) {
    ReferenceRuns reference{.time_of = Of(other), .known = other, .usual = {}};
    for (int i = 0; i < 128; ++i) reference.usual.Add(other);
    return *TimeInTurns(Of(seconds), reference, {}, [this] { return now; });
  }
};

TEST(TimeInTurnsTest, DisturbedTurnsAreTakenAgain) {
  Disturbed machine;
  int calls = 0;
  machine.is_slow = [&] { return ++calls % 8 >= 6; };  // both kernels of every fourth turn
  const TimesInTurns times = machine.Time(1e-3, 1e-3);
  EXPECT_GT(times.disturbed, 0);
  EXPECT_EQ(times.turns, static_cast<int>(times.samples.size()) + times.disturbed);
  for (const double sample : times.samples) EXPECT_NEAR(sample, 1e-3, 1e-9);
}

// A preemption of the candidate alone does not lose the candidate.
TEST(TimeInTurnsTest, OneSlowSampleDecidesNothing) {
  Disturbed machine;
  int calls = 0;
  machine.is_slow = [&] { return ++calls == 4; };  // the candidate's first sample
  const TimesInTurns times = machine.Time(1e-3, 1e-3);
  EXPECT_GT(times.ratios[0], 2);
  EXPECT_GT(times.samples.size(), 5u);
  EXPECT_NEAR(Median(times.ratios), 1, 1e-9);
}

TEST(TimeInTurnsTest, ALastingDisturbanceStillGivesRatios) {
  Disturbed machine;
  machine.is_slow = [] { return true; };
  const TimesInTurns times = machine.Time(1.02e-3, 1e-3);
  EXPECT_EQ(times.disturbed, times.turns);
  ASSERT_FALSE(times.ratios.empty());
  EXPECT_NEAR(Median(times.ratios), 1.02, 1e-9);
}

TEST(TimeInTurnsTest, AFailureOfEitherIsTheResult) {
  const auto fails = [](int) -> Result<double> { return Fail(ErrorCode::kDevice, "failed"); };
  const auto runs = [](int times) -> Result<double> { return 1e-3 * times; };
  const Clock clock = [] { return 0.0; };
  ReferenceRuns good{.time_of = runs, .known = 1e-3};
  ReferenceRuns bad{.time_of = fails, .known = 1e-3};
  EXPECT_FALSE(TimeInTurns(fails, good, {}, clock));
  EXPECT_FALSE(TimeInTurns(runs, bad, {}, clock));
}

// Kernels whose times vary by a known pattern around `seconds`.
struct Varying {
  double now = 0;
  int calls = 0;
  TimeOf Of(double seconds) {
    return [this, seconds](int times) {
      const double sum = seconds * times * (1 + 0.01 * ((calls++ * 7) % 5 - 2));
      now += sum;
      return Result<double>(sum);
    };
  }
  ComparedTimes Compare(const std::vector<double>& kernels, const CompareLimits& limits) {
    std::vector<TimeOf> runs;
    for (const double seconds : kernels) runs.push_back(Of(seconds));
    return *CompareInTurns(runs, limits, {}, [this] { return now; });
  }
};

TEST(CompareInTurnsTest, AClearOrderIsDecidedAtOnce) {
  Varying machine;
  const ComparedTimes times = machine.Compare({1e-3, 0.9e-3, 1.2e-3}, {.seconds = 10});
  for (const auto& samples : times) EXPECT_EQ(samples.size(), 7u);
}

// Equal kernels whose times vary by tens of percent: the slow samples of the reference are not
// disturbances, and no kernel is favoured.
TEST(CompareInTurnsTest, AKernelOfVaryingTimesIsNotFavoured) {
  Random random(1);
  double now = 0;
  const TimeOf runs = [&](int times) -> Result<double> {
    const double sum = 1e-3 * times * std::exp(random.Unit() + random.Unit());
    now += sum;
    return sum;
  };
  const ComparedTimes times =
      *CompareInTurns(std::vector{runs, runs}, {.rounds = 1001}, {}, [&] { return now; });
  EXPECT_NEAR(Median(RatiosOf(times[1], times[0])), 1, 0.05);
}

// A kernel that is slower than the fastest one is left out; the reference stays.
TEST(CompareInTurnsTest, SlowerKernelsAreLeftOut) {
  Varying machine;
  const ComparedTimes times = machine.Compare({1e-3, 0.99e-3, 1.2e-3}, {.seconds = 10});
  EXPECT_EQ(times[2].size(), 7u);
  EXPECT_EQ(times[1].size(), times[0].size());
  EXPECT_GT(times[0].size(), 7u) << "similar kernels are compared longer";
}

// If the fastest kernel has been found within a percent, the other kernels need no more time.
TEST(CompareInTurnsTest, AKernelThatIsHardlyFasterIsLeftOut) {
  Varying machine;
  const ComparedTimes times = machine.Compare({1e-3, 0.9e-3, 0.9e-3}, {.seconds = 10});
  EXPECT_LE(times[0].size(), 28u);
}

TEST(CompareInTurnsTest, TimeAndRoundsAreLimits) {
  Varying machine;
  EXPECT_EQ(machine.Compare({1, 1}, {.seconds = 0.1})[0].size(), 7u);
  EXPECT_EQ(machine.Compare({1, 0.5, 2}, {.rounds = 3}).at(1).size(), 3u);
  EXPECT_EQ(machine.Compare({1e-3}, {.seconds = 10})[0].size(), 7u) << "nothing to decide";
}

TEST(TimeRunsTest, AFailingRunIsTheResult) {
  int calls = 0;
  const auto run = [&](int) -> Result<double> {
    if (++calls == 3) return Fail(ErrorCode::kDevice, "run {} failed", calls);
    return 1e-3;
  };
  const auto samples = TimeRuns(run, std::nullopt, {}, [] { return 0.0; });
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().message, "run 3 failed");
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace tunec
