// Tests of bundles of several sizes, compared with models that are compiled in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/bundle/compile_sizes.h"
#include "compiler/bundle/write_bundle.h"
#include "compiler/sized/sized_model.h"
#include "ir/size/compile_size.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/random.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::BundlePath;
using ::testing::HasSubstr;
using testing::kOpenSizes;
using testing::kPairs;
using testing::OptionsForCpu;
using testing::SizedVariantOf;
using testing::SourceOf;

// The names of both dimensions of kOpenSizes, in the order of the SizedSource.
const std::vector<std::string> kBoth = {"batch", "length"};
const std::vector<ListedSizes> kListed = {{.sizes = {1, 4}}, {.sizes = {12, 20}}};

/// A model with a mean over the batch, so that runs cannot be split along the batch.
constexpr std::string_view kOverBatch = R"(graph over_batch {
  input x: f32[batch, 24]
  m = reduce_mean(x) {axes=[0], keepdims=1}
  d = sub(x, m)
  output d
})";

/// A model whose length cannot be padded, because the factor of the cubic resize depends on the
/// length.
constexpr std::string_view kCubic = R"(graph cubic {
  input x: f32[1, 2, length]
  y = resize(x) {shape=[1, 2, 7], mode="cubic"}
  output y
})";

std::shared_ptr<const SizedBundle> LoadVariants(std::vector<BundleVariant> variants,
                                                const BundlePath& file) {
  const Status written = WriteBundle(file.path(), std::move(variants));
  EXPECT_TRUE(written) << written.error().Format();
  const auto loaded = LoadBundle(file.path());
  EXPECT_TRUE(loaded) << loaded.error().Format();
  return loaded ? loaded->sized : nullptr;
}

std::shared_ptr<const SizedBundle> LoadOf(const SizedSource& source,
                                          const std::vector<ListedSizes>& listed,
                                          const BundlePath& file) {
  std::vector<BundleVariant> variants;
  variants.push_back(SizedVariantOf(source, listed));
  return LoadVariants(std::move(variants), file);
}

std::unique_ptr<SizedModel> CompileInProcess(const SizedSource& source,
                                             std::vector<ListedSizes> listed) {
  SizedOptions options;
  options.listed = std::move(listed);
  options.compile = OptionsForCpu("native");
  auto model = SizedModel::Make(source, std::move(options), nullptr);
  EXPECT_TRUE(model) << model.error().Format();
  return model ? *std::move(model) : nullptr;
}

/// The same model as a loaded bundle and compiled in this process. If the bundle cannot be loaded,
/// or the model cannot be made, its pointer is null and the test fails.
struct BothWays {
  BothWays(const SizedSource& source, const std::vector<ListedSizes>& listed)
      : bundle(LoadOf(source, listed, file)), model(CompileInProcess(source, listed)) {}
  BundlePath file;
  std::shared_ptr<const SizedBundle> bundle;
  std::unique_ptr<SizedModel> model;
};

std::vector<Array> InputsAt(const SizedForm& form, const Sizes& sizes) {
  std::vector<TensorSpec> specs = form.inputs;
  for (const SizedAxis& axis : form.open)
    specs[axis.input].shape[axis.axis] = sizes[axis.dimension];
  Random random(3);
  std::vector<Array> inputs;
  for (const TensorSpec& spec : specs) {
    Array& input = inputs.emplace_back(spec.type, spec.shape);
    for (int64_t i = 0; i < input.size(); ++i)
      IsFloat(spec.type) ? input.SetDouble(i, random.Unit() - 0.5)
                         : input.SetInt(i, random.Below(4) > 0);
  }
  return inputs;
}

Result<std::vector<Array>> RunAt(const AnyShape& model, const std::vector<Array>& inputs) {
  std::vector<Shape> shapes;
  std::vector<const void*> from;
  for (const Array& input : inputs) {
    shapes.push_back(input.shape());
    from.push_back(input.data());
  }
  TUNEC_ASSIGN(const std::vector<Shape> results, model.OutputShapes(shapes));
  std::vector<Array> outputs;
  std::vector<void*> to;
  for (size_t i = 0; i < results.size(); ++i)
    outputs.emplace_back(model.Outputs()[i].type, results[i]);
  for (Array& output : outputs) to.push_back(output.mutable_data());
  TUNEC_RETURN_IF_ERROR(model.Run(shapes, from, to));
  return outputs;
}

void ExpectSameBits(const SizedExecutable& bundle, const SizedExecutable& model,
                    const Sizes& sizes) {
  SCOPED_TRACE(fmt::format("{}", fmt::join(sizes, "x")));
  const std::vector<Array> inputs = InputsAt(model.form(), sizes);
  const auto actual = RunAt(bundle, inputs);
  ASSERT_TRUE(actual) << actual.error().Format();
  const auto expected = RunAt(model, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < actual->size(); ++i) {
    ASSERT_EQ((*actual)[i].shape(), (*expected)[i].shape());
    EXPECT_EQ(std::memcmp((*actual)[i].data(), (*expected)[i].data(), (*actual)[i].bytes()), 0)
        << "output " << i;
  }
}

Error RejectionOf(const SizedExecutable& bundle, const Sizes& sizes) {
  const auto run = RunAt(bundle, InputsAt(bundle.form(), sizes));
  EXPECT_FALSE(run) << fmt::format("{} ran", fmt::join(sizes, "x"));
  return run ? Error() : run.error();
}

TEST(SizedBundle, GivesTheSameBitsAtListedSmallerAndCutSizes) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  const BothWays both(source, kListed);
  ASSERT_TRUE(both.bundle && both.model);
  EXPECT_EQ(both.bundle->form(), both.model->form());
  EXPECT_EQ(both.bundle->Plans(), 8U);
  for (const Sizes& sizes : std::vector<Sizes>{
           {1, 12}, {4, 20}, {4, 12}, {1, 1}, {4, 13}, {1, 19}, {3, 7}, {9, 20}, {11, 16}, {2, 12}})
    ExpectSameBits(*both.bundle, *both.model, sizes);
}

TEST(SizedBundle, RejectsWhatIsLargerThanTheLargest) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  const BundlePath file;
  const auto bundle = LoadOf(source, kListed, file);
  ASSERT_TRUE(bundle);
  const Error error = RejectionOf(*bundle, {2, 21});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message,
            "length is 21, expected at most 20, the largest that the bundle was built for");
}

TEST(SizedBundle, OfARangeServesAllOfIt) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  const std::vector<ListedSizes> listed = {{.sizes = {1, 2}},
                                           {.sizes = RoundedSizes(6, 20), .exact = false}};
  const BothWays both(source, listed);
  ASSERT_TRUE(both.bundle && both.model);
  for (int64_t length = 1; length <= 20; ++length)
    ExpectSameBits(*both.bundle, *both.model, {1 + length % 4, length});
  RejectionOf(*both.bundle, {1, 21});
}

TEST(SizedBundle, OfWhatIsNotCutServesSmallerSizes) {
  const SizedSource source = SourceOf(kOverBatch, {"batch"});
  const std::vector<ListedSizes> listed = {{.sizes = {2, 9}}};
  const BothWays both(source, listed);
  ASSERT_TRUE(both.bundle && both.model);
  for (int64_t batch = 1; batch <= 9; ++batch) ExpectSameBits(*both.bundle, *both.model, {batch});
  EXPECT_THAT(RejectionOf(*both.bundle, {10}).message,
              HasSubstr("batch is 10, expected at most 9"));
}

// The output sizes of strided operators are quotients.
TEST(SizedBundle, OfImagesServesAnyHeightAndWidth) {
  constexpr std::string_view kImages = R"(graph images {
  input x: f32[1, 3, height, width]
  weight w: f32[4, 3, 3, 3]
  a = conv(x, w) {strides=[2, 2], pads=[1, 1, 1, 1]}
  p = max_pool(a) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
  mean = reduce_mean(p) {axes=[2, 3], keepdims=0}
  output p
  output mean
})";
  const SizedSource source = SourceOf(kImages, {"height", "width"});
  const std::vector<ListedSizes> listed = {{.sizes = {24, 32}}, {.sizes = {32}, .exact = false}};
  const BothWays both(source, listed);
  ASSERT_TRUE(both.bundle && both.model);
  EXPECT_TRUE(both.bundle->form().output_extents);
  for (const Sizes& sizes :
       std::vector<Sizes>{{24, 32}, {32, 32}, {23, 31}, {25, 17}, {26, 18}, {31, 30}, {17, 20}})
    ExpectSameBits(*both.bundle, *both.model, sizes);
}

TEST(SizedBundle, OfWhatCannotBePaddedHasTheListedSizes) {
  const SizedSource source = SourceOf(kCubic, {"length"});
  const std::vector<ListedSizes> listed = {{.sizes = {9, 16}}};
  const BothWays both(source, listed);
  ASSERT_TRUE(both.bundle && both.model);
  for (const int64_t length : {9, 16}) ExpectSameBits(*both.bundle, *both.model, {length});
  EXPECT_EQ(RejectionOf(*both.bundle, {10}).message,
            "the bundle has no code for length of 10, expected one of 9, 16");
  const auto report = nlohmann::json::parse(both.bundle->Report());
  EXPECT_TRUE(report.contains("refusal"));
  EXPECT_EQ(report["executables"].size(), 2);
}

// The model has a graph at even lengths only. The sizes of a range are rounded up to even sizes.
TEST(SizedBundle, OfARangeServesTheSizesThatHaveAGraph) {
  const SizedSource source = SourceOf(kPairs, {"length"});
  const BothWays both(source, {{.sizes = RoundedSizes(8, 90), .exact = false}});
  ASSERT_TRUE(both.bundle && both.model);
  for (int64_t length = 2; length <= 90; length += 2)
    ExpectSameBits(*both.bundle, *both.model, {length});
  EXPECT_EQ(RejectionOf(*both.bundle, {21}).message,
            "length is 21 (input x axis 0), expected length mod 2 == 0");
}

// The convolution has no valid graph for lengths below five.
TEST(SizedBundle, NamesAConditionThatDoesNotHold) {
  constexpr std::string_view kWindow = R"(graph window {
  input x: f32[1, 2, length, 8]
  weight w: f32[4, 2, 5, 1]
  a = conv(x, w)
  m = reduce_mean(a) {axes=[2, 3], keepdims=0}
  output a
  output m
})";
  const SizedSource source = SourceOf(kWindow, {"length"});
  const std::vector<ListedSizes> listed = {{.sizes = {48, 64}}};
  const BothWays both(source, listed);
  ASSERT_TRUE(both.bundle && both.model);
  for (const int64_t length : {5, 6, 9, 17, 30, 47, 48, 49, 64})
    ExpectSameBits(*both.bundle, *both.model, {length});
  EXPECT_EQ(RejectionOf(*both.bundle, {3}).message,
            "length is 3 (input x axis 2), expected 5 <= length");
  EXPECT_EQ(RejectionOf(*both.bundle, {65}).code, ErrorCode::kInvalidArgument);
}

// Weights are packed when a run first needs them. Sizes with equal packing share the result.
TEST(SizedBundle, OfAnotherProcessorPacksForAllSizes) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  BundleVariant variant = SizedVariantOf(source, kListed, "native,+amx-fp16");
  // The code does not use amx-fp16, so the feature may be removed from the list.
  variant.head.features = SizedVariantOf(source, {{.sizes = {1}}, {.sizes = {12}}}).head.features;
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(std::move(variant));
  const auto bundle = LoadVariants(std::move(variants), file);
  ASSERT_TRUE(bundle);
  const auto model = CompileInProcess(source, kListed);
  ASSERT_TRUE(model);
  for (const Sizes& sizes : std::vector<Sizes>{{1, 12}, {4, 20}, {3, 7}, {4, 13}})
    ExpectSameBits(*bundle, *model, sizes);
}

TEST(SizedBundle, HasWeightsOnce) {
  // Equal weights are stored once, so all sizes together need little more than one size.
  constexpr std::string_view kWide = R"(graph wide {
  input x: f32[batch, length, 64]
  weight w: f32[64, 256]
  weight v: f32[256, 64]
  h = matmul(x, w)
  r = relu(h)
  y = matmul(r, v)
  m = reduce_mean(y) {axes=[1], keepdims=0}
  output m
})";
  const SizedSource source = SourceOf(kWide, kBoth);
  ThreadPool pool(1);
  const auto weights = [&](const std::vector<ListedSizes>& listed) {
    const BundlePath file;
    std::vector<BundleVariant> variants;
    variants.push_back(SizedVariantOf(source, listed));
    EXPECT_TRUE(WriteBundle(file.path(), std::move(variants)));
    return bundle::BundleFile::Open(file.path(), pool)
        ->Section(bundle::SectionKind::kWeights, 0)
        ->size();
  };
  const size_t one = weights({{.sizes = {8}}, {.sizes = {32}}});
  const size_t eight = weights({{.sizes = {4, 8}}, {.sizes = {16, 32}}});
  EXPECT_GE(one, 2 * 64 * 256 * sizeof(float));
  EXPECT_LE(eight, one + one / 4);
}

TEST(SizedBundle, RunsInThreads) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  const BundlePath file;
  const auto bundle = LoadOf(source, kListed, file);
  ASSERT_TRUE(bundle);
  std::vector<Array> expected;
  const std::vector<Sizes> all = {{1, 12}, {4, 20}, {3, 7}, {4, 13}, {1, 5}, {7, 11}};
  for (const Sizes& sizes : all)
    expected.push_back((*RunAt(*bundle, InputsAt(bundle->form(), sizes)))[0]);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const size_t which = static_cast<size_t>(t + i) % all.size();
        const auto outputs = RunAt(*bundle, InputsAt(bundle->form(), all[which]));
        ASSERT_TRUE(outputs);
        EXPECT_EQ(
            std::memcmp((*outputs)[0].data(), expected[which].data(), expected[which].bytes()), 0);
      }
    });
  }
}

TEST(SizedBundle, TooManySizesAreRejected) {
  const SizedSource source = SourceOf(kOpenSizes, kBoth);
  const auto variant = CompileSizedVariant(
      source, {{.sizes = RoundedSizes(1, 512), .exact = false}, {.sizes = RoundedSizes(1, 512)}},
      nullptr, OptionsForCpu("native"), "native");
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().code, ErrorCode::kResourceLimit);
}

/// Writes and loads the bundle after replacing the extent of output y's length.
Result<LoadedBundle> LoadWithExtent(BundleVariant variant, const SizeProgram& extent,
                                    const BundlePath& file) {
  (*variant.sizes->form.output_extents)[0][1] = {extent};
  std::vector<BundleVariant> variants;
  variants.push_back(std::move(variant));
  TUNEC_RETURN_IF_ERROR(WriteBundle(file.path(), std::move(variants)));
  return LoadBundle(file.path());
}

/// Returns the program of an expression of the sizes batch, length and third.
SizeProgram ProgramOf(const SizeExpr& size) {
  const std::vector<std::string> names = {"batch", "length", "third"};
  return CompileSize(size, names).value();
}

TEST(SizedBundle, ExtentsOfOtherSizesThanTheTensorsAreRejected) {
  const std::vector<ListedSizes> listed = {{.sizes = {1}}, {.sizes = {20}, .exact = false}};
  const BundleVariant variant = SizedVariantOf(SourceOf(kOpenSizes, kBoth), listed);
  const SizeExpr length = SizeExpr::Named("length");
  const SizeExpr none = SizeExpr::FloorDiv(length, length - 20);
  const SizeExpr huge = length * (int64_t{1} << 59);
  for (const SizeExpr& extent : {length + 1, none, huge, SizeExpr::Named("third")}) {
    const BundlePath file;
    const auto loaded = LoadWithExtent(variant, ProgramOf(extent), file);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::kParse);
  }
}

// The extent is right at length 20, for which the code is compiled. At smaller lengths it gives
// more elements than the code's output has, so the run fails.
TEST(SizedBundle, ExtentsThatLeaveTheArraysAreRejectedByRuns) {
  const std::vector<ListedSizes> listed = {{.sizes = {1}}, {.sizes = {20}, .exact = false}};
  const BundleVariant variant = SizedVariantOf(SourceOf(kOpenSizes, kBoth), listed);
  const BundlePath file;
  const auto loaded = LoadWithExtent(variant, ProgramOf(-SizeExpr::Named("length") + 40), file);
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_TRUE(RunAt(*loaded->sized, InputsAt(loaded->sized->form(), {1, 20})));
  const Error error = RejectionOf(*loaded->sized, {1, 12});
  EXPECT_EQ(error.code, ErrorCode::kParse);
  EXPECT_THAT(error.message, HasSubstr("28 elements of 20"));
}

