#include "compiler/sized/size_formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>

#include "compiler/sized/choose_samples.h"
#include "compiler/sized/worth_joining.h"
#include "runtime/sized/choose_sizes.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

std::vector<SizeSample> Samples(const std::function<double(int64_t, int64_t)>& value) {
  std::vector<SizeSample> samples;
  for (const Sizes& sizes : {Sizes{4, 50}, Sizes{4, 63}, Sizes{7, 50}, Sizes{7, 63}, Sizes{5, 56}})
    samples.push_back({sizes, value(sizes[0], sizes[1])});
  return samples;
}

void ExpectFollows(const std::function<double(int64_t, int64_t)>& value) {
  const std::optional<SizeFormula> formula = FitFormula(Samples(value));
  ASSERT_TRUE(formula);
  for (const Sizes& sizes : {Sizes{6, 51}, Sizes{4, 60}, Sizes{7, 55}})
    EXPECT_FLOAT_EQ(formula->At(sizes), value(sizes[0], sizes[1]));
}

TEST(SizeFormula, FollowsSumsProductsAndQuotients) {
  ExpectFollows([](int64_t, int64_t) { return 12; });
  ExpectFollows([](int64_t, int64_t length) { return length; });
  ExpectFollows([](int64_t, int64_t length) { return length - 1; });
  ExpectFollows([](int64_t batch, int64_t length) { return 3 * batch + 2 * length + 5; });
  ExpectFollows([](int64_t batch, int64_t length) { return batch * length; });
  ExpectFollows([](int64_t, int64_t length) { return 1.0 / static_cast<double>(length); });
  ExpectFollows([](int64_t, int64_t length) {
    return static_cast<float>(1 / std::sqrt(static_cast<double>(length)));
  });
  ExpectFollows([](int64_t, int64_t length) { return (length - 1) / 2 + 1; });
}

TEST(SizeFormula, NoneWhereSamplesAgreeWithSeveral) {
  EXPECT_FALSE(FitFormula(Samples([](int64_t, int64_t length) { return (length + 5) / 8; })));
  // For odd n, (n - 1) / 2 equals n / 2 rounded down. A formula must give n / 2 for even n.
  const std::vector<SizeSample> odd = {{{5}, 2}, {{7}, 3}, {{9}, 4}};
  const auto half = FitFormula(odd);
  if (half) {
    EXPECT_EQ(half->At({6}), 3);
  }
}

TEST(SizeFormula, NoneForWhatBends) {
  EXPECT_FALSE(
      FitFormula(Samples([](int64_t, int64_t length) { return std::min<int64_t>(length, 56); })));
  EXPECT_FALSE(FitFormula(Samples([](int64_t, int64_t length) { return length * length; })));
}

TEST(SizeFormula, NamesADimensionThatItIs) {
  const auto formula = FitFormula(Samples([](int64_t, int64_t length) { return length; }));
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->dimension(), 1);
  EXPECT_FALSE(formula->IsConstant());
  const auto other = FitFormula(Samples([](int64_t, int64_t length) { return length + 1; }));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->dimension(), -1);
}

TEST(SizeFormula, IsWhatARuleSays) {
  const SizeExpression windows = SizeExpression::Size(1).Plus(-1).Over(2).Plus(1);
  const SizeFormula formula = FormulaOf(windows);
  EXPECT_EQ(formula.At({4, 51}), 26);
  EXPECT_EQ(formula.dimension(), -1);
  EXPECT_EQ(FormulaOf(SizeExpression::Size(1)).dimension(), 1);
  EXPECT_EQ(FormulaOf(SizeExpression::Size(1)).At({4, 51}), 51);
  EXPECT_TRUE(FormulaOf(SizeExpression::Constant(7)).IsConstant());
  EXPECT_EQ(FormulaOf(SizeExpression::Constant(7)).At({4, 51}), 7);
  EXPECT_EQ(FormulaOf(SizeExpression::Size(0).Times(INT64_MAX)).At({2}), 0);  // overflow gives 0
}

TEST(SizeFormula, FollowsWhatRulesSay) {
  const SizeExpression half = SizeExpression::Size(1).Over(2), third = SizeExpression::Size(0);
  const std::vector<SizeExpression> terms = {half, third};
  const auto samples = Samples([](int64_t batch, int64_t length) {
    const int64_t half = length / 2;
    return 1.0 / static_cast<double>(half * batch);
  });
  EXPECT_FALSE(FitFormula(samples));
  const auto formula = FitFormulaOfTerms(samples, terms);
  ASSERT_TRUE(formula);
  EXPECT_FLOAT_EQ(formula->At({6, 57}), 1.0 / (28 * 6));
  const auto less =
      FitFormulaOfTerms(Samples([](int64_t, int64_t length) { return length / 2 - 3; }), terms);
  ASSERT_TRUE(less);
  EXPECT_EQ(less->At({6, 57}), 25);
}

