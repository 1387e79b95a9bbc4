// Tests that load mutants of SampleBundle and run accepted ones. The program fuzz_bundles tries
// more mutants.
#include <gtest/gtest.h>

#include <span>

#include "runtime/bundle/bundle_file.h"
#include "tests/runtime/bundle/mutate_bundle.h"
#include "tests/runtime/bundle/sample_bundle.h"
#include "tests/runtime/bundle/touch_bundle.h"
#include "tests/runtime/bundle/try_bundles.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec::testing {
namespace {

TEST(HostileBundle, TheWholeOneRuns) {
  const std::string whole = SampleBundle();
  EXPECT_EQ(Container(SectionsOf(whole)), whole);
  BundleToucher toucher(scripted_cuda::kLibrary);
  Random random(1);
  for (uint32_t variant = 0; variant < 3; ++variant)
    for (int round = 0; round < 20; ++round)
      EXPECT_EQ(TryBundle(toucher, whole, variant, random), Touched::kRan) << variant;
  EXPECT_EQ(TryBundle(toucher, whole, 3, random), Touched::kRejected);
}

TEST(HostileBundle, StaleHashesAreRejected) {
  EXPECT_EQ(CountStaleAccepted(SampleBundle(), 2000, 1), 0U);
}

TEST(HostileBundle, WithRightHashesIsRejectedOrRunsInsideItsBuffers) {
  BundleToucher toucher(scripted_cuda::kLibrary);
  const TriedBundles tried = TryMutants(toucher, SampleBundle(), 5000, 2);
  EXPECT_EQ(tried.rejected + tried.too_large + tried.ran, 5000U);
  EXPECT_GT(tried.ran, 100U);
  EXPECT_GT(tried.rejected, 1000U);
}

}  // namespace
}  // namespace tunec::testing
