// Tests that models loaded from bundles have the same results, bit for bit, as when they are
// compiled directly. Damaged bundles and bundles of other versions must be rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "compiler/bundle/write_bundle.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/features_used.h"
#include "runtime/bundle/format.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/read_plan.h"
#include "support/file.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::BundlePath;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::kManyKinds;
using testing::LoadNetwork;
using ::testing::Not;
using testing::OptionsForCpu;
using testing::RunOnce;
using testing::SomeInputs;
using testing::VariantOf;

constexpr std::string_view kRelu = R"(graph g {
  input x: f32[3]
  y = relu(x)
  output y
})";

void ExpectSameBits(const std::vector<Array>& actual, const std::vector<Array>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].bytes(), expected[i].bytes()) << i;
    EXPECT_EQ(std::memcmp(actual[i].data(), expected[i].data(), actual[i].bytes()), 0) << i;
  }
}

/// Compiles the graph for `cpu`. Expects that the loaded bundle has bitwise equal results.
void ExpectEqualRuns(const Graph& graph, const Executable& loaded, std::string_view cpu) {
  const auto model = Compile(graph, nullptr, OptionsForCpu(cpu));
  ASSERT_TRUE(model) << model.error().Format();
  const Executable& compiled = *model->executable;
  EXPECT_EQ(loaded.Inputs(), compiled.Inputs());
  EXPECT_EQ(loaded.Outputs(), compiled.Outputs());
  EXPECT_EQ(loaded.StepNames(), compiled.StepNames());
  const std::vector<Array> inputs = SomeInputs(compiled);
  const auto expected = RunOnce(compiled, inputs);
  const auto actual = RunOnce(loaded, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  ASSERT_TRUE(actual) << actual.error().Format();
  ExpectSameBits(*actual, *expected);
}

void ExpectBundleOf(const Graph& graph, std::string_view cpu) {
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph, cpu));
  const Status written = WriteBundle(file.path(), std::move(variants));
  ASSERT_TRUE(written) << written.error().Format();
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_THAT(loaded->report, HasSubstr("\"kernels\":"));
  ExpectEqualRuns(graph, *loaded->executable, cpu);
}

class BundleOfNetwork : public ::testing::TestWithParam<std::string> {};

TEST_P(BundleOfNetwork, GivesTheSameBits) {
  const auto network = LoadNetwork(GetParam());
  ASSERT_TRUE(network) << network.error().Format();
  for (const std::string_view cpu : {"native", "native,-avx512f"}) {
    SCOPED_TRACE(cpu);
    ExpectBundleOf(network->graph, cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BundleOfNetwork,
                         ::testing::Values(std::string("resnet18_64"), "mobilenet_v2_64", "unet_48",
                                           "bert_2x32", "gpt_2x32", "mixer_48"),
                         [](const auto& param) { return param.param; });

TEST(Bundle, OfManyKindsGivesTheSameBits) { ExpectBundleOf(GraphOf(kManyKinds), "native"); }

TEST(Bundle, OfAllTypesGivesTheSameBits) {
  for (const std::string_view type :
       {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    SCOPED_TRACE(type);
    ExpectBundleOf(
        GraphOf(fmt::format("graph g {{\ninput x: {0}[7, 5]\nweight w: {0}[5]\ny = add(x, w)\n"
                            "z = mul(y, x)\noutput y\noutput z\n}}",
                            type)),
        "native");
  }
}

TEST(Bundle, WithoutWeightsGivesTheSameBits) {
  ExpectBundleOf(GraphOf(kRelu), "native");
  ExpectBundleOf(GraphOf("graph g {\n  input x: f32[3]\n  output y = x\n}"), "native");
}

TEST(Bundle, CountsIndicesOutOfRange) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph));
  ASSERT_TRUE(WriteBundle(file.path(), std::move(variants)));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  std::vector<Array> inputs = SomeInputs(*loaded->executable);
  inputs[1].SetInt(0, 3);
  ASSERT_TRUE(RunOnce(*loaded->executable, inputs));
  ASSERT_EQ(loaded->executable->Outside().size(), 1U);
  EXPECT_EQ(loaded->executable->Outside()[0].count, 1);
}

TEST(Bundle, UsesConstantsWhereTheFileIsMapped) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph));
  EXPECT_TRUE(variants[0].plan.preprocessing.empty());
  ASSERT_TRUE(WriteBundle(file.path(), std::move(variants)));
  const auto mapped = MappedFile::Open(file.path());
  ASSERT_TRUE(mapped);
  ThreadPool pool(1);
  const auto bundle = bundle::BundleFile::Open(file.path(), pool);
  ASSERT_TRUE(bundle) << bundle.error().Format();
  const auto plan = bundle::ReadPlan(*bundle, 0, [](const auto& kernels, auto, const auto&) {
    return std::vector<Kernel>(kernels.size());
  });
  ASSERT_TRUE(plan) << plan.error().Format();
  const auto bytes = bundle->bytes();
  for (const Constant& constant : plan->constants) {
    const auto* const data = static_cast<const std::byte*>(constant.data.get());
    EXPECT_TRUE(data >= bytes.data() && data + constant.bytes <= bytes.data() + bytes.size());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U) << constant.name;
  }
}

// If this machine has no amx-fp16, the weights are not packed before the bundle is loaded.
TEST(Bundle, OfAnotherProcessorPacksWhenItIsLoaded) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph, "native,+amx-fp16"));
  const bool is_here = MachineFeatures().contains("amx-fp16");
  EXPECT_EQ(variants[0].plan.preprocessing.empty(), is_here);
  // The code does not use amx-fp16, so the feature may be removed from the list.
  variants[0].head.features = FeaturesUsed(OptionsForCpu("native").target.host);
  ASSERT_TRUE(WriteBundle(file.path(), std::move(variants)));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  ExpectEqualRuns(graph, *loaded->executable, "native");
}

TEST(Bundle, RunsTheFirstVariantThatThisMachineCan) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph));
  variants.back().head = {.cpu = "tomorrow", .features = {"avx2", "avx2048f", "avx4096f"}};
  variants.push_back(VariantOf(graph));
  variants.push_back(VariantOf(graph, "native,-avx512f"));
  ASSERT_TRUE(WriteBundle(file.path(), std::move(variants)));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->variant, 1U);
  ExpectEqualRuns(graph, *loaded->executable, "native");

  const auto last = LoadBundle(file.path(), {.variant = 2});
  ASSERT_TRUE(last) << last.error().Format();
  ExpectEqualRuns(graph, *last->executable, "native,-avx512f");

  const auto first = LoadBundle(file.path(), {.variant = 0});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kDevice);
  EXPECT_THAT(first.error().message,
              HasSubstr("for cpu tomorrow: the processor has no avx2048f, avx4096f"));
  EXPECT_EQ(LoadBundle(file.path(), {.variant = 3}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Bundle, KeepsEqualWeightsOfVariantsOnce) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath one;
  const BundlePath two;
  std::vector<BundleVariant> variants;
  variants.push_back(VariantOf(graph));
  ASSERT_TRUE(WriteBundle(one.path(), {variants[0]}));
  ASSERT_TRUE(WriteBundle(two.path(), {variants[0], variants[0]}));
  ThreadPool pool(1);
  const auto weights = [&](const BundlePath& file) {
    return bundle::BundleFile::Open(file.path(), pool)
        ->Section(bundle::SectionKind::kWeights, 0)
        ->size();
  };
  EXPECT_EQ(weights(one), weights(two));
}

TEST(Bundle, MayBeReplacedWhileItRuns) {
  const Graph graph = GraphOf(kManyKinds);
  const BundlePath file;
  const BundleVariant variant = VariantOf(graph);
  ASSERT_TRUE(WriteBundle(file.path(), {variant}));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  ASSERT_TRUE(WriteBundle(file.path(), {VariantOf(GraphOf(kRelu))}));
  ExpectEqualRuns(graph, *loaded->executable, "native");
}

