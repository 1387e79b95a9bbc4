// Tests of modified bundles of compiled models. Each is rejected, is too large to try, or runs
// inside its buffers (tests/runtime/bundle/touch_bundle.h). fuzz_bundles tries more bundles. The
// environment variables TUNEC_BUNDLE_MUTATIONS and TUNEC_STALE_BUNDLES set the numbers of modified
// bundles per test, with repaired and with stale hashes. The default of both is 2000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <span>

#include "compiler/bundle/write_bundle.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/stored_plan.h"
#include "support/file.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/models.h"
#include "tests/runtime/bundle/container.h"
#include "tests/runtime/bundle/try_bundles.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using bundle::SectionKind;
using testing::BundlePath;
using testing::BundleToucher;
using testing::GraphOf;
using testing::kManyKinds;
using testing::RawSection;
using testing::Touched;
using testing::VariantOf;

uint64_t CountFrom(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Returns a bundle of two variants. If this machine has no amx-fp16, the weights of the second
// variant are packed when the variant is loaded.
std::string SomeBundle() {
  const BundlePath file;
  const Graph graph = GraphOf(kManyKinds);
  BundleVariant packing = VariantOf(graph, "native,+amx-fp16");
  EXPECT_TRUE(WriteBundle(file.path(), {VariantOf(graph), std::move(packing)}));
  return *ReadFile(file.path());
}

std::string SomeSizedBundle() {
  const BundlePath file;
  const SizedSource source = testing::SourceOf(testing::kOpenSizes, {"batch", "length"});
  const std::vector<ListedSizes> listed = {{.sizes = {2, 3}},
                                           {.sizes = RoundedSizes(7, 12), .exact = false}};
  EXPECT_TRUE(
      WriteBundle(file.path(), {testing::SizedVariantOf(source, listed),
                                testing::SizedVariantOf(source, listed, "native,+amx-fp16")}));
  return *ReadFile(file.path());
}

void ExpectInsideBuffers(const std::string& whole, uint64_t seed) {
  BundleToucher toucher(scripted_cuda::kLibrary);
  const auto tried = TryMutants(toucher, whole, CountFrom("TUNEC_BUNDLE_MUTATIONS", 2000), seed);
  fmt::print("{} rejected, {} too large to try, {} ran\n", tried.rejected, tried.too_large,
             tried.ran);
  EXPECT_GT(tried.ran, 0U);
}

TEST(BundleMutation, TheWholeOnesRun) {
  BundleToucher toucher(scripted_cuda::kLibrary);
  Random random(1);
  for (const std::string& whole : {SomeBundle(), SomeSizedBundle()}) {
    EXPECT_EQ(Container(testing::SectionsOf(whole)), whole);
    EXPECT_EQ(TryBundle(toucher, whole, 0, random), Touched::kRan);
    EXPECT_EQ(TryBundle(toucher, whole, 1, random), Touched::kRan);
  }
}

TEST(BundleMutation, StaleHashesAreRejected) {
  EXPECT_EQ(testing::CountStaleAccepted(SomeBundle(), CountFrom("TUNEC_STALE_BUNDLES", 2000), 1),
            0U);
}

TEST(BundleMutation, WithRepairedHashesIsRejectedOrRunsInsideItsBuffers) {
  ExpectInsideBuffers(SomeBundle(), 2);
}

TEST(BundleMutation, OfSeveralSizesIsRejectedOrRunsInsideItsBuffers) {
  ExpectInsideBuffers(SomeSizedBundle(), 4);
}

// Compiled code does not check constant indices that were in range. The loader must check them.
TEST(BundleMutation, IndicesThatCodeTrustsAreLookedAt) {
  std::vector<RawSection> sections = testing::SectionsOf(SomeBundle());
  int64_t rows = -1;
  for (const RawSection& section : sections) {
    if (section.kind != SectionKind::kPlan || section.variant != 0) continue;
    const auto plan = bundle::ParsePlan(std::as_bytes(std::span(section.bytes)));
    ASSERT_TRUE(plan);
    for (const bundle::StoredConstant& constant : plan->constants)
      if (constant.name == "rows") rows = constant.offset;
  }
  ASSERT_GE(rows, 0);
  for (RawSection& section : sections)  // the table has rows 0 to 3
    if (section.kind == SectionKind::kWeights) section.bytes[static_cast<size_t>(rows)] = 4;
  const BundlePath file;
  ASSERT_TRUE(WriteFileAtomically(file.path(), Container(sections)));
  const auto loaded = LoadBundle(file.path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kParse);
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr("indices lie outside 0 to 3"));
}

}  // namespace
}  // namespace tunec
