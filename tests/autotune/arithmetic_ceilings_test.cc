// Tests the ceilings of multiply-add instructions. A ceiling is the greatest measured rate of an
// instruction. The tests cover the choice for a kernel, the measurement and the storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/measure/arithmetic_gain.h"
#include "autotune/search/search_space.h"
#include "autotune/search/task_search.h"
#include "autotune/tuner.h"
#include "tests/autotune/scripted_tuning.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using testing::Matmul;
using testing::RooflineOf;
using testing::ScriptedMeasurer;
using testing::TaskOf;

const MacInstruction& Amx() { return *FindMac("amx.bf16"); }

class ArithmeticCeilings : public testing::TunerTest {
 protected:
  ArithmeticCeilings() { tasks_ = {TaskOf(Matmul(96))}; }

  TuningKey Key() const { return MakeTuningKey(tasks_[0], options_.target, options_.accuracy); }
  // Returns the operations per second of a kernel that does the task's work in `seconds`.
  double Rate(double seconds) const { return Key().workload.flops / seconds; }
  void MachineIs(const Roofline& found) {
    meters_.machine = [this, found]() -> Result<Roofline> {
      ++measured_machine_;
      return found;
    };
  }
  // Sets the results of the measurements of instructions, in order. The last result repeats.
  void ArithmeticsAre(const std::vector<ArithmeticCeiling>& found) {
    meters_.arithmetic = [this, found](const MacInstruction& by) -> Result<ArithmeticCeiling> {
      measured_.push_back(by.name);
      return found[std::min(measured_.size(), found.size()) - 1];
    };
  }
  // Returns a source of sketches that split operands into bfloat16 parts and multiply them with AMX
  // tiles.
  static SketchSource SplitSketches(int bf16_parts) {
    return [bf16_parts](const TuningTask& task) {
      std::vector<Sketch> sketches = Sketches(task);
      for (Sketch& sketch : sketches) {
        sketch.fill = [fill = sketch.fill, bf16_parts](const std::vector<int64_t>& values) {
          Schedule schedule = fill(values);
          schedule.Add(PrecisionStep{"acc", bf16_parts});
          schedule.Add(TensorizeStep{"acc.i", "amx.bf16"});
          return schedule;
        };
      }
      return sketches;
    };
  }
  TuneReport TunedInTiles(int bf16_parts = 1) {
    return Tuned(measurer_, SplitSketches(bf16_parts));
  }

  ScriptedMeasurer measurer_;
  size_t measured_machine_ = 0;
  std::vector<std::string> measured_;  // names of instructions whose ceilings were measured
};

TEST_F(ArithmeticCeilings, AFasterArithmeticDoesNotProveFloat32sCeilingWrong) {
  MachineIs(RooflineOf(Rate(2e-3), 1e10));
  ArithmeticsAre({{Rate(0.1e-3), 0}});
  measurer_.seconds = 1e-3;
  const TuneReport report = TunedInTiles();
  EXPECT_EQ(report.progress.measured, 40);  // far from its own ceiling
  EXPECT_EQ(measured_machine_, 1U);
  EXPECT_THAT(measured_, ElementsAre("amx.bf16"));
  EXPECT_EQ(report.progress.tasks[0].arithmetic, (KernelArithmetic{&Amx(), 1}));
}

// The search would end if its kernels were compared with the ceiling of float32.
TEST_F(ArithmeticCeilings, ASearchDoesNotEndAtTheCeilingOfAnother) {
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  ArithmeticsAre({{Rate(0.1e-3), 0}});
  measurer_.seconds = 1e-3;
  EXPECT_EQ(TunedInTiles().progress.measured, 40);
}

TEST_F(ArithmeticCeilings, ASearchEndsNearItsOwn) {
  MachineIs(RooflineOf(Rate(2e-3), 1e10));
  ArithmeticsAre({{Rate(0.99e-3), 0}});
  measurer_.seconds = 1e-3;
  const TuneReport report = TunedInTiles();
  EXPECT_EQ(report.progress.measured, 1);
  EXPECT_EQ(DescribeStop(report), "within 3 % of the ceiling of 2 GFLOP/s");
  EXPECT_EQ(TunedInTiles().progress.measured, 0);
  EXPECT_EQ(measured_.size(), 1U) << "it was recorded";
}

TEST_F(ArithmeticCeilings, AFloat32KernelEndsAtFloat32sAndHasNoOtherMeasured) {
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  ArithmeticsAre({{Rate(0.1e-3), 0}});
  measurer_.seconds = 1e-3;
  EXPECT_EQ(Tuned(measurer_).progress.measured, 1);
  EXPECT_THAT(measured_, ElementsAre());
  EXPECT_EQ((*database_->Converged(Key()))->bound, Rate(0.99e-3));
}

