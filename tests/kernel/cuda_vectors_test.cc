// The kernels of tests/cuda_vectors on an emulated GPU: their outputs are those of the vectors
// beside them, to the bit. With TUNEC_BLESS=1 vectors that are the emulation's own, and no GPU's,
// are written anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/open_device.h"
#include "kernel/compile_kernel.h"
#include "kernel/make_kernel_file.h"
#include "runtime/file_kernel.h"
#include "support/file.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEmulation = "the emulation";

fs::path File(const std::string& name, const std::string& ending) {
  return fs::path(TUNEC_TEST_DATA) / "cuda_vectors" / (name + ending);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(File("", "")))
    if (entry.path().extension() == ".compute") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

Target EmulatedGpu() {
  Target target{.host = DetectCpu(1).host, .device = *CudaAccelerator("sm_80")};
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  return target;
}

class CudaVectors : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << "the sanitizer does not know the emulation's stacks";
    const Compute compute = test::MustParse(*ReadFile(File(GetParam(), ".compute")));
    const Schedule schedule =
        *ParseSchedule(*ReadFile(File(GetParam(), ".sched")), GetParam() + ".sched");
    const auto loops = test::LoopsOf(compute, schedule, ReductionOrder::kAny);
    ASSERT_TRUE(loops) << loops.error().message;
    auto image = EmitImage(loops->nest, EmulatedGpu());
    ASSERT_TRUE(image) << image.error().message;
    file_ = MakeKernelFile(loops->nest, *std::move(image));
  }

  std::vector<KernelVector> Outputs(const KernelVectors& inputs) {
    ThreadPool pool(1);
    const auto device = *OpenDevice(EmulatedGpu(), pool);
    auto kernel = FileKernel::Load(*device, file_);
    TUNEC_CHECK(kernel, "{}", kernel.error().message);
    auto outputs = kernel->Run(inputs);
    TUNEC_CHECK(outputs, "{}", outputs.error().message);
    return *std::move(outputs);
  }

  KernelFile file_;
};

TEST_P(CudaVectors, GoldenAreTheEmulations) {
  const fs::path path = File(GetParam(), ".vectors");
  KernelVectors vectors = RandomInputs(file_.arguments, /*seed=*/0);
  vectors.from = kEmulation;
  if (fs::exists(path)) vectors = *ParseKernelVectors(*ReadFile(path), path.string());
  const std::vector<KernelVector> outputs = Outputs(vectors);
  const char* const bless = std::getenv("TUNEC_BLESS");
  if (bless != nullptr && *bless == '1' && vectors.from == kEmulation) {
    vectors.SetOutputs(kEmulation, outputs);
    std::ofstream(path) << Print(vectors);
    return;
  }
  ASSERT_FALSE(outputs.empty());
  for (const KernelVector& output : outputs) {
    const auto difference = CompareWith(vectors, output);
    ASSERT_TRUE(difference) << difference.error().message;
    EXPECT_EQ(*difference, "") << output.name << " of " << vectors.from;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaVectors, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunec
