// Tests that kernels built on several threads are those of one thread, with the same messages and
// errors.
#include "compiler/kernel_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "autotune/keys.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "tests/autotune/workloads.h"
#include "tests/compiler/models.h"
#include "tests/networks/load_npz.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kThreadCounts[] = {1, 2, 5};

// A fixture that builds the kernels of tasks and stores the messages that the caller receives.
class KernelBuild : public ::testing::Test {
 protected:
  Result<std::vector<BuiltKernel>> Build(const std::vector<TuningTask>& tasks, int threads,
                                         Database* database = nullptr) {
    lines_.clear();
    CompileOptions options = options_;
    options.build_threads = threads;
    options.on_log = [&](const std::string& line) { lines_.push_back(line); };
    options.on_detail = options.on_log;
    const TunerOptions tuner{.target = options.target, .accuracy = options.accuracy};
    return BuildKernels(tasks, database, options, tuner);
  }

  CompileOptions options_ = testing::Options(1);
  std::vector<std::string> lines_;
};

TEST_F(KernelBuild, IsTheSameOnSeveralThreads) {
  const auto network = testing::LoadNetwork("mobilenet_v2_64");
  ASSERT_TRUE(network) << network.error().Format();
  const auto front = RunFrontEnd(network->graph, options_);
  ASSERT_TRUE(front) << front.error().Format();
  const std::vector<TuningTask> tasks = CollectTasks(*front, options_.target).unique;
  const auto expected = Build(tasks, 1);
  ASSERT_TRUE(expected) << expected.error().Format();
  const std::vector<std::string> lines = lines_;
  const auto kernels = Build(tasks, 4);
  ASSERT_TRUE(kernels) << kernels.error().Format();
  EXPECT_EQ(lines_, lines);
  ASSERT_EQ(kernels->size(), tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(*(*kernels)[i].code, *(*expected)[i].code) << tasks[i].description;
    EXPECT_EQ(Print((*kernels)[i].schedule.schedule), Print((*expected)[i].schedule.schedule));
    EXPECT_EQ((*kernels)[i].notes, (*expected)[i].notes);
  }
}

// Threads compile different models with one database. The outputs are compared with PyTorch's.
TEST_F(KernelBuild, SeveralModelsAreCompiledAtOnce) {
  const char* const names[] = {"resnet18_64", "mobilenet_v2_64", "unet_48"};
  Database database = testing::InMemory();
  std::vector<std::jthread> threads;
  for (const char* const name : names) {
    threads.emplace_back([&, name] {
      const auto network = testing::LoadNetwork(name);
      ASSERT_TRUE(network) << name << ": " << network.error().Format();
      const auto model = Compile(network->graph, &database, options_);
      ASSERT_TRUE(model) << name << ": " << model.error().Format();
      const auto outputs = testing::RunOnce(*model->executable, network->inputs);
      ASSERT_TRUE(outputs) << name << ": " << outputs.error().Format();
      for (size_t i = 0; i < outputs->size(); ++i) {
        const Array& expected = network->arrays.at(network->graph.output_names()[i]);
        EXPECT_LT(RelativeError((*outputs)[i], expected), testing::kTolerance) << name;
      }
    });
  }
  threads.clear();
  // All code is stored: nothing is compiled again.
  for (const char* const name : names) {
    const auto network = testing::LoadNetwork(name);
    ASSERT_TRUE(network) << name;
    const auto again = Compile(network->graph, &database, options_);
    ASSERT_TRUE(again) << name;
    EXPECT_EQ(again->report.objects_compiled, 0) << name;
  }
}

std::vector<TuningTask> Products(int count) {
  std::vector<TuningTask> tasks;
  for (int i = 0; i < count; ++i) {
    tasks.push_back(testing::TaskOf(test::MustParse(test::DenseLayerText(37, 13 + i, 29))));
    tasks.back().description = fmt::format("task {}", i);
  }
  return tasks;
}

TEST_F(KernelBuild, MessagesComeInTheOrderOfTheTasks) {
  const std::vector<TuningTask> tasks = Products(6);
  Database database = testing::InMemory();
  const auto first = Build(tasks, 3, &database);
  ASSERT_TRUE(first) << first.error().Format();
  for (const int threads : kThreadCounts) {
    std::vector<::testing::Matcher<std::string>> expected;
    for (const size_t i : {1, 2, 4}) {
      const std::string key =
          ArtifactKey(tasks[i], (*first)[i].schedule.schedule, options_.target, options_.accuracy);
      ASSERT_TRUE(database.PutArtifact(key, {"object", "{}", 1}));
      expected.emplace_back(HasSubstr("metadata"));
    }
    const auto again = Build(tasks, threads, &database);
    ASSERT_TRUE(again) << again.error().Format();
    EXPECT_THAT(lines_, ::testing::ElementsAreArray(expected)) << threads;
    for (size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_EQ((*again)[i].reused, i != 1 && i != 2 && i != 4) << i;
      EXPECT_EQ(*(*again)[i].code, *(*first)[i].code) << i;
    }
  }
}

TEST_F(KernelBuild, TheErrorIsThatOfTheFirstTask) {
  std::vector<TuningTask> tasks = Products(6);
  // These tasks fail, because their local tensors have no Alloc.
  for (const size_t i : {2, 3, 5}) {
    Compute& compute = tasks[i].lowerings[0].compute;
    Tensor& local = compute.tensors[*compute.FindTensor("acc")];
    local.role = TensorRole::kLocal;
    local.name = fmt::format("local{}", i);
  }
  for (const int threads : kThreadCounts) {
    const auto kernels = Build(tasks, threads);
    ASSERT_FALSE(kernels);
    EXPECT_THAT(kernels.error().Format(), HasSubstr("local2")) << threads;
  }
}

TEST_F(KernelBuild, EndsWhenTheCallerCancels) {
  const std::vector<TuningTask> tasks = Products(6);
  for (const int threads : kThreadCounts) {
    int polls = 0;
    options_.cancelled = [&] { return ++polls > 3; };
    const auto kernels = Build(tasks, threads);
    // The fourth poll cancels the build.
    if (!kernels) {
      EXPECT_EQ(kernels.error().code, ErrorCode::kCancelled) << threads;
    }
    options_.cancelled = [] { return true; };
    const auto none = Build(tasks, threads);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::kCancelled) << threads;
  }
}

}  // namespace
}  // namespace tunec