// Returns a sketch that multiplies in float32, a sketch with AMX tiles, and the naive sketch.
std::vector<Sketch> SketchesOfBoth(const TuningTask&) {
  const auto sketch = [](const char* name, bool tiles) {
    Sketch made{.name = name, .knobs = {{"factor", {1, 2, 3, 4, 5, 6, 7, 8}, 0}}};
    made.fill = [tiles](const std::vector<int64_t>& values) {
      Schedule schedule{.lowering = "direct"};
      if (tiles) schedule.Add(PrecisionStep{"acc", 1});
      schedule.Add(UnrollStep{"acc.i", static_cast<int>(values[0])});
      if (tiles) schedule.Add(TensorizeStep{"acc.k", "amx.bf16"});
      return schedule;
    };
    return made;
  };
  Sketch naive{.name = "naive"};
  naive.fill = [](const std::vector<int64_t>&) { return Schedule{.lowering = "direct"}; };
  return {sketch("vectors", false), sketch("tiles", true), naive};
}

TEST_F(ArithmeticCeilings, ASearchGoesOnWhereAnotherArithmeticMayBeFaster) {
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  measurer_.seconds = 1e-3;
  EXPECT_GT(Tuned(measurer_, SketchesOfBoth).progress.measured, 1);
}

TEST_F(ArithmeticCeilings, ASearchEndsWhereNoOtherArithmeticAllowsMore) {
  Roofline roofline = RooflineOf(Rate(0.99e-3), 1e10);
  roofline.arithmetics["amx.bf16"] = {Rate(2e-3), 0};
  ASSERT_TRUE(RecordRoofline(*database_, options_.target, roofline));
  measurer_.seconds = 1e-3;
  EXPECT_EQ(Tuned(measurer_, SketchesOfBoth).progress.measured, 1);
}

// No kernel has used the arithmetic of the sketch "tiles" yet. Its ceiling is measured to decide
// whether such kernels may be faster.
TEST_F(ArithmeticCeilings, ARivalsIsMeasuredBeforeASearchEnds) {
  for (const bool faster : {true, false}) {
    *database_ = *Database::Open(":memory:", OpenMode::kReadWrite);
    measurer_ = {};
    measured_.clear();
    MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
    ArithmeticsAre({{faster ? Rate(0.5e-3) : Rate(2e-3), 0}});
    measurer_.seconds = 1e-3;
    const int64_t measured = Tuned(measurer_, SketchesOfBoth).progress.measured;
    EXPECT_EQ(measured > 1, faster) << measured;
    EXPECT_THAT(measured_, ElementsAre("amx.bf16"));
  }
}

// The ceiling of the sketch "tiles" is provisional, so the true one may be higher. Measuring
// another candidate is cheaper than ending the search too early.
TEST_F(ArithmeticCeilings, AProvisionalRivalEndsNothing) {
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  ArithmeticsAre({{Rate(2e-3), 0.5}});
  measurer_.seconds = 1e-3;
  EXPECT_GT(Tuned(measurer_, SketchesOfBoth).progress.measured, 1);
  EXPECT_FALSE(measured_.empty());
}

// Returns the gain of an instruction whose recorded rate is `gain` times that of multiply-adds.
double GainIfRecorded(double gain, const Target& target) {
  const TileIntrinsic& dot = *FindTileIntrinsic("dpbf16.avx512");
  Roofline roofline = RooflineOf(1e9, 1e10);
  roofline.arithmetics[dot.name] = {gain * 1e9, 0};
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  EXPECT_TRUE(RecordRoofline(database, target, roofline));
  return MeasuredGain(&database, target)(dot);
}

TEST_F(ArithmeticCeilings, RankAnalyticSchedulesByWhatIsRecorded) {
  for (const double gain : {2.0, 0.5}) EXPECT_EQ(GainIfRecorded(gain, options_.target), gain);
}

// Ceilings vary by some percent, and schedules should not depend on that.
TEST_F(ArithmeticCeilings, GainsAreRounded) {
  for (const double gain : {1.9, 2.1}) EXPECT_EQ(GainIfRecorded(gain, options_.target), 2) << gain;
}

// An instruction that this machine cannot measure is not assumed to be faster.
TEST_F(ArithmeticCeilings, OfAnotherMachineRankNothing) {
  Target other = options_.target;
  other.host.features = {"no-such-feature"};
  EXPECT_EQ(MeasuredGain(nullptr, other)(*FindTileIntrinsic("dpbf16.avx512")), 1);
}

TEST_F(ArithmeticCeilings, OfSplitOperandsCountsWhatIsUseful) {
  MachineIs(RooflineOf(Rate(2e-3), 1e10));
  ArithmeticsAre({{6 * Rate(0.99e-3), 0}});
  measurer_.seconds = 1e-3;
  EXPECT_EQ(TunedInTiles(3).progress.measured, 1);
  EXPECT_DOUBLE_EQ((*database_->Converged(Key()))->bound, Rate(0.99e-3));
}

TEST_F(ArithmeticCeilings, AKernelAboveItsOwnHasThatMeasuredAgain) {
  MachineIs(RooflineOf(Rate(2e-3), 1e10));
  ArithmeticsAre({{Rate(2e-3), 0}, {Rate(0.1e-3), 0}});
  measurer_.seconds = 1e-3;
  const TuneReport report = TunedInTiles();
  EXPECT_EQ(report.progress.measured, 40);
  EXPECT_THAT(measured_, ElementsAre("amx.bf16", "amx.bf16"));
  EXPECT_EQ(measured_machine_, 1U);
  EXPECT_EQ(report.progress.ceilings->CeilingOf(Amx())->flops, Rate(0.1e-3));
}

TEST_F(ArithmeticCeilings, AProvisionalOneEndsNothingAndIsMeasuredAgainNextTime) {
  MachineIs(RooflineOf(Rate(2e-3), 1e10));
  ArithmeticsAre({{Rate(0.99e-3), 0.3}});
  measurer_.seconds = 1e-3;
  options_.trials = 10;
  EXPECT_EQ(TunedInTiles().progress.measured, 10);
  EXPECT_EQ(measured_.size(), 1U);
  ArithmeticsAre({{Rate(0.99e-3), 0.01}});
  options_.trials = 40;
  EXPECT_EQ(TunedInTiles().stop, TuneStop::kConverged);
  EXPECT_EQ(measured_.size(), 2U);
}

TEST_F(ArithmeticCeilings, AnAnswerThatIsNoneLeavesTheSearchWithout) {
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  meters_.arithmetic = [](const MacInstruction&) -> Result<ArithmeticCeiling> {
    return Fail(ErrorCode::kUnsupported, "no such instruction");
  };
  measurer_.seconds = 1e-3;
  EXPECT_EQ(TunedInTiles().progress.measured, 40);
  EXPECT_FALSE(*database_->Converged(Key()));
}

TEST_F(ArithmeticCeilings, IntegersHaveNoneAndWhatEndedAtFloat32sGoesOn) {
  tasks_ = {
      TaskOf(test::MustParse(test::ProductText({.rows = 64,
                                                .columns = 128,
                                                .length = 96,
                                                .left = {.type = "i32"},
                                                .right = {.type = "i32", .weight = "constant"},
                                                .sum = "i32",
                                                .result = "i32",
                                                .value = ""})))};
  MachineIs(RooflineOf(Rate(0.99e-3), 1e10));
  measurer_.seconds = 1e-3;
  options_.trials = 2;
  EXPECT_EQ(Tuned(measurer_).progress.measured, 2);
  const int64_t space = SearchSpace(Sketches(tasks_[0])).Fingerprint();
  ASSERT_TRUE(database_->SetConverged(Key(), {space, ConvergenceReason::kCeiling, Rate(0.99e-3)}));
  options_.trials = 40;
  EXPECT_EQ(Tuned(measurer_).progress.measured, 38);
}

// The guess that weighs a device's tasks against each other does not depend on the host.
TEST(GuessedCeilings, OfADeviceDoNotComeFromItsHost) {
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  const auto seconds = [&](int processors, const Host& host) {
    const TunerOptions options{
        .target = {host, Accelerator{.kind = "paper", .name = "a4", .processors = processors}}};
    Ceilings ceilings(database, options.target, {});
    EXPECT_TRUE(ceilings.Load());
    EXPECT_EQ(ceilings.PeakFlops(KernelArithmetic{&Float32Fma()}), std::nullopt);
    return TaskSearch(TaskOf(Matmul(96)), options, ceilings).State().roofline_seconds;
  };
  const Host small{.vector_bits = 256, .cores = 1, .threads = 1};
  const Host large{.vector_bits = 512, .cores = 64, .threads = 64};
  EXPECT_EQ(seconds(4, small), seconds(4, large));
  EXPECT_DOUBLE_EQ(seconds(4, small), 2 * seconds(8, small));
}

