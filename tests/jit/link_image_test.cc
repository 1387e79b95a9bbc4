// Tests that an image rejects bytes that are no object. Tests of detected and used features.
#include "jit/cpu/link_image.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "jit/cpu/cpu_features.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/features_used.h"
#include "runtime/machine_features.h"

namespace tunec {
namespace {

TEST(CodeImage, RejectsWhatIsNoObject) {
  CodeImage image;
  for (const std::string_view bytes : {"", "tunec",
                                       "\x7f"
                                       "ELF"}) {
    const auto added = image.Add(bytes);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::kParse);
  }
  const std::string zeros(4096, '\0');
  EXPECT_FALSE(image.Add(zeros));
  EXPECT_EQ(image.bytes(), "");
}

// The runtime and LLVM find the same of the features that jit/cpu/cpu_features.h lists.
TEST(ProcessorFeatures, AreThoseThatLlvmFinds) {
  const std::set<std::string> llvm = MachineFeatures();
  const std::set<std::string> ours = ProcessorFeatures();
  const auto compare = [&](std::string_view feature) {
    const std::string name(feature);
    EXPECT_EQ(ours.contains(name), llvm.contains(name)) << name;
  };
  for (const std::string_view feature : jit::kFeaturesThatMatter) compare(feature);
  for (const std::string_view feature : jit::kFeaturesUsedUnasked) compare(feature);
}

TEST(FeaturesUsed, OfThisMachineAreHere) {
  EXPECT_TRUE(FindMissingFeatures(FeaturesUsed(DetectCpu(1).host)).empty());
}

TEST(FeaturesUsed, AreWhatIsMissing) {
  const auto other = ParseCpu("bdver4", 1);
  ASSERT_TRUE(other) << other.error().Format();
  const std::vector<std::string> missing = FindMissingFeatures(FeaturesUsed(other->host));
  const std::set<std::string> here = MachineFeatures();
  EXPECT_EQ(std::ranges::find(missing, "fma4") == missing.end(), here.contains("fma4"));
}

}  // namespace
}  // namespace tunec
