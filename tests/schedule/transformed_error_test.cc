// Tests of the rounding error of transforms, against numbers that were computed by hand.
#include "schedule/sketches/transformed_error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/programs/must_parse.h"
#include "tests/programs/winograd.h"

namespace tunec::test {
namespace {

constexpr double kUnit = 0x1p-24;

TransformedPlan PlanOf(const std::string& text) {
  std::optional<TransformedPlan> plan = MakeTransformedPlan({"winograd", MustParse(text)});
  TUNEC_CHECK(plan.has_value(), "no plan of {}", text);
  return *std::move(plan);
}

TransformedError MustBound(const std::string& text) {
  const auto error = ErrorOf(PlanOf(text), 9);
  TUNEC_CHECK(error.has_value(), "no bound of {}", text);
  return *error;
}

// Returns a transform with two planes: `first` (x + 4 y) and x - y of an image, f and f / 2 of a
// filter. `back` is 3 p - q, where p and q are the sums of products of the planes.
std::string TwoPlanes(const std::string& first = "X[p, c] + X[p + 1, c] * 4.0") {
  return fmt::format(R"(compute two {{
  input X: f32[9, 16]
  weight F: f32[16, 32] constant
  output Y: f32[8, 32]
  workspace filter: f32[2, 16, 32] constant
  workspace patch: f32[2, 8, 16]
  workspace acc: f32[2, 8, 32]
  workspace back: f32[8, 32]
  filter[m: 32, c: 16]:
    (filter[0, c, m], filter[1, c, m]) = (F[c, m], F[c, m] * 0.5)
  patch[p: 8, c: 16]:
    (patch[0, p, c], patch[1, p, c]) = ({}, X[p, c] - X[p + 1, c])
  acc[t: 2, p: 8, m: 32, c: 16 reduction]:
    acc[t, p, m] sum= patch[t, p, c] * filter[t, c, m]
  back[p: 8, m: 32]:
    back[p, m] = acc[0, p, m] * 3.0 - acc[1, p, m]
  Y[p: 8, m: 32]:
    Y[p, m] = max(back[p, m], 0.0)
}})",
                     first);
}

TEST(TransformedError, IsThatOfEachOperation) {
  const auto error = ErrorOf(PlanOf(TwoPlanes()), 2);
  ASSERT_TRUE(error);
  // The magnitudes of the two products are 5 * 1 and 2 * 0.5. `back` weights them by 3 and 1.
  EXPECT_DOUBLE_EQ(error->growth, (3 * 5 + 1) / 2.);
  // Errors are in multiples of kUnit. In x + 4 y, the product adds an error of 4 and the sum 5. x -
  // y adds 2, which is then multiplied by 0.5. A sum of 16 terms adds 16 times its magnitude. f *
  // 0.5 adds 0.5, which is then multiplied by 2.
  const double first = 9 + 16 * 5;
  const double second = 2 * 0.5 + 0.5 * 2 + 16 * 1;
  EXPECT_DOUBLE_EQ(error->bound, (3 * first + 15 + second + 16) / 2 * kUnit);
}

TEST(TransformedError, IsNotKnownOfOtherTransforms) {
  EXPECT_FALSE(ErrorOf(PlanOf(TwoPlanes("X[p, c] * X[p + 1, c]")), 2));
  EXPECT_FALSE(ErrorOf(PlanOf(TwoPlanes("exp(X[p, c])")), 2));
  EXPECT_FALSE(MayTransform(PlanOf(TwoPlanes("exp(X[p, c])")), 2, ReductionOrder::kAny));
}

// With the tile's matrices At, G and Bt and a vector 1 of ones, the growth along an axis is the
// largest element of |At| (|G| 1 * |Bt| 1) / 3. For two axes the growth is squared: (8 / 3)^2 for
// tiles of 2x2, and (48 / 3)^2 for tiles of 4x4.
TEST(TransformedError, GrowthOfWinogradsTiles) {
  EXPECT_NEAR(MustBound(WinogradText({})).growth, 64. / 9, 1e-6);
  EXPECT_NEAR(MustBound(WinogradText({.tile = 4})).growth, 256, 1e-3);
}

TEST(TransformedError, GrowsWithChannels) {
  const double few = MustBound(WinogradText({.channels = 16})).bound;
  const double many = MustBound(WinogradText({.channels = 64})).bound;
  EXPECT_NEAR(many - few, 48 * kUnit * 64 / 9, 1e-9);
}

// The error of a sum in pieces grows with the length of a piece plus the number of pieces.
TEST(TransformedError, OfPiecesIsLess) {
  TransformedPlan plan = PlanOf(WinogradText({.channels = 1024}));
  const double as_one = ErrorOf(plan, 9)->bound;
  CutLongSum(ReductionOrder::kAny, plan);
  EXPECT_NEAR(as_one - ErrorOf(plan, 9)->bound, (1024 - 128 - 8) * kUnit * 64 / 9, 1e-9);
}

TEST(MayTransform, AsksTheNumberWhereMagnitudesGrow) {
  RoundingFreedom rounding = ReductionOrder::kAny;
  EXPECT_TRUE(MayTransform(PlanOf(WinogradText({})), 9, rounding));
  const TransformedPlan four = PlanOf(WinogradText({.tile = 4}));
  EXPECT_FALSE(MayTransform(four, 9, rounding));
  const double bound = ErrorOf(four, 9)->bound;
  rounding.allowed_error = bound * 0.99;
  EXPECT_FALSE(MayTransform(four, 9, rounding));
  rounding.allowed_error = bound * 1.01;
  EXPECT_TRUE(MayTransform(four, 9, rounding));
}

}  // namespace
}  // namespace tunec::test
