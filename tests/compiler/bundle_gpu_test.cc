// Tests of models compiled for GPUs and stored in bundles. The driver is scripted and runs no code.
// One test compares the driver calls of a bundle with those of the compiled model. device_test.cc
// checks the results of such code in the emulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/bundle/write_bundle.h"
#include "jit/cuda/arch.h"
#include "runtime/bundle/load_bundle.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/models.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using testing::BundlePath;
using testing::GraphOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kManyKinds;
using testing::OptionsForCpu;
using testing::RunOnce;
using testing::SomeInputs;
using testing::VariantOf;

CompileOptions OptionsForGpu(std::string_view arch) {
  CompileOptions options = OptionsForCpu("native");
  options.target.device = *CudaAccelerator(arch);
  return options;
}

class BundleForGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
    setenv("TUNEC_LIBCUDA", kLibrary.c_str(), 1);
    script_.any_function = true;
    script_.memory_bytes = 1 << 24;
    script_.parameters = 0;
    script_.graph = CuResult::kOutOfMemory;  // without a graph, each launch is in the log
  }
  void TearDown() override { unsetenv("TUNEC_LIBCUDA"); }

  static BundleVariant GpuVariant(const Graph& graph, std::string_view arch) {
    auto variant = CompileVariant(graph, nullptr, OptionsForGpu(arch), "native");
    TUNEC_CHECK(variant.has_value(), "{}", variant.error().Format());
    return *std::move(variant);
  }
  // Runs the executable once and returns the logged driver calls.
  std::vector<std::string> LogOfRun(const Executable& executable) {
    script_.log.clear();
    EXPECT_TRUE(RunOnce(executable, SomeInputs(executable)));
    return script_.log;
  }

  Script& script_ = NewScript();
};

TEST_F(BundleForGpus, AsksTheDriverForWhatTheModelDoes) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  BundleVariant variant = GpuVariant(graph, "sm_90a");
  EXPECT_EQ(variant.head.arch, "sm_90a");
  EXPECT_TRUE(variant.plan.preprocessing.empty());  // the weights were packed without a GPU
  EXPECT_THAT(variant.head.features, IsEmpty());
  ASSERT_TRUE(WriteBundle(file.path(), {variant}));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->executable->DeviceNumber(), 0);
  const auto model = Compile(graph, nullptr, OptionsForGpu("sm_90a"));
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(loaded->executable->StepNames(), model->executable->StepNames());
  const std::vector<std::string> expected = LogOfRun(*model->executable);
  EXPECT_THAT(expected, ::testing::Contains(HasSubstr("launch")));
  EXPECT_EQ(LogOfRun(*loaded->executable), expected);
}

TEST_F(BundleForGpus, StandBesideThoseForProcessors) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  const Status written = WriteBundle(
      file.path(), {VariantOf(graph), GpuVariant(graph, "sm_80"), GpuVariant(graph, "sm_90a")});
  ASSERT_TRUE(written) << written.error().Format();
  const auto variant_on = [&](int major, int minor) {
    script_.capabilities = {{major, minor}};
    const auto loaded = LoadBundle(file.path());
    EXPECT_TRUE(loaded) << loaded.error().Format();
    return loaded->variant;
  };
  EXPECT_EQ(variant_on(8, 0), 1U);
  EXPECT_EQ(variant_on(8, 9), 1U);
  EXPECT_EQ(variant_on(9, 0), 2U);
  EXPECT_EQ(variant_on(7, 5), 0U);
  EXPECT_EQ(variant_on(10, 0), 0U);
}

TEST(BundleForEmulatedGpus, IsRejected) {
  CompileOptions options = OptionsForGpu("sm_90a");
  options.target.device->features.emplace(kEmulated);
  const auto variant = CompileVariant(GraphOf(kManyKinds), nullptr, options, "native");
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace tunec
