// Tests of the networks of tests/networks, compiled in several ways (Way). The outputs are compared
// with PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "autotune/best_schedule.h"
#include "compiler/tuning/tasks.h"
#include "graph/passes/pipeline.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/loop_pipeline.h"
#include "tests/compiler/models.h"
#include "tests/networks/load_npz.h"

namespace tunec {
namespace {

using testing::InMemory;
using testing::kTolerance;
using testing::LoadNetwork;
using testing::Network;
using testing::Options;
using testing::RunOnce;

auto AllNetworks() {
  return ::testing::Values(std::string("resnet18_64"), "mobilenet_v2_64", "unet_48", "bert_2x32",
                           "gpt_2x32", "mixer_48");
}

void ExpectPyTorchsOutputs(const Network& network, const Executable& executable) {
  const auto outputs = RunOnce(executable, network.inputs);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  ASSERT_EQ(outputs->size(), network.graph.output_names().size());
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string& name = network.graph.output_names()[i];
    const double error = RelativeError((*outputs)[i], network.arrays.at(name));
    fmt::print("{}: relative error {:.2e}\n", name, error);
    EXPECT_LT(error, kTolerance) << name;
  }
}

// A way to compile a network. All but kOneThread use two threads. kUnfused and the later ways each
// change one further option.
enum class Way { kOneThread, kTwoThreads, kUnfused, kNaive, kAvx2, kNoPasses, kEmulatedGpu };

std::string_view Name(Way way) {
  switch (way) {
    case Way::kOneThread:
      return "one_thread";
    case Way::kTwoThreads:
      return "two_threads";
    case Way::kUnfused:
      return "unfused";
    case Way::kNaive:
      return "naive";
    case Way::kAvx2:
      return "avx2";
    case Way::kNoPasses:
      return "no_passes";
    case Way::kEmulatedGpu:
      return "emulated_gpu";
  }
  return "";
}

// Prints the name. Without this function, GoogleTest prints bytes.
void PrintTo(Way way, std::ostream* out) { *out << Name(way); }

Result<CompileOptions> OptionsFor(Way way) {
  CompileOptions options = Options(way == Way::kOneThread ? 1 : 2);
  if (way == Way::kUnfused) options.fusion = FusionMode::kUnfused;
  if (way == Way::kNaive) options.sketches = SketchSet::kNaiveOnly;
  if (way == Way::kNoPasses) options.disabled_passes = DefaultPipeline();
  if (way == Way::kAvx2) {
    TUNEC_ASSIGN(options.target, ParseCpu("native,-avx512f", 2));
  }
  if (way == Way::kEmulatedGpu) {
    TUNEC_ASSIGN(options.target.device, CudaAccelerator("sm_90a"));
    options.target.device->features.emplace(kEmulated);
  }
  return options;
}

// Expects that no kernel's schedule has steps.
void ExpectNoSteps(const CompileReport& report) {
  for (const KernelReport& kernel : report.kernels) {
    EXPECT_THAT(kernel.schedule, ::testing::MatchesRegex("lower [^\n]*\n")) << kernel.name;
  }
}

class EveryWay : public ::testing::TestWithParam<std::tuple<std::string, Way>> {};

TEST_P(EveryWay, AgreesWithPyTorch) {
  if (std::get<1>(GetParam()) == Way::kEmulatedGpu && !kEmulates)
    GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const auto network = LoadNetwork(std::get<0>(GetParam()));
  ASSERT_TRUE(network) << network.error().Format();
  const auto options = OptionsFor(std::get<1>(GetParam()));
  ASSERT_TRUE(options) << options.error().Format();
  const auto model = Compile(network->graph, nullptr, *options);
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(model->executable->Threads(), options->target.host.threads);
  if (std::get<1>(GetParam()) == Way::kNaive) ExpectNoSteps(model->report);
  ExpectPyTorchsOutputs(*network, *model->executable);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, EveryWay,
    ::testing::Combine(AllNetworks(), ::testing::Values(Way::kOneThread, Way::kTwoThreads,
                                                        Way::kUnfused, Way::kNaive, Way::kAvx2,
                                                        Way::kNoPasses, Way::kEmulatedGpu)),
    [](const auto& info) {
      return fmt::format("{}_{}", std::get<0>(info.param), Name(std::get<1>(info.param)));
    });

class Compiled : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto network = LoadNetwork(GetParam());
    ASSERT_TRUE(network) << network.error().Format();
    network_ = *std::move(network);
  }

  Network network_;
};

TEST_P(Compiled, TheSecondTimeFindsEveryObject) {
  Database database = InMemory();
  const auto first = Compile(network_.graph, &database, Options());
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_GT(first->report.objects_compiled, 0);
  EXPECT_EQ(first->report.objects_reused, 0);
  const auto second = Compile(network_.graph, &database, Options());
  ASSERT_TRUE(second) << second.error().Format();
  EXPECT_EQ(second->report.objects_compiled, 0);
  EXPECT_EQ(second->report.objects_reused, first->report.objects_compiled);
  ExpectPyTorchsOutputs(network_, *second->executable);
}

// All tasks of a network are counted.
TEST_P(Compiled, MultiplyAddsAreVector) {
  const CompileOptions options = Options();
  const auto front = RunFrontEnd(network_.graph, options);
  ASSERT_TRUE(front) << front.error().Format();
  MultiplyAdds all;
  for (const TuningTask& task : CollectTasks(*front, options.target).unique) {
    const auto schedule =
        BestSchedule(nullptr, task, {.target = options.target, .accuracy = options.accuracy});
    ASSERT_TRUE(schedule) << schedule.error().Format();
    const auto loops = RunLoopPipeline(*FindLowering(task.lowerings, schedule->lowering), *schedule,
                                       {.rounding = RoundingFreedomFor(options.accuracy)});
    ASSERT_TRUE(loops) << loops.error().Format();
    const MultiplyAdds counted = CountMultiplyAdds(loops->nest);
    all.total += counted.total;
    all.vector += counted.vector;
    if (counted.vector < counted.total) {
      fmt::print("{} of {} multiply-adds are scalar: {}\n", counted.total - counted.vector,
                 counted.total, task.description);
    }
  }
  ASSERT_GT(all.total, 0);
  fmt::print("{:.2f} % of {} multiply-adds are vector\n", 100.0 * all.vector / all.total,
             all.total);
  EXPECT_GE(all.vector, 0.95 * all.total);
}

INSTANTIATE_TEST_SUITE_P(Networks, Compiled, AllNetworks(),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunec
