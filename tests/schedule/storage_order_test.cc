// Tests of the step storage_order, which orders the loops of a statement if the order is legal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// Without a step storage_order, the loops of a copy are neither parallel nor vectorized.
TEST(StorageOrder, APackAloneCopiesPlainly) {
  for (const std::string_view program : {kMatmul, kWeightMatmul}) {
    const auto kernel =
        LoopsOf(MustParse(program), MustParseSteps("pack B 1/8 0 1%8"), ReductionOrder::kAny);
    ASSERT_TRUE(kernel) << kernel.error().message;
    const LoopNest& nest = program == kMatmul ? kernel->nest : kernel->prepack.at(0);
    const std::string text = Print(nest);
    const size_t begin = text.find("phase B.pack {");
    ASSERT_NE(begin, std::string::npos) << text;
    const std::string phase = text.substr(begin, text.find("phase ", begin + 1) - begin);
    EXPECT_THAT(phase, HasSubstr("    for B_pack_d0 in 0 .. "));
    EXPECT_THAT(phase, HasSubstr("      for B_pack_d1 in 0 .. "));
    EXPECT_THAT(phase, Not(AnyOf(HasSubstr("parallel"), HasSubstr("vector"))));
  }
}

TEST(StorageOrder, StandsForOtherSteps) {
  const auto packed = [](std::string_view program, std::string_view steps) {
    const std::string lines = "pack B 1/8 0 1%8\n" + std::string(steps);
    const auto kernel = LoopsOf(MustParse(program), MustParseSteps(lines), ReductionOrder::kAny);
    if (!kernel) return kernel.error().message;
    std::string text = Print(kernel->nest);
    for (const LoopNest& prepack : kernel->prepack) text += Print(prepack);
    return text;
  };
  for (const std::string_view program : {kMatmul, kWeightMatmul}) {
    EXPECT_EQ(packed(program, "storage_order B.pack 64"),
              packed(program,
                     "split B.pack.d1 8\nisolate B.pack.d1.0\n"
                     "reorder B.pack.d1.0 B.pack.d0 B.pack.d1.1\n"
                     "vectorize B.pack.d1.1\nparallelize B.pack.d1.0"));
    EXPECT_EQ(packed(program, "storage_order B.pack 3"),
              packed(program,
                     "split B.pack.d1 8\nisolate B.pack.d1.0\n"
                     "reorder B.pack.d1.0 B.pack.d0 B.pack.d1.1\n"
                     "split B.pack.d1.1 3\nisolate B.pack.d1.1.0\n"
                     "vectorize B.pack.d1.1.1\nparallelize B.pack.d1.0"));
  }
}

// Each element of a recurrence needs the previous one, so the loop cannot be parallel or vector.
TEST(StorageOrder, IsProvenAsAnyOrderIs) {
  constexpr std::string_view kRecurrence = R"(compute recurrence {
  input X: f32[37]
  output Y: f32[37]
  Y[i: 37 sequential]:
    Y[i] = (Y[i - 1] where (i - 1 >= 0) else 0.0) * 0.5 + X[i]
}
)";
  const auto kernel =
      LoopsOf(MustParse(kRecurrence), MustParseSteps("storage_order Y 8"), ReductionOrder::kAny);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kIllegalSchedule);
  EXPECT_THAT(kernel.error().message, HasSubstr("accesses of Y: the flow dependence"));
}

}  // namespace
}  // namespace tunec::test
