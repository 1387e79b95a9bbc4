// Tests of the code of long sums that are computed in pieces, against the interpreter. The rounding
// error against float64 must be below a bound. The error of one chain of additions must exceed this
// bound.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/interpret/interpret.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/run_once.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/long_sums.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/long_sum_sketches.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using test::LongSum;

// Checks the sketch of the sum with its initial and with random decisions.
void ExpectRight(const LongSum& sum, const Target& target) {
  const std::optional<Sketch> sketch = test::SketchOf(sum, target);
  ASSERT_TRUE(sketch);
  Decisions decisions = sketch->InitialDecisions();
  const test::ScheduleChecker checker(test::ComputeOf(sum, sketch->Fill(decisions)));
  std::mt19937 random(5);
  for (int i = 0; i < 4 && !testing::Test::HasFailure(); ++i) {
    const Schedule schedule = sketch->Fill(decisions);
    const auto loops = test::LoopsOf(checker.compute(), schedule, ReductionOrder::kAny);
    ASSERT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
    EXPECT_EQ(checker.Disagreement(*loops, test::RunnerOn(target)), "") << Print(schedule);
    decisions = test::RandomDecisions(*sketch, random);
  }
}

class LongSumKernel : public testing::TestWithParam<LongSum> {};

TEST_P(LongSumKernel, RunsOnThisMachine) { ExpectRight(GetParam(), DetectCpu(2)); }

TEST_P(LongSumKernel, RunsWithAvx2) {
  const Result<Target> target = ParseCpu("native,-avx512f", 2);
  if (!target) GTEST_SKIP() << "a machine without AVX-512";
  ExpectRight(GetParam(), *target);
}

INSTANTIATE_TEST_SUITE_P(Pieces, LongSumKernel, testing::ValuesIn(test::LongSums()),
                         [](const auto& info) { return info.param.name; });

// --- Errors ---

struct ErrorCase {
  std::string name;
  LongSum sum;
  double least = -1;  // least argument; arguments are at most 1
  double bound = 0;   // bound of the errors' root mean square, relative to that of the results
};

void PrintTo(const ErrorCase& value, std::ostream* out) { *out << value.name; }

// Returns arrays of random numbers from `least` to 1 for the inputs and weights, in order.
std::vector<Array> Uniform(const Compute& compute, double least) {
  std::mt19937 random(1);
  std::vector<Array> arrays;
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kWeight) continue;
    Array array(tensor.type, tensor.shape);
    for (float& x : array.MutableAs<float>()) {
      constexpr double kMost = 4294967295;
      x = static_cast<float>(least + (1 - least) * static_cast<double>(random()) / kMost);
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

double RelativeError(const Array& found, const Array& expected) {
  double errors = 0, sum = 0;
  for (int64_t i = 0; i < found.size(); ++i) {
    const double reference = expected.GetDouble(i);
    errors += std::pow(found.GetDouble(i) - reference, 2);
    sum += reference * reference;
  }
  return std::sqrt(errors / sum);
}

// Returns the nest's arguments except outputs: given arguments, and results of prepacking.
std::vector<Array> NestArguments(const Compute& compute, const std::vector<Array>& arguments,
                                 const KernelLoops& loops) {
  const auto named = [&](const std::string& name) -> const Array* {
    size_t next = 0;
    for (const Tensor& tensor : compute.tensors) {
      if (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kWeight) continue;
      if (tensor.name == name) return &arguments[next];
      ++next;
    }
    return nullptr;
  };
  std::vector<Array> given;
  for (const TensorId id : Arguments(loops.nest)) {
    const Tensor& tensor = loops.nest.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    if (const Array* array = named(tensor.name)) given.push_back(*array);
    for (const LoopNest& prepack : loops.prepack) {
      if (prepack.name != tensor.name) continue;
      const std::vector<Array> of = {*named(prepack.tensors[TensorId(0)].name)};
      given.push_back((*Interpret(prepack, of, Precision::kNative))[0]);
    }
  }
  return given;
}

double ErrorOf(const LongSum& sum, const Schedule& schedule, double least) {
  const Compute compute = test::ComputeOf(sum, schedule);
  const std::vector<Array> arguments = Uniform(compute, least);
  const auto loops = test::LoopsOf(compute, schedule, ReductionOrder::kAny);
  EXPECT_TRUE(loops) << loops.error().message;
  const auto found =
      test::RunnerOn(DetectCpu(2))(loops->nest, NestArguments(compute, arguments, *loops));
  // The reference is the original definition, also if the schedule has another lowering.
  const auto expected = Interpret(test::MustParse(sum.text), arguments, Precision::kFloat64);
  EXPECT_TRUE(found && expected);
  return RelativeError((*found)[0], (*expected)[0]);
}

class LongSumError : public testing::TestWithParam<ErrorCase> {};

TEST_P(LongSumError, IsThatOfPieces) {
  const auto& [name, sum, least, bound] = GetParam();
  const std::optional<Sketch> sketch = test::SketchOf(sum, DetectCpu(2));
  ASSERT_TRUE(sketch);
  EXPECT_LT(ErrorOf(sum, sketch->Fill(sketch->InitialDecisions()), least), bound);
}

// The bound distinguishes pieces from one chain, which the unscheduled loops have.
TEST_P(LongSumError, OfOneChainIsGreater) {
  const auto& [name, sum, least, bound] = GetParam();
  const Schedule as_written{.lowering = sum.winograd.empty() ? "direct" : "winograd"};
  EXPECT_GT(ErrorOf(sum, as_written, least), bound);
}

INSTANTIATE_TEST_SUITE_P(Pieces, LongSumError,
                         testing::ValuesIn(std::vector<ErrorCase>{
                             {"positive", test::LongProduct(7, 48, 4096), 0, 3e-7},
                             {"of_both_signs", test::LongProduct(7, 48, 4096), -1, 5e-7},
                             {"one_row", test::LongProduct(1, 512, 9000), -1, 5e-7},
                             {"convolution", test::LongConvolution(512), -1, 5e-7},
                             {"winograd", test::LongWinograd(1024), -1, 5e-7},
                         }),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
