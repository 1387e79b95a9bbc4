// Tests of dynamic-shape runs on a GPU, with slices of arrays in host or device memory. A scripted
// library replaces the CUDA driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "ir/size/compile_size.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"
#include "runtime/sized/sized_executable.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr int64_t kRowElements = 4;
constexpr BufferLocation kThere = BufferLocation::kDevice;
constexpr std::array kOneThere = {kThere};
constexpr std::array kTwoThere = {kThere, kThere};
constexpr RunOptions kAllThere = {.inputs = kOneThere, .outputs = kTwoThere};

SizeProgram ProgramOf(const SizeExpr& size) {
  const std::vector<std::string> names = {"n", "length"};
  return CompileSize(size, names).value();
}
SizeProgram SizeOf(const char* name) { return ProgramOf(SizeExpr::Named(name)); }

/// Returns the form of a model with the input x: f32[n, length, 4] and two outputs: y = x, and the
/// number of real elements of `length`. If `cuts`, a run may be split along n.
SizedForm Form(bool cuts) {
  SizedForm form;
  form.dimensions = {"n", "length"};
  form.inputs = {{"x", DataType::kF32, {-1, -1, kRowElements}}};
  form.outputs = {{"y", DataType::kF32, {-1, -1, kRowElements}}, {"real", DataType::kF32, {1}}};
  form.open = {{0, 0, 0}, {0, 1, 1}};
  form.output_extents = {{{SizeOf("n")}, {SizeOf("length")}, {ProgramOf(kRowElements)}},
                         {{ProgramOf(1)}}};
  form.separable = {cuts, false};
  form.listed = {{.sizes = cuts ? Sizes{1, 2} : Sizes{4}}, {.sizes = {4, 8}}};
  return form;
}

int64_t Bytes(const Sizes& sizes) { return sizes[0] * sizes[1] * kRowElements * 4; }

/// A dynamic-shape executable whose steps are copies instead of kernels.
class Copies : public SizedExecutable {
 public:
  Copies(SizedForm form, std::shared_ptr<Device> device)
      : SizedExecutable(SIZE_MAX), device_(std::move(device)) {
    SetForm(std::move(form));
  }
  std::optional<int> DeviceNumber() const override { return device_->Number(); }
  std::string Report() const override { return "{}"; }
  size_t variants() const { return CachedVariants().size(); }

 protected:
  Result<VariantPtr> VariantFor(const Sizes& sizes) const override {
    const SizedKey key = KeyFor(form(), sizes);
    return FindOrMake(key, [&]() -> Result<VariantPtr> {
      TUNEC_ASSIGN(Executable made, Executable::Make(PlanFor(key)));
      const SizedCode code{.key = key, .parameters = {{DataType::kF32, SizeOf("length")}}};
      TUNEC_RETURN_IF_ERROR(CheckCode(form(), code, made.Inputs(), made.Outputs()));
      return std::make_shared<const SizedVariant>(
          shared_form(), code, std::make_shared<const Executable>(std::move(made)));
    });
  }

 private:
  ExecutablePlan PlanFor(const SizedKey& key) const {
    const Shape shape = {key.sizes[0], key.sizes[1], kRowElements};
    const int64_t bytes = Bytes(key.sizes);
    return {.device = device_,
            .inputs = {{"x", DataType::kF32, shape}, {"length", DataType::kF32, {}}},
            .outputs = {{"y", DataType::kF32, shape}, {"real", DataType::kF32, {1}}},
            .steps = {MakeCopyStep("aside", ValueRef::Input(0), ValueRef::Arena(0), bytes),
                      MakeCopyStep("back", ValueRef::Arena(0), ValueRef::Output(0), bytes),
                      MakeCopyStep("real", ValueRef::Input(1), ValueRef::Output(1), 4)},
            .arena_bytes = bytes};
  }

  std::shared_ptr<Device> device_;
};

class SizedOnADevice : public ::testing::Test {
 protected:
  std::unique_ptr<Copies> Make(bool cuts = false) {
    auto device = OpenCudaDevice(*LoadCudaDriver(kLibrary), 0, /*hang_seconds=*/0.02);
    EXPECT_TRUE(device);
    return std::make_unique<Copies>(Form(cuts), std::shared_ptr<Device>(std::move(*device)));
  }

  struct Arrays {
    std::vector<float> x, y, real = {-1, -1, -1, -1};
    explicit Arrays(const Sizes& sizes, float begin = 1)
        : x(static_cast<size_t>(Bytes(sizes)) / 4), y(x.size(), -1) {
      std::iota(x.begin(), x.end(), begin);
    }
  };
  static Status Run(const Copies& model, const Sizes& sizes, Arrays& arrays,
                    const RunOptions& options = {}) {
    const Shape shape = {sizes[0], sizes[1], kRowElements};
    const void* const inputs[] = {arrays.x.data()};
    void* const outputs[] = {arrays.y.data(), arrays.real.data()};
    return model.Run({&shape, 1}, inputs, outputs, options);
  }

  Script& script_ = NewScript();
};

TEST_F(SizedOnADevice, RunsOfItsMemoryAreCopiedThereAlone) {
  const auto model = Make();
  for (const Sizes& sizes : {Sizes{3, 7}, Sizes{4, 4}, Sizes{1, 1}, Sizes{4, 8}, Sizes{3, 7}}) {
    Arrays arrays(sizes);
    script_.log.clear();
    ASSERT_TRUE(Run(*model, sizes, arrays, kAllThere));
    EXPECT_EQ(arrays.y, arrays.x);
    EXPECT_THAT(arrays.real, ElementsAre(sizes[1], -1, -1, -1));
  }
  EXPECT_EQ(model->variants(), 4U);
  EXPECT_THAT(script_.log, ElementsAre("set 512 to 0x0", "copy 3 rows of 112 within", "copy 4 in",
                                       "copy 512 within", "copy 512 within", "copy 4 within",
                                       "copy 3 rows of 112 within"));
}

TEST_F(SizedOnADevice, TheHostsArraysMayBeOfOtherSizesToo) {
  const auto model = Make();
  for (const Sizes& sizes : {Sizes{3, 7}, Sizes{4, 4}}) {
    Arrays arrays(sizes);
    ASSERT_TRUE(Run(*model, sizes, arrays));
    EXPECT_EQ(arrays.y, arrays.x);
    EXPECT_EQ(arrays.real[0], sizes[1]);
  }
  EXPECT_THAT(script_.log, Contains("copy 3 rows of 112 in"));
  EXPECT_THAT(script_.log, Contains("copy 3 rows of 112 out"));
}

// A call reads the size before it returns, so the next call may have another size.
TEST_F(SizedOnADevice, QueuedRunsOfSeveralSizesFollowEachOther) {
  const auto model = Make();
  script_.holds = true;
  int stream = 0;
  RunOptions queued = kAllThere;
  queued.stream = &stream;
  queued.returns = RunReturn::kQueued;
  const std::vector<Sizes> sizes = {{3, 7}, {2, 5}, {3, 3}, {4, 6}};
  std::vector<Arrays> arrays;
  for (const Sizes& each : sizes) arrays.emplace_back(each, static_cast<float>(each[1]));
  for (size_t i = 0; i < sizes.size(); ++i) ASSERT_TRUE(Run(*model, sizes[i], arrays[i], queued));
  for (const Arrays& each : arrays) EXPECT_EQ(each.y[0], -1);
  script_.holds = false;
  ASSERT_TRUE(model->Wait());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(arrays[i].y, arrays[i].x) << i;
    EXPECT_EQ(arrays[i].real[0], sizes[i][1]) << i;
  }
}

TEST_F(SizedOnADevice, RunsThatAreCutHaveTheirPlaces) {
  const auto model = Make(/*cuts=*/true);
  const Sizes sizes = {5, 7};
  Arrays arrays(sizes);
  ASSERT_TRUE(Run(*model, sizes, arrays, kAllThere));
  EXPECT_EQ(arrays.y, arrays.x);
  EXPECT_EQ(model->variants(), 2U);  // for parts with n = 2 and n = 1
}

// A part must not write elements that a later part reads.
TEST_F(SizedOnADevice, ARunOverItsInputIsNotCut) {
  const auto model = Make(/*cuts=*/true);
  const Sizes sizes = {5, 7};
  Arrays arrays(sizes);
  const std::vector<float> before = arrays.x;
  const Shape shape = {5, 7, kRowElements};
  const void* const inputs[] = {arrays.x.data()};
  void* const outputs[] = {arrays.x.data(), arrays.real.data()};
  ASSERT_TRUE(model->Run({&shape, 1}, inputs, outputs, kAllThere));
  EXPECT_EQ(arrays.x, before);
  EXPECT_EQ(model->variants(), 1U);
}

}  // namespace
}  // namespace tunec
