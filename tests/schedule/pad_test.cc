// Tests of the step pad. A padded product has the same bits as before, including infinities and
// NaN. If non-finite operands could change a result, the accuracy mode must allow the step.
// steps/padding_test.cc tests uses and rejections. Files golden/pad*.txt have expected loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <sstream>

#include "ir/interpret/interpret.h"
#include "tests/programs/operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

constexpr std::string_view kPaddedTiles =
    "copy A acc j 8\ncache_write acc\npad acc i 8 j 8 k 16\nsplit acc.i 8\nsplit acc.j 8\n"
    "split acc.k 16\nreorder acc.i.0 acc.j.0 acc.k.0 acc.i.1 acc.k.1 acc.j.1\n"
    "compute_at A.copy acc.k.0\nstage A.copy packed acc.k.0";

bool HaveSameBits(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

TEST(Pad, LeavesInfinitiesNaNAndSignsOfZero) {
  const Compute compute = MustParse(kBareProduct);
  std::vector<Array> arguments = RandomArguments(compute, 7);
  Array& left = arguments[0];
  Array& right = arguments[1];
  const auto columns = right.shape()[1];
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  left.SetDouble(0, kInfinity);
  left.SetDouble(left.size() - 1, -kInfinity);  // the last element of the last row
  right.SetDouble(3, std::numeric_limits<double>::quiet_NaN());
  right.SetDouble(right.size() - columns + 5, kInfinity);  // in the last row
  for (int64_t k = 0; k < left.shape()[1]; ++k) left.SetDouble(2 * left.shape()[1] + k, -0.0);
  const auto expected = Interpret(compute, arguments, Precision::kNative);
  const auto kernel = LoopsOf(compute, MustParseSteps(kPaddedTiles), ReductionOrder::kAsWritten);
  ASSERT_TRUE(expected && kernel);
  const auto found = Interpret(kernel->nest, arguments, Precision::kNative);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(HaveSameBits(expected->front(), found->front()));
}

// The message names the first condition that `pad` would remove.
TEST(Pad, OfWindowsIsTheContractsToAllow) {
  const auto kernel =
      LoopsOf(MustParse(kConv3x3), MustParseSteps("pad acc"), ReductionOrder::kAsWritten);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kIllegalSchedule);
  EXPECT_EQ(kernel.error().message,
            "pad acc: an operand that may not be finite must be omitted where oh + kh - 1 < 0");
}

// 0 times an integer is always 0.
TEST(Pad, OfIntegerWindowsIsAlwaysAllowed) {
  EXPECT_EQ(Outcome(R"(compute blur {
  input X: i32[13]
  input W: i32[3]
  output Y: i32[13]
  Y[o: 13, r: 3 reduction] where o + r - 1 >= 0, 13 - o - r >= 0:
    Y[o] sum= X[o + r - 1] * W[r]
}
)",
                    "copy X Y\npad Y", ReductionOrder::kAsWritten),
            "");
}

// If the step `pad` moves the elements of a copy, the indices of all readers change.
TEST(Pad, MovesAllReadersOfACopy) {
  EXPECT_EQ(Outcome(R"(compute two_windows {
  input X: f32[13]
  input W: f32[3]
  output Y: f32[13]
  output Z: f32[13]
  workspace t: f32[13]
  t[o: 13, r: 3 reduction] where o + r - 1 >= 0, 13 - o - r >= 0:
    t[o] sum= X[o + r - 1] * W[r]
  Y[i: 13]:
    Y[i] = t[i] + X[i]
  Z[o: 13, r: 3 reduction] where o - r >= 0:
    Z[o] sum= X[o - r] * W[r]
}
)",
                    "pack X 0\npad t o 4\npad Z\nsplit t.o 4"),
            "");
}

// Padded windows may extend beyond their sources. The elements of the copies are zeros there.
TEST(Pad, FillsCopiesOfWindows) {
  EXPECT_EQ(Outcome(kConv3x3,
                    "copy X acc m 8 oh 4 ow 4\ncopy W acc oh 4 ow 4\npad acc m 8 oh 4 ow 4\n"
                    "split acc.m 8\nsplit acc.oh 4\nsplit acc.ow 4"),
            "");
  EXPECT_EQ(Outcome(kMatmul, "copy B acc i 5 j 5\npad acc i 8 j 8 k 4"), "");
}

// The step `precision` splits an operand into planes of bfloat16. A plane is 0 where the operand is
// 0, so the padded sum needs no conditions.
TEST(Pad, GrowsThePlanesOfTerms) {
  for (const int bf16_parts : {2, 3}) {
    const std::string steps = fmt::format(
        "precision acc bf16 {}\ncache_write acc\npad acc i 8 j 8 k 16\nsplit acc.i 8\nsplit acc.k "
        "16",
        bf16_parts);
    RoundingFreedom rounding = ReductionOrder::kAny;
    rounding.min_bf16_parts = bf16_parts;
    EXPECT_EQ(Outcome(kBareProduct, steps, rounding), "");
    const auto kernel = LoopsOf(MustParse(kBareProduct), MustParseSteps(steps), rounding);
    ASSERT_TRUE(kernel) << kernel.error().message;
    std::istringstream lines(Print(kernel->nest));
    int sums = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.contains("sum=")) continue;
      ++sums;
      EXPECT_FALSE(line.contains("where")) << line;
    }
    EXPECT_EQ(sums, 1);
  }
}

TEST(Pad, GrowsACopyOfACopy) {
  EXPECT_EQ(Outcome(kConv3x3,
                    "pack X 0 2 3 1\npad acc\ncopy X.pack acc m 8\npad acc m 8 oh 4 ow 4\n"
                    "split acc.m 8"),
            "");
}

}  // namespace
}  // namespace tunec::test
