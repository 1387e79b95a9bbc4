// Tests of compiled executables (for example concurrent runs, allocations and lifetime) and of
// compile errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "jit/cpu/detect_cpu.h"
#include "tests/compiler/models.h"
#include "tests/runtime/allocation_counter.h"

namespace tunec {
namespace {

using testing::GraphOf;
using ::testing::HasSubstr;
using testing::InMemory;
using testing::LoadNetwork;
using testing::Options;
using testing::RunOnce;
using testing::SomeInputs;

constexpr int kCallers = 4;
constexpr int kRunsEach = 8;

bool SameBytes(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].bytes() != b[i].bytes()) return false;
    if (std::memcmp(a[i].data(), b[i].data(), a[i].bytes()) != 0) return false;
  }
  return true;
}

// Returns the inputs times `factor`, so that each caller has different inputs.
std::vector<Array> Scaled(const std::vector<Array>& inputs, double factor) {
  std::vector<Array> scaled;
  for (const Array& input : inputs) {
    Array array(input.type(), input.shape());
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, factor * input.GetDouble(i));
    scaled.push_back(std::move(array));
  }
  return scaled;
}

TEST(CompiledExecutable, RunsInSeveralThreadsAtOnceAsInOne) {
  const auto network = LoadNetwork("unet_48");
  ASSERT_TRUE(network) << network.error().Format();
  const auto model = Compile(network->graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const Executable& executable = *model->executable;
  std::vector<std::vector<Array>> inputs;
  std::vector<std::vector<Array>> serial;
  for (int caller = 0; caller < kCallers; ++caller) {
    inputs.push_back(Scaled(network->inputs, 1.0 + caller));
    const auto outputs = RunOnce(executable, inputs.back());
    ASSERT_TRUE(outputs) << outputs.error().Format();
    serial.push_back(*outputs);
  }
  std::vector<int> wrong(kCallers, 0);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int run = 0; run < kRunsEach; ++run) {
        const auto outputs = RunOnce(executable, inputs[caller]);
        if (!outputs || !SameBytes(*outputs, serial[caller])) ++wrong[caller];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(kCallers, 0));
}

TEST(CompiledExecutable, RunAllocatesNothing) {
  if (!CanCountAllocations()) GTEST_SKIP() << "[SKIP] allocations cannot be counted here";
  const auto network = LoadNetwork("mixer_48");
  ASSERT_TRUE(network) << network.error().Format();
  const auto model = Compile(network->graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const Executable& executable = *model->executable;
  ASSERT_EQ(executable.Outputs().size(), 1u);
  Array output(executable.Outputs()[0].type, executable.Outputs()[0].shape);
  const void* const inputs[] = {network->inputs.at(0).data()};
  void* const outputs[] = {output.mutable_data()};
  ASSERT_TRUE(executable.Run(inputs, outputs));
  const int64_t before = AllocationCount();
  for (int run = 0; run < kRunsEach; ++run) {
    if (!executable.Run(inputs, outputs)) break;
  }
  EXPECT_EQ(AllocationCount() - before, 0);
}

// b = x*v + a is written over a if a is not read later, so one buffer is enough. If a is read
// later, b needs a second buffer.
TEST(CompiledExecutable, AResidualSumTakesThePlaceOfItsOperand) {
  constexpr int64_t kBuffer = 64 * 64 * 4;
  const std::string_view begin = R"(graph residual {
  input x: f32[64, 64]
  weight u: f32[64, 64]
  weight v: f32[64, 64]
  weight w: f32[64, 64]
  a = matmul(x, u)
  xv = matmul(x, v)
  b = add(xv, a)
  y = matmul(b, w)
)";
  for (const bool later : {false, true}) {
    const Graph graph = GraphOf(
        std::string(begin) + (later ? "  z = add(y, a)\n  output z = z\n}" : "  output y = y\n}"));
    const auto model = Compile(graph, nullptr, Options());
    ASSERT_TRUE(model) << model.error().Format();
    EXPECT_EQ(model->report.arena_bytes, later ? 2 * kBuffer : kBuffer);
    const auto error = testing::ErrorAgainstReference(graph, *model->executable);
    ASSERT_TRUE(error) << error.error().Format();
    EXPECT_LE(*error, testing::kTolerance);
  }
}

