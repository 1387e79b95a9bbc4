// Tests that sketches change only the speed. If one kind of sketch is left out, the outputs are
// still near PyTorch's. networks_test.cc (Way::kNaive) uses only the naive sketch.
#include <gtest/gtest.h>

#include <set>

#include "autotune/best_schedule.h"
#include "autotune/keys.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "schedule/apply.h"
#include "tests/compiler/models.h"
#include "tests/networks/load_npz.h"

namespace tunec {
namespace {

using testing::InMemory;
using testing::kTolerance;
using testing::LoadNetwork;
using testing::Network;
using testing::Options;

// A task and its ranked schedules (RankSchedules) that apply, in the order of the ranking.
struct Choices {
  TuningTask task;
  std::vector<RankedSchedule> schedules;
};

std::string KindOf(const RankedSchedule& ranked) {
  return ranked.sketch.substr(0, ranked.sketch.find('/'));
}

Result<std::vector<Choices>> ChoicesOf(const Graph& graph, const CompileOptions& options) {
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  std::vector<Choices> all;
  for (const TuningTask& task : CollectTasks(front, options.target).unique) {
    TUNEC_ASSIGN(
        const std::vector<RankedSchedule> ranked,
        RankSchedules(nullptr, task, {.target = options.target, .accuracy = options.accuracy}));
    Choices& choices = all.emplace_back(Choices{task, {}});
    for (const RankedSchedule& one : ranked) {
      const Compute& compute = *FindLowering(task.lowerings, one.schedule.lowering);
      if (CheckApplies(compute, one.schedule, RoundingFreedomFor(options.accuracy)))
        choices.schedules.push_back(one);
    }
  }
  return all;
}

// Returns the kinds of the sketches that come first in the choices of at least one task.
std::set<std::string> KindsInUse(const std::vector<Choices>& all) {
  std::set<std::string> kinds;
  for (const Choices& choices : all) kinds.insert(KindOf(choices.schedules.front()));
  return kinds;
}

const Schedule& FirstWithout(const Choices& choices, const std::string& kind) {
  for (const RankedSchedule& one : choices.schedules)
    if (KindOf(one) != kind) return one.schedule;
  return choices.schedules.back().schedule;  // the naive schedule, the only kind of this task
}

class LeftOut : public ::testing::TestWithParam<std::string> {};

TEST_P(LeftOut, EachSketchChangesSpeedAlone) {
  const auto network = LoadNetwork(GetParam());
  ASSERT_TRUE(network) << network.error().Format();
  const CompileOptions options = Options();
  const auto all = ChoicesOf(network->graph, options);
  ASSERT_TRUE(all) << all.error().Format();
  // One database stores all kernels, so that each kernel is compiled once. The trial records of
  // earlier kinds are deleted.
  Database database = InMemory();
  const std::set<std::string> kinds = KindsInUse(*all);
  EXPECT_FALSE(kinds.empty());
  for (const std::string& kind : kinds) {
    SCOPED_TRACE("without " + kind);
    std::set<std::string> expected;
    for (const Choices& choices : *all) {
      const std::string text = Print(FirstWithout(choices, kind));
      expected.insert(text);
      const TuningKey key = MakeTuningKey(choices.task, options.target, options.accuracy);
      ASSERT_TRUE(database.Forget({key.workload.text}));
      const TrialRecord record{.schedule = text, .median_seconds = 1, .samples = {1}};
      ASSERT_TRUE(database.RecordTrial(key, record));
    }
    const auto model = Compile(network->graph, &database, options);
    ASSERT_TRUE(model) << model.error().Format();
    for (const KernelReport& kernel : model->report.kernels)
      EXPECT_TRUE(expected.contains(kernel.schedule)) << kernel.name << "\n" << kernel.schedule;
    const auto outputs = testing::RunOnce(*model->executable, network->inputs);
    ASSERT_TRUE(outputs) << outputs.error().Format();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const std::string& name = network->graph.output_names()[i];
      EXPECT_LT(RelativeError((*outputs)[i], network->arrays.at(name)), kTolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, LeftOut,
                         ::testing::Values(std::string("resnet18_64"), "mobilenet_v2_64", "unet_48",
                                           "bert_2x32", "gpt_2x32", "mixer_48"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunec
