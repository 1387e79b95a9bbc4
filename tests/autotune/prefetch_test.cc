// Tests sketches that prefetch data from memory. Their schedules are compiled to machine code and
// run, and the results are compared with a float64 reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "autotune/measure/measure.h"
#include "schedule/sketch.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"

namespace tunec {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MatmulRelu;
using testing::SoftmaxRows;
using testing::WorkloadOf;

// Returns a target with a very small L2 cache, so that sketches offer prefetches of small tensors.
Target WithoutCaches() {
  Target target = DetectCpu(2);
  target.host.l2_bytes = 64;
  return target;
}

std::vector<Sketch> SketchesOn(const Target& target, const Compute& compute,
                               const Accuracy& accuracy) {
  const std::vector<NamedCompute> lowerings = {{"direct", compute}};
  return SketchesFor(
      {.lowerings = lowerings, .target = target, .rounding = RoundingFreedomFor(accuracy)});
}

std::optional<size_t> PrefetchKnob(const Sketch& sketch) {
  const auto knob = std::ranges::find(sketch.knobs, "prefetch", &Knob::name);
  if (knob == sketch.knobs.end()) return std::nullopt;
  return static_cast<size_t>(knob - sketch.knobs.begin());
}

// Returns the schedule without its prefetch lines.
std::string Others(const std::string& schedule) {
  std::string others;
  std::istringstream lines(schedule);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("prefetch ")) others += line + "\n";
  return others;
}

// Returns the names of the sketches that have the knob `prefetch`. Checks that all choices of the
// knob except the first, which prefetches nothing, give correct results.
std::vector<std::string> RightWithPrefetch(const Compute& compute, const Accuracy& accuracy = {}) {
  ThreadPool pool(2);
  Workload workload = WorkloadOf(compute);
  workload.accuracy = accuracy;
  Result<Workbench> bench = Workbench::Make(workload, pool);
  if (!bench) ADD_FAILURE() << bench.error().Format();
  std::vector<std::string> kinds;
  for (const Sketch& sketch : SketchesOn(WithoutCaches(), compute, accuracy)) {
    const std::optional<size_t> knob = PrefetchKnob(sketch);
    if (!knob) continue;
    kinds.push_back(sketch.name);
    Decisions decisions = sketch.InitialDecisions();
    EXPECT_EQ(decisions[*knob], 0);
    const std::string without = Print(sketch.Fill(decisions));
    EXPECT_EQ(Others(without), without);
    for (size_t choice = 1; choice < sketch.knobs[*knob].choices.size(); ++choice) {
      decisions[*knob] = static_cast<int>(choice);
      const std::string with = Print(sketch.Fill(decisions));
      EXPECT_THAT(with, HasSubstr("\nprefetch "));
      EXPECT_EQ(Others(with), without);
      const Measurement result = bench->Measure(bench->Compile({with}), std::nullopt);
      EXPECT_EQ(result.status, TrialStatus::kOk) << result.message << "\n" << with;
    }
  }
  return kinds;
}

TEST(PrefetchKnob, OfTilesAsksForTheNextPanel) {
  EXPECT_THAT(RightWithPrefetch(MatmulRelu()), Contains("tile/j"));
  EXPECT_THAT(RightWithPrefetch(testing::QuantisedMatmul()), Contains("tile/j"));
}

TEST(PrefetchKnob, OfDotProductsToo) {
  const Accuracy bf16{AccuracyMode::kBf16};
  const std::vector<std::string> kinds = RightWithPrefetch(MatmulRelu(), bf16);
  const bool has_dot = DetectCpu(1).host.features.contains("avx512bf16");
  if (!has_dot) GTEST_SKIP() << "no dot products of bfloat16";
  EXPECT_THAT(kinds, Contains(HasSubstr("dpbf16")));
}

TEST(PrefetchKnob, OfRowsAsksForTheRestOfTheRowAndTheNext) {
  EXPECT_THAT(RightWithPrefetch(SoftmaxRows()), Contains("rows"));
}

TEST(PrefetchKnob, OfStreamsAsksForTheNextChunk) {
  EXPECT_THAT(RightWithPrefetch(test::MustParse(test::kStreamedAttention)), Contains("stream"));
}

// The data of both computes stays in the caches, so no sketch has the knob.
TEST(PrefetchKnob, IsNotThereWhereEverythingStaysInTheCaches) {
  for (const Compute& compute : {MatmulRelu(), SoftmaxRows()}) {
    std::vector<std::string> kinds;
    for (const Sketch& sketch : SketchesOn(DetectCpu(2), compute, {}))
      if (PrefetchKnob(sketch)) kinds.push_back(sketch.name);
    EXPECT_THAT(kinds, IsEmpty());
  }
}

}  // namespace
}  // namespace tunec