TEST(Bundle, IsRejectedWhenItIsCutShort) {
  const BundlePath file;
  ASSERT_TRUE(WriteBundle(file.path(), {VariantOf(GraphOf(kManyKinds))}));
  const auto whole = ReadFile(file.path());
  ASSERT_TRUE(whole);
  for (size_t part = 0; part < 64; ++part) {
    ASSERT_TRUE(WriteFileAtomically(file.path(), whole->substr(0, whole->size() * part / 64)));
    EXPECT_EQ(LoadBundle(file.path()).error().code, ErrorCode::kParse) << part;
  }
  ASSERT_TRUE(WriteFileAtomically(file.path(), *whole + '\0'));
  EXPECT_EQ(LoadBundle(file.path()).error().code, ErrorCode::kParse);
}

TEST(Bundle, OfAnotherVersionOrKindIsRejected) {
  const BundlePath file;
  EXPECT_EQ(LoadBundle(file.path()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(WriteBundle(file.path(), {VariantOf(GraphOf(kManyKinds))}));
  std::string bytes = *ReadFile(file.path());
  const auto rejection = [&](uint32_t version) {
    bytes[8] = static_cast<char>(version);
    EXPECT_TRUE(WriteFileAtomically(file.path(), bytes));
    return LoadBundle(file.path()).error().Format();
  };
  const std::string begin =
      fmt::format("error: {}: the bundle is of version ", file.path().string());
  const std::string expected = fmt::format("this tunec reads version {}: ", bundle::kVersion);
  EXPECT_EQ(rejection(bundle::kVersion + 1),
            fmt::format("{}{}, {}a newer tunec made it", begin, bundle::kVersion + 1, expected));
  EXPECT_EQ(rejection(bundle::kVersion - 1),
            fmt::format("{}{}, {}build it again", begin, bundle::kVersion - 1, expected));
  bytes[0] = 'T';
  ASSERT_TRUE(WriteFileAtomically(file.path(), bytes));
  EXPECT_EQ(LoadBundle(file.path()).error().code, ErrorCode::kParse);
}

// docs/reference/bundles.md describes the bytes of this version.
TEST(Bundle, HasTheVersionThatItsPageDescribes) {
  const auto page = ReadFile(std::string(TUNEC_TEST_DATA) + "/../docs/reference/bundles.md");
  ASSERT_TRUE(page) << page.error().Format();
  EXPECT_THAT(*page,
              ::testing::HasSubstr(fmt::format("\n## The file, version {}\n", bundle::kVersion)));
  EXPECT_THAT(*page,
              ::testing::HasSubstr(fmt::format("\n| 4 | version, {} |\n", bundle::kVersion)));
}

// A run can update one row of a cache in place. The bundle stores which argument its kernel may
// update.
TEST(Bundle, UpdatesACacheWhereItLies) {
  const Graph graph = GraphOf(R"(graph g {
  input cache: f32[6, 40]
  input i: i64[1, 1]
  input u: f32[1, 40]
  y = scatter(cache, i, u)
  output y
})");
  const BundlePath file;
  const BundleVariant variant = VariantOf(graph);
  ASSERT_TRUE(WriteBundle(file.path(), {variant}));
  const auto loaded = LoadBundle(file.path());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  ASSERT_EQ(variant.kernels.size(), 1U);
  EXPECT_THAT(variant.kernels[0].in_place, ::testing::SizeIs(1));
  const Executable& executable = *loaded->executable;
  std::vector<Array> inputs = SomeInputs(executable);
  const auto expected = RunOnce(executable, inputs);
  ASSERT_TRUE(expected);
  // The cache and the output are the same memory.
  void* const to[] = {inputs[0].mutable_data()};
  const void* const from[] = {to[0], inputs[1].data(), inputs[2].data()};
  ASSERT_TRUE(executable.Run(from, to));
  EXPECT_EQ(std::memcmp(inputs[0].data(), (*expected)[0].data(), inputs[0].bytes()), 0);
}

}  // namespace
}  // namespace tunec