std::vector<std::string> NamesOfFacts(const Database& database, const Target& target) {
  std::vector<std::string> names;
  const auto facts = database.MachineFacts(Print(target));
  for (const MachineFact& fact : *facts) names.push_back(fact.name);
  return names;
}

TEST(RecordedArithmetics, StandBesideTheOldFactsUnderNamesOfTheirOwn) {
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  const Target target;
  Roofline roofline = RooflineOf(1e12, 1e10);
  roofline.caches = CachesOf(target);
  ASSERT_TRUE(RecordRoofline(database, target, roofline).has_value());
  EXPECT_THAT(NamesOfFacts(database, target),
              ElementsAre("ceilings_disturbance", "dram_bytes_per_second", "peak_flops"));
  EXPECT_EQ(**RecordedRoofline(database, target), roofline);
  Roofline more = roofline;
  more.arithmetics["amx.bf16"] = {9e12, 0.02};
  ASSERT_TRUE(RecordRoofline(database, target, more).has_value());
  EXPECT_THAT(NamesOfFacts(database, target),
              ElementsAre("ceilings_disturbance", "ceilings_disturbance.amx.bf16",
                          "dram_bytes_per_second", "peak_flops", "peak_flops.amx.bf16"));
  EXPECT_EQ(**RecordedRoofline(database, target), more);
  // Another measurement of the machine does not change the ceilings of other instructions.
  ASSERT_TRUE(RecordRoofline(database, target, roofline).has_value());
  EXPECT_EQ(**RecordedRoofline(database, target), more);
  // The greater ceiling is stored. A ceiling without a recorded disturbance is provisional.
  more.arithmetics["amx.bf16"] = {8e12, 0};
  EXPECT_EQ(RecordRoofline(database, target, more)->arithmetics.at("amx.bf16"),
            (ArithmeticCeiling{9e12, 0.02}));
  ASSERT_TRUE(database.SetMachineFact(Print(target), {"peak_flops.fma.f64", 1e11, "", 1}));
  EXPECT_TRUE(
      (*RecordedRoofline(database, target))->CeilingOf(*FindMac("fma.f64"))->IsProvisional());
}

// A ceiling that cannot be measured does not remove other ceilings.
TEST(RecordedArithmetics, WhatThisMachineCannotMeasureIsLeftOut) {
  Target target = DetectCpu(1);
  target.host.features.insert("a-feature-of-no-machine");
  const Roofline roofline = RooflineOf(1e12, 1e10);
  const MacInstruction* f64 = FindMac("fma.f64");
  EXPECT_FALSE(MeasureArithmetic(target, *f64));
  const auto with = WithArithmetics(roofline, target, std::vector{f64});
  ASSERT_TRUE(with) << with.error().Format();
  EXPECT_EQ(*with, roofline);
}

TEST(RecordedArithmetics, OnlyOurOwnErrorsMayNotBePassedOver) {
  EXPECT_TRUE(FailIfInternal({.code = ErrorCode::kDevice}));
  EXPECT_TRUE(FailIfInternal({.code = ErrorCode::kResourceLimit}));
  EXPECT_FALSE(FailIfInternal({.code = ErrorCode::kInternal}));
}

TEST(Roofline, BoundsAKernelByItsOwnArithmetic) {
  Roofline roofline = RooflineOf(1e12, 1e10);
  roofline.arithmetics["amx.bf16"] = {8e12, 0};
  roofline.arithmetics["vnni.avx512"] = {8e12, 0.5};
  const auto seconds = [&](const std::optional<KernelArithmetic>& arithmetic) {
    const auto bound = roofline.BoundFor(arithmetic, 1e12, 1e3);
    return bound ? bound->seconds : -1;
  };
  EXPECT_DOUBLE_EQ(seconds(KernelArithmetic{&Float32Fma()}), 1);
  EXPECT_DOUBLE_EQ(seconds(KernelArithmetic{&Amx()}), 1.0 / 8);
  EXPECT_DOUBLE_EQ(seconds(KernelArithmetic{&Amx(), 6}), 6.0 / 8);
  EXPECT_DOUBLE_EQ(seconds(std::nullopt), 1e-7);                     // traffic alone
  EXPECT_EQ(seconds(KernelArithmetic{FindMac("fma.f64")}), -1);      // never measured
  EXPECT_EQ(seconds(KernelArithmetic{FindMac("vnni.avx512")}), -1);  // provisional
}

}  // namespace
}  // namespace tunec
