// Tests of models whose kernels run on an emulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <ostream>
#include <thread>

#include "autotune/keys.h"
#include "compiler/tuning/tasks.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "tests/compiler/models.h"
#include "tests/networks/load_npz.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::InMemory;
using ::testing::IsEmpty;
using testing::kTolerance;
using testing::Options;
using testing::RunOnce;
using testing::SomeInputs;

CompileOptions ForEmulatedGpu() {
  CompileOptions options = Options();
  options.target.device = *CudaAccelerator("sm_90a");
  options.target.device->features.emplace(kEmulated);
  return options;
}

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class OnAnEmulatedGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  }
};

void ExpectReferencesResults(const Graph& graph, const Executable& executable) {
  const auto error = ErrorAgainstReference(graph, executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, kTolerance);
}

// A network with weights, a reshape and a concatenation. One output is an input, one is a weight,
// and one is an intermediate value that nodes read.
constexpr std::string_view kNetwork = R"(graph network {
  input x: f32[6, 8]
  input i: i64[4]
  weight w: f32[8, 10]
  weight b: f32[10]
  weight c: f32[3]
  p = matmul(x, w)
  s = add(p, b)
  r = relu(s)
  v = reshape(r) {shape=[3, 20]}
  t = softmax(v) {axis=1}
  u = mul(t, v)
  g = gather(r, i) {axis=0}
  both = concat(t, u) {axis=0}
  output r = r
  output both = both
  output g = g
  output x = x
  output c = c
})";

TEST_F(OnAnEmulatedGpu, AModelRunsAsOftenAsWanted) {
  const Graph graph = GraphOf(kNetwork);
  for (const FusionMode fusion : {FusionMode::kFused, FusionMode::kUnfused}) {
    CompileOptions options = ForEmulatedGpu();
    options.fusion = fusion;
    const auto model = Compile(graph, nullptr, options);
    ASSERT_TRUE(model) << model.error().Format();
    for (int round = 0; round < 3; ++round) ExpectReferencesResults(graph, *model->executable);
    EXPECT_THAT(model->executable->Notes(), IsEmpty());
    EXPECT_EQ(model->executable->DeviceNumber(), std::nullopt);  // emulation uses host memory
    EXPECT_EQ(model->executable->Memory().contexts, 1);
  }
}

TEST_F(OnAnEmulatedGpu, ResultsAreTheHostsUpToRounding) {
  const Graph graph = GraphOf(kNetwork);
  const auto there = Compile(graph, nullptr, ForEmulatedGpu());
  const auto here = Compile(graph, nullptr, Options());
  ASSERT_TRUE(there) << there.error().Format();
  ASSERT_TRUE(here) << here.error().Format();
  const std::vector<Array> inputs = SomeInputs(*here->executable);
  const auto of_device = RunOnce(*there->executable, inputs);
  const auto of_host = RunOnce(*here->executable, inputs);
  ASSERT_TRUE(of_device) << of_device.error().Format();
  ASSERT_TRUE(of_host) << of_host.error().Format();
  for (size_t i = 0; i < of_host->size(); ++i)
    EXPECT_LT(RelativeError(of_device->at(i), of_host->at(i)), kTolerance) << i;
}

TEST_F(OnAnEmulatedGpu, SeveralRunAtOnce) {
  const Graph graph = GraphOf(kNetwork);
  const auto model = Compile(graph, nullptr, ForEmulatedGpu());
  ASSERT_TRUE(model) << model.error().Format();
  const std::vector<Array> inputs = SomeInputs(*model->executable);
  const auto expected = RunOnce(*model->executable, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 2; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const auto again = RunOnce(*model->executable, inputs);
        if (!again) {
          wrong.fetch_add(1);
          continue;
        }
        for (size_t i = 0; i < again->size(); ++i)
          if (std::memcmp(again->at(i).data(), expected->at(i).data(), expected->at(i).bytes()) !=
              0)
            wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(OnAnEmulatedGpu, IndicesOutOfRangeAreCounted) {
  const Graph graph = GraphOf(kNetwork);
  const auto model = Compile(graph, nullptr, ForEmulatedGpu());
  ASSERT_TRUE(model) << model.error().Format();
  std::vector<Array> inputs = SomeInputs(*model->executable);
  inputs[1].SetInt(0, 6);
  inputs[1].SetInt(3, -7);
  ASSERT_TRUE(RunOnce(*model->executable, inputs));
  const auto outside = model->executable->Outside();
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_EQ(outside[0].count, 2);
}

constexpr std::string_view kProduct = R"(graph product {
  input x: f32[5, 13]
  weight w: f32[13, 21]
  y = matmul(x, w)
  output y = y
})";

// The database gets a record of a schedule that packs the weight.
TEST_F(OnAnEmulatedGpu, WeightsArePackedByTheHost) {
  const Graph graph = GraphOf(kProduct);
  Database database = InMemory();
  const CompileOptions options = ForEmulatedGpu();
  const auto front = RunFrontEnd(graph, options);
  ASSERT_TRUE(front) << front.error().Format();
  const ModelTasks tasks = CollectTasks(*front, options.target);
  ASSERT_EQ(tasks.unique.size(), 1u);
  const TuningTask& task = tasks.unique[0];
  std::string weight;
  for (const Tensor& tensor : task.lowerings[0].compute.tensors)
    if (tensor.role == TensorRole::kWeight) weight = tensor.name;
  const TrialRecord record{.schedule = fmt::format("lower direct\npack {} 1/8 0 1%8\n", weight),
                           .median_seconds = 0.04,
                           .samples = {0.04}};
  ASSERT_TRUE(database.RecordTrial(MakeTuningKey(task, options.target, options.accuracy), record));
  for (const int reused : {0, 1}) {
    const auto model = Compile(graph, &database, options);
    ASSERT_TRUE(model) << model.error().Format();
    EXPECT_THAT(model->report.kernels[0].schedule, HasSubstr("pack "));
    EXPECT_EQ(model->report.objects_reused, reused);
    ExpectReferencesResults(graph, *model->executable);
    EXPECT_GE(model->executable->Memory().constants, 24 * 13 * 4);  // 21 columns in blocks of 8
  }
}

}  // namespace
}  // namespace tunec