TEST(CompiledExecutable, OutlivesItsGraphAndDatabase) {
  std::shared_ptr<const Executable> executable;
  std::vector<Array> first;
  {
    Database database = testing::InMemory();
    const Graph graph = GraphOf(testing::kConvRelu);
    const auto model = Compile(graph, &database, Options());
    ASSERT_TRUE(model) << model.error().Format();
    executable = model->executable;
    first = RunOnce(*executable, SomeInputs(*executable)).value();
  }
  EXPECT_TRUE(SameBytes(first, RunOnce(*executable, SomeInputs(*executable)).value()));
}

TEST(CompiledExecutable, CompilingTwiceGivesTheSameCodeAndResults) {
  const Graph graph = GraphOf(testing::kConvRelu);
  const auto a = Compile(graph, nullptr, Options());
  const auto b = Compile(graph, nullptr, Options());
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->report.kernels.size(), b->report.kernels.size());
  EXPECT_EQ(a->report.kernels[0].schedule, b->report.kernels[0].schedule);
  const std::vector<Array> inputs = SomeInputs(*a->executable);
  EXPECT_TRUE(
      SameBytes(RunOnce(*a->executable, inputs).value(), RunOnce(*b->executable, inputs).value()));
}

// The test requires a machine without the instructions fma4 and xop of bdver4.
TEST(AnotherCpu, IsCompiledForAndNotRun) {
  const Graph graph = GraphOf(R"(graph g {
    input x: f32[64, 64]
    weight w: f32[64, 64]
    y = matmul(x, w)
    output y
  })");
  CompileOptions options = Options();
  options.target = *ParseCpu("bdver4", 1);
  Database database = InMemory();
  for (int reused = 0; reused < 2; ++reused) {
    const auto model = Compile(graph, &database, options);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->report.objects_reused, reused);
    const auto ran = RunOnce(*model->executable, SomeInputs(*model->executable));
    ASSERT_FALSE(ran.has_value());
    EXPECT_EQ(ran.error().code, ErrorCode::kDevice);
    EXPECT_THAT(ran.error().message,
                HasSubstr("cannot run code for cpu bdver4: it has no fma4, xop"));
  }
  options.trials = 4;
  const auto tuned = Compile(graph, &database, options);
  ASSERT_FALSE(tuned.has_value());
  EXPECT_EQ(tuned.error().code, ErrorCode::kDevice);
}

TEST(Errors, ListEveryNodeThatCannotBeCompiled) {
  const Graph graph = GraphOf(R"(graph g {
    input c: bool[]
    input x: f32[3]
    first = if(c, x) graph then {
      input x: f32[3]
      r = relu(x)
      output r
    } graph else {
      input x: f32[3]
      output x
    }
    s = relu(first)
    second = if(c, s) graph then {
      input x: f32[3]
      output x
    } graph else {
      input x: f32[3]
      n = neg(x)
      output n
    }
    output second
  })");
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(model.error().message, HasSubstr("'first'"));
  EXPECT_THAT(model.error().message, HasSubstr("'second'"));
}

TEST(Errors, ADimensionWithoutASize) {
  const auto model = Compile(GraphOf(R"(graph g {
    input x: f32[n, 3]
    r = relu(x)
    output y = r
  })"),
                             nullptr, Options());
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("input x of g has shape nx3"));
  EXPECT_THAT(model.error().message, HasSubstr("--dim n=8"));
  const auto gather = Compile(GraphOf(R"(graph g {
    input x: f32[n, 3]
    input i: i64[m]
    y = gather(x, i)
    output y
  })"),
                              nullptr, Options());
  ASSERT_FALSE(gather);
  EXPECT_THAT(gather.error().message, HasSubstr("--dim n=8 --dim m=8"));
}

TEST(Errors, AnUnknownPass) {
  CompileOptions options = Options();
  options.disabled_passes = {"no_such_pass"};
  const auto model = Compile(GraphOf(testing::kConvRelu), nullptr, options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument) << model.error().Format();
  EXPECT_THAT(model.error().message, HasSubstr("no_such_pass"));
}

}  // namespace
}  // namespace tunec