// For each division in the formulas, the samples have all remainders.
TEST(ChooseSamples, CoverRemainders) {
  SizeExpression chain = SizeExpression::Size(0);
  for (int i = 0; i < 5; ++i) chain = chain.Plus(-1).Over(2).Plus(1);
  const SizeExpression thirds = SizeExpression::Size(1).Plus(SizeExpression::Size(0)).Over(3);
  const std::vector<SizeExpression> formulas = {chain, thirds};
  const ServedSizes served{{{224, 64}, {true, true}}, {112, 32}};
  std::vector<Sizes> samples = SamplesOf(served);
  const std::vector<Sizes> further = SamplesOfRemainders(served, samples, formulas);
  EXPECT_FALSE(further.empty());
  EXPECT_LE(further.size(), 6U);
  samples.insert(samples.end(), further.begin(), further.end());
  EXPECT_TRUE(SamplesOfRemainders(served, samples, formulas).empty());
  for (size_t division = 0; division < 5; ++division) {
    std::set<int64_t> left;
    for (const Sizes& sample : samples) {
      EXPECT_LE(sample[0], 224);
      left.insert(chain.RemaindersAt(sample)[division]);
    }
    EXPECT_EQ(left.size(), 2U) << division;
  }
}

TEST(ChooseSizes, RoundsUpByAFifth) {
  for (int64_t size = 1; size < 3000; ++size) {
    const int64_t rounded = RoundUpSize(size);
    EXPECT_GE(rounded, size);
    // Sizes just above 19/16 of a large power of two are rounded up to 23/16.
    EXPECT_LE(rounded, 1.2101 * size) << size;
    EXPECT_EQ(RoundUpSize(rounded), rounded);
  }
  EXPECT_EQ(BucketOf(100, {{128, 384}}).size, 128);
  EXPECT_EQ(BucketOf(384, {{128, 384}}).size, 384);
  EXPECT_EQ(BucketOf(400, {{128, 384}}).size, 432);
  EXPECT_EQ(RoundedSizes(9, 64), (Sizes{10, 12, 14, 16, 19, 23, 27, 32, 38, 46, 54, 64}));
}

TEST(ChooseSizes, TheLeastOfABucketIsTheFirstThatIsRoundedUpToIt) {
  for (const ListedSizes& listed :
       std::vector<ListedSizes>{{}, {{128, 384}}, {{5, 6, 20}}, {RoundedSizes(16, 100), false}}) {
    int64_t before = 0;
    for (int64_t size = 1; size < 600; ++size) {
      const int64_t bucket = BucketOf(size, listed).size;
      if (bucket != before) EXPECT_EQ(LeastOfBucket(bucket, listed), size);
      before = bucket;
    }
  }
}

TEST(ChooseSizes, CutsFromTheLargestDown) {
  EXPECT_EQ(CutSize(7, {1, 2, 4}), (std::vector<int64_t>{4, 2, 1}));
  EXPECT_EQ(CutSize(3, {1}), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(CutSize(11, {4, 8}), (std::vector<int64_t>{8, 4}));
}

// Runs are joined until the arithmetic takes 1.5 times as long as reading the matrix from a cache.
// One run reaches this on the first machine, and six on the second, rounded up to a power of two.
// The table does not count, because a gather does not read the whole table.
TEST(ChooseSizes, JoinsRunsThatWaitForWeights) {
  const Graph graph = testing::GraphOf(R"(graph rows {
    input ids: i64[1]
    weight table: f32[1000, 64]
    weight w: f32[64, 64]
    x = gather(table, ids) {axis=0}
    y = matmul(x, w)
    output y
  })");
  FusionMachine machine;
  machine.bytes_per_second = sizeof(float);
  machine.operations_per_second = 2;
  machine.vector_lanes = 1;
  machine.launch_seconds = 0;
  EXPECT_EQ(WorthJoining(graph, machine), 1);
  machine.operations_per_second = 32;
  EXPECT_EQ(WorthJoining(graph, machine), 8);
}

}  // namespace
}  // namespace tunec