TEST(StoredSizes, AreCheckedBeforeTheyAreUsed) {
  const BundleVariant variant = SizedVariantOf(SourceOf(kOpenSizes, kBoth), kListed);
  bundle::StoredSizes whole{.form = variant.sizes->form, .plans = {}};
  for (size_t i = 0; i < variant.sizes->plans.size(); ++i)
    whole.plans.push_back({variant.sizes->codes[i], variant.sizes->plans[i].plan});
  const auto rejects = [&](const std::function<void(bundle::StoredSizes&)>& change) {
    bundle::StoredSizes changed = whole;
    change(changed);
    const Status checked = bundle::CheckSizes(changed, variant.kernels, {});
    EXPECT_FALSE(checked);
    // The reason must not be that the weights are missing.
    if (!checked) {
      EXPECT_THAT(checked.error().message, HasSubstr("the bundle's sizes are damaged"));
    }
  };
  rejects([](auto& sizes) { sizes.form.dimensions.clear(); });
  rejects([](auto& sizes) { sizes.form.separable.pop_back(); });
  rejects([](auto& sizes) { sizes.form.listed[0].sizes = {}; });
  rejects([](auto& sizes) { sizes.form.listed[0].sizes = {0, 4}; });
  rejects([](auto& sizes) { sizes.form.listed[0].sizes = {4, 4}; });
  rejects([](auto& sizes) { sizes.form.listed[0].step = 0; });
  rejects([](auto& sizes) { sizes.form.listed[0].sizes = {int64_t{1} << 50}; });
  rejects([](auto& sizes) { sizes.form.open[0].input = 7; });
  rejects([](auto& sizes) { sizes.form.open[0].axis = 3; });
  rejects([](auto& sizes) { sizes.form.open[0].dimension = 2; });
  rejects([](auto& sizes) { sizes.form.open[1] = sizes.form.open[0]; });
  rejects([](auto& sizes) { sizes.form.open.pop_back(); });
  rejects([](auto& sizes) { sizes.form.inputs[0].shape[0] = 4; });
  rejects([](auto& sizes) { sizes.form.output_extents->pop_back(); });
  rejects([](auto& sizes) { sizes.plans.clear(); });
  rejects([](auto& sizes) { sizes.plans.push_back(sizes.plans[0]); });
  rejects([](auto& sizes) { sizes.plans[0].code.key.sizes[0] = 0; });
  rejects([](auto& sizes) { sizes.plans[0].code.key.sizes.pop_back(); });
  rejects([](auto& sizes) { sizes.plans[0].code.key.open.pop_back(); });
  rejects([](auto& sizes) { sizes.plans[0].code.parameters.emplace_back(); });
  const SizeProgram third = ProgramOf(SizeExpr::Named("third"));
  rejects([&](auto& sizes) { (*sizes.form.output_extents)[0][0] = {third}; });
  rejects([&](auto& sizes) { sizes.form.conditions.push_back({.left = third, .right = third}); });
  rejects([&](auto& sizes) {
    for (auto& plan : sizes.plans)
      for (SizedParameter& parameter : plan.code.parameters) parameter.value = third;
  });
  rejects([&](auto& sizes) {
    sizes.plans[0].code.conditions.push_back({.left = third, .right = third});
  });
  rejects([](auto& sizes) { sizes.plans[0].plan.inputs.pop_back(); });
  rejects([](auto& sizes) { sizes.plans[0].plan.inputs[0].shape[1] += 1; });
  rejects([](auto& sizes) { sizes.plans[0].plan.outputs[0].type = DataType::kF64; });
}

TEST(StoredSizes, ComeBackAsTheyWere) {
  BundleVariant variant = SizedVariantOf(SourceOf(kOpenSizes, kBoth), kListed);
  bundle::StoredSizes sizes{.form = variant.sizes->form, .plans = {}};
  for (size_t i = 0; i < variant.sizes->plans.size(); ++i)
    sizes.plans.push_back({variant.sizes->codes[i], variant.sizes->plans[i].plan});
  const std::string bytes = Serialize(sizes);
  const auto parsed = bundle::ParseSizes(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, sizes);
  for (size_t cut = 1; cut < bytes.size(); cut += 1 + cut / 7)
    EXPECT_FALSE(bundle::ParseSizes(std::as_bytes(std::span(bytes)).first(cut)));
}

}  // namespace
}  // namespace tunec
