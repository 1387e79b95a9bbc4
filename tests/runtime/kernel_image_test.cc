// Tests of serialized kernel images. Parsing restores an image, and rejects invalid texts.
#include "runtime/kernel_image.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

KernelImage DeviceImage() {
  KernelImage image{.format = "cubin", .bytes = "code\n0 1", .workspace_bytes = 640};
  image.phases.push_back({.symbol = "mm_phase0",
                          .grid = {16, 4, 2},
                          .block = {32, 4, 1},
                          .waves = 2,
                          .shared_bytes = 49152,
                          .registers = 168,
                          .spilled_bytes = 24,
                          .local_bytes = 64});
  image.phases.push_back({.symbol = "mm_phase1"});
  return image;
}

TEST(KernelImage, ReadsBack) {
  for (const KernelImage& image : {DeviceImage(), KernelImage{}}) {
    const auto again = ParseKernelImage(Serialize(image));
    ASSERT_TRUE(again) << again.error().Format();
    EXPECT_EQ(*again, image);
  }
  EXPECT_EQ(DeviceImage().phases[0].Blocks(), 128);
}

TEST(KernelImage, DamageIsAnError) {
  const std::string text = Serialize(DeviceImage());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ParseKernelImage(text.substr(0, size))) << size;
  EXPECT_FALSE(ParseKernelImage(text + "."));
  for (const char* wrong : {
           "tunec-object 2 0 0 0 0\n",                               // another version
           "tunec-object 3 elf 0 0 0 0\n",                           // another version
           "tunec-object 4  0 0 0 0\n",                              // no format
           "tunec-object 4 elf -1 0 0 0\n",                          // negative workspace
           "tunec-object 4 elf 0 0 1 0\n1 1 1 1 1 1 1 0 0 0 0 \n",   // no symbol
           "tunec-object 4 elf 0 0 1 0\n7 1 1 1 1 1 2 0 0 0 0 f\n",  // 7 blocks in 2 waves
           "tunec-object 4 elf 0 0 1 0\n7 1 1 1 1 1 0 0 0 0 0 f\n",  // zero waves
           "tunec-object 4 elf 0 0 1 0\n9223372036854775807 2 1 1 1 1 1 0 0 0 0 f\n",  // too many
                                                                                       // blocks
       }) {
    const auto image = ParseKernelImage(wrong);
    ASSERT_FALSE(image) << wrong;
    EXPECT_EQ(image.error().code, ErrorCode::kParse);
  }
}

}  // namespace
}  // namespace tunec
