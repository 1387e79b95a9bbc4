// Tests that the numbers which PredictRun predicts equal those of the compilation.
#include "compiler/report/predict.h"

#include <gtest/gtest.h>

#include "tests/compiler/models.h"

namespace tunec::testing {
namespace {

TEST(PredictRun, AgreesWithWhatIsCompiled) {
  for (const char* name : {"mixer_48", "unet_48", "bert_2x32"}) {
    SCOPED_TRACE(name);
    const auto network = LoadNetwork(name);
    ASSERT_TRUE(network) << network.error().Format();
    for (const FusionMode mode : {FusionMode::kFused, FusionMode::kUnfused}) {
      CompileOptions options = Options(1);
      options.fusion = mode;
      const auto front = RunFrontEnd(network->graph, options);
      ASSERT_TRUE(front) << front.error().Format();
      const auto run = PredictRun(*front, options);
      ASSERT_TRUE(run) << run.error().Format();
      const auto model = Compile(network->graph, nullptr, options);
      ASSERT_TRUE(model) << model.error().Format();
      EXPECT_EQ(run->groups, std::ssize(front->groups));
      EXPECT_EQ(run->launches, model->report.launches);
      EXPECT_EQ(run->phases, model->report.phases);
      EXPECT_EQ(run->arena_bytes, model->report.arena_bytes);
      double bytes = 0;
      for (const KernelReport& kernel : model->report.kernels) bytes += kernel.bytes;
      EXPECT_EQ(static_cast<double>(run->bytes), bytes);
    }
  }
}

}  // namespace
}  // namespace tunec::testing
