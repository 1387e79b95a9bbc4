// Tests the tolerances of accuracy modes that round operands. The checker must accept sums in any
// order of additions, and must find wrong results.
#include "autotune/checker/order_tolerance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "autotune/checker/kernel_reference.h"
#include "support/random.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using test::MustParse;

constexpr int64_t kRows = 5, kColumns = 9;

Compute Product(int64_t length) {
  return MustParse(
      test::ProductText({.rows = kRows, .columns = kColumns, .length = length, .value = ""}));
}

using Draw = std::function<double(Random&, int64_t k)>;

double Uniform(Random& random, int64_t) { return 2 * double{random.Unit()} - 1; }
double Positive(Random& random, int64_t) { return 0.25 + double{random.Unit()}; }
double Quarters(Random& random, int64_t) { return double(random.Below(33)) / 4 - 4; }
double Wide(Random& random, int64_t) {
  return std::ldexp(Uniform(random, 0), static_cast<int>(random.Below(60)) - 30);
}

std::vector<Array> Drawn(int64_t length, uint64_t seed, const Draw& draw) {
  Random random(seed);
  std::vector<Array> arrays = {Array(DataType::kF32, {kRows, length}),
                               Array(DataType::kF32, {length, kColumns})};
  for (int64_t i = 0; i < kRows * length; ++i) arrays[0].SetDouble(i, draw(random, i % length));
  for (int64_t i = 0; i < kColumns * length; ++i)
    arrays[1].SetDouble(i, draw(random, i / kColumns));
  return arrays;
}

using Round = std::function<double(float)>;

float ToBits(float value, int dropped, bool nearest) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (nearest) bits += (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
  return std::bit_cast<float>(bits & ~((1U << dropped) - 1));
}
double Whole(float value) { return value; }
double Bf16(float value) { return ToBits(value, 16, true); }
double Bf16CutOff(float value) { return ToBits(value, 16, false); }
double Tf32(float value) { return ToBits(value, 13, true); }
double TwoBf16Parts(float value) {
  const float high = ToBits(value, 16, true);
  return double{high} + double{ToBits(value - high, 16, true)};
}

// A function that adds float32 numbers in a particular order.
using Order = std::function<float(const std::vector<float>&)>;

float Forward(const std::vector<float>& terms) {
  float sum = 0;
  for (const float term : terms) sum += term;
  return sum;
}
float Backward(const std::vector<float>& terms) { return Forward({terms.rbegin(), terms.rend()}); }
float Pairwise(const std::vector<float>& terms) {
  if (terms.size() == 1) return terms[0];
  const auto middle = terms.begin() + static_cast<std::ptrdiff_t>(terms.size() / 2);
  return Pairwise({terms.begin(), middle}) + Pairwise({middle, terms.end()});
}
std::vector<float> InPieces(const std::vector<float>& terms, size_t of) {
  std::vector<float> sums;
  for (size_t i = 0; i < terms.size(); i += of) {
    const auto begin = terms.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(of, terms.size() - i));
    sums.push_back(Forward({begin, end}));
  }
  return sums;
}
float PiecesOf128(const std::vector<float>& terms) { return Forward(InPieces(terms, 128)); }
// Returns the sum in the order of AMX instructions. In each block of 32 terms, the terms with even
// and with odd indices are summed separately. Then the sum of both is added to the total.
float EvenAndOdd(const std::vector<float>& terms) {
  float sum = 0;
  for (size_t i = 0; i < terms.size(); i += 32) {
    float parts[2] = {0, 0};
    for (size_t k = i; k < std::min(i + 32, terms.size()); ++k) parts[k % 2] += terms[k];
    sum += parts[0] + parts[1];
  }
  return sum;
}
float LanesOf16(const std::vector<float>& terms) {
  std::vector<float> lanes(16);
  for (size_t i = 0; i < terms.size(); ++i) lanes[i % 16] += terms[i];
  return Pairwise(lanes);
}
float PiecesRoundedToBf16(const std::vector<float>& terms) {
  std::vector<float> pieces = InPieces(terms, 128);
  for (float& piece : pieces) piece = static_cast<float>(Bf16(piece));
  return Forward(pieces);
}

std::vector<float> TermsOf(const std::vector<Array>& arguments, int64_t i, int64_t j,
                           const Round& round) {
  const int64_t length = arguments[0].shape()[1];
  const auto a = arguments[0].As<float>(), b = arguments[1].As<float>();
  std::vector<float> terms;
  for (int64_t k = 0; k < length; ++k)
    terms.push_back(static_cast<float>(round(a[i * length + k]) * round(b[k * kColumns + j])));
  return terms;
}

Array Computed(const std::vector<Array>& arguments, const Round& round, const Order& order) {
  Array result(DataType::kF32, {kRows, kColumns});
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j)
      result.SetDouble(i * kColumns + j, order(TermsOf(arguments, i, j, round)));
  return result;
}

class OrderTest : public ::testing::Test {
 protected:
  KernelReference ReferenceOf(const std::vector<Array>& arguments, AccuracyMode mode) {
    Result<KernelReference> reference = ComputeKernelReferenceFor(
        Product(arguments[0].shape()[1]), arguments, {mode}, target_, pool_);
    if (!reference) ADD_FAILURE() << reference.error().Format();
    return std::move(*reference);
  }
  static bool IsRight(const KernelReference& reference, const Array& result) {
    return CheckOutputs({result}, reference.checkers).problem.empty();
  }

  Target target_ = DetectCpu(2);
  ThreadPool pool_{2};
};

struct Case {
  AccuracyMode mode;
  std::vector<Round> roundings;  // roundings that the mode allows
};
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {AccuracyMode::kBf16, {Bf16, TwoBf16Parts, Whole}},
      {AccuracyMode::kTf32, {Tf32, TwoBf16Parts, Whole}},
  };
  return cases;
}

TEST_F(OrderTest, EveryOrderIsRight) {
  const std::vector<Order> orders = {Forward,     Backward,   Pairwise,
                                     PiecesOf128, EvenAndOdd, LanesOf16};
  for (const auto& [mode, roundings] : Cases()) {
    for (const int64_t length : {1, 2, 7, 39, 351, 2500}) {
      for (const Draw& draw : {Draw(Uniform), Draw(Positive), Draw(Quarters), Draw(Wide)}) {
        const std::vector<Array> arguments = Drawn(length, static_cast<uint64_t>(length), draw);
        const KernelReference reference = ReferenceOf(arguments, mode);
        for (const Round& round : roundings)
          for (const Order& order : orders)
            EXPECT_TRUE(IsRight(reference, Computed(arguments, round, order))) << length;
      }
    }
  }
}

// Pairs of consecutive products mostly cancel if their operands are rounded to 10 bits or fewer.
// They may not cancel if each operand is the sum of two bfloat16 numbers.
TEST_F(OrderTest, FinerRoundingsMayHaveLessLuck) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    std::vector<Array> arguments = Drawn(40, seed, Uniform);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t k = 1; k < 40; k += 2) {
        const double before = arguments[0].GetDouble(i * 40 + k - 1);
        arguments[0].SetDouble(i * 40 + k, -before * (1 + 0x1p-20));
      }
    }
    for (int64_t k = 1; k < 40; k += 2)
      for (int64_t j = 0; j < kColumns; ++j)
        arguments[1].SetDouble(k * kColumns + j, arguments[1].GetDouble((k - 1) * kColumns + j));
    for (const auto& [mode, roundings] : Cases()) {
      const KernelReference reference = ReferenceOf(arguments, mode);
      for (const Round& round : roundings)
        EXPECT_TRUE(IsRight(reference, Computed(arguments, round, Forward))) << seed;
    }
  }
}

// The errors of this test have a larger effect than the order of the additions.
TEST_F(OrderTest, WhatIsWrongIsFound) {
  for (const auto& [mode, roundings] : Cases()) {
    for (const int64_t length : {7, 39, 351, 2500}) {
      for (const Draw& draw : {Draw(Uniform), Draw(Positive)}) {
        const std::vector<Array> arguments = Drawn(length, 3, draw);
        const KernelReference reference = ReferenceOf(arguments, mode);
        const Array right = Computed(arguments, roundings[0], EvenAndOdd);
        ASSERT_TRUE(IsRight(reference, right));

        std::vector<float> terms = TermsOf(arguments, 2, 4, roundings[0]);
        const auto magnitude = [](float term) { return std::abs(term); };
        const double mean =
            std::transform_reduce(terms.begin(), terms.end(), 0.0, std::plus(), magnitude) /
            static_cast<double>(length);
        const auto lost =
            std::ranges::find_if(terms, [&](float term) { return std::abs(term) >= mean; });
        ASSERT_NE(lost, terms.end());
        *lost = 0;
        Array wrong = Computed(arguments, roundings[0], EvenAndOdd);
        wrong.SetDouble(2 * kColumns + 4, EvenAndOdd(terms));
        EXPECT_FALSE(IsRight(reference, wrong)) << "a lost product of " << length;

        Array lanes = Computed(arguments, roundings[0], EvenAndOdd);
        lanes.SetDouble(2 * kColumns + 4, right.GetDouble(2 * kColumns + 5));
        EXPECT_FALSE(IsRight(reference, lanes)) << "the neighbour's sum of " << length;
      }
      const std::vector<Array> positive = Drawn(length, 3, Positive);
      const KernelReference reference = ReferenceOf(positive, mode);
      EXPECT_FALSE(IsRight(reference, Computed(positive, Bf16CutOff, EvenAndOdd))) << length;
      EXPECT_FALSE(IsRight(reference, Computed(positive, roundings[0], PiecesRoundedToBf16)))
          << "rounded once more: " << length;
      const std::vector<Array> uniform = Drawn(length, 3, Uniform);
      EXPECT_EQ(IsRight(ReferenceOf(uniform, mode), Computed(uniform, Bf16, EvenAndOdd)),
                mode == AccuracyMode::kBf16)
          << "operands of fewer bits: " << length;
    }
  }
}

TEST_F(OrderTest, WhatIsBelowTheNormalNumbersMayBeTakenForZero) {
  std::vector<Array> arguments = Drawn(20, 1, Positive);
  for (int64_t i = 0; i < kRows * 20; ++i)
    arguments[0].SetDouble(i, std::ldexp(arguments[0].GetDouble(i), -130));
  const Array zeros = Computed(
      arguments, [](float) { return 0; }, Forward);
  EXPECT_TRUE(IsRight(ReferenceOf(arguments, AccuracyMode::kBf16), zeros));
  EXPECT_FALSE(IsRight(ReferenceOf(arguments, AccuracyMode::kF32), zeros));
  // Normal numbers are not flushed to zero.
  for (int64_t i = 0; i < kRows * 20; ++i)
    arguments[0].SetDouble(i, std::ldexp(arguments[0].GetDouble(i), 20));
  EXPECT_FALSE(IsRight(ReferenceOf(arguments, AccuracyMode::kBf16), zeros));
}

TEST_F(OrderTest, OtherContractsAllowWhatTheyDid) {
  const std::vector<Array> arguments = Drawn(351, 3, Positive);
  EXPECT_LT(ReferenceOf(arguments, AccuracyMode::kF32).checkers[0].allowed, 0x1p-19);
  const Result<KernelReference> bound = ComputeKernelReferenceFor(
      Product(351), arguments, {AccuracyMode::kBound, 1e-5}, target_, pool_);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->checkers[0].allowed, 1e-5);
}

// The number of terms in each sum of the first product of TwoProducts. TwoProducts computes T = A B
// and C = T D.
constexpr int64_t kInner = 9;

Compute TwoProducts(int64_t length) {
  return MustParse(fmt::format(R"(
    compute two_products {{
      input A: f32[3, {1}]
      input B: f32[{1}, {0}]
      input D: f32[{0}, 2]
      workspace T: f32[3, {0}]
      output C: f32[3, 2]
      first[i: 3, k: {0}, q: {1} reduction]:
        T[i, k] sum= A[i, q] * B[q, k]
      acc[i: 3, j: 2, k: {0} reduction]:
        C[i, j] sum= T[i, k] * D[k, j]
    }})",
                               length, kInner));
}

std::vector<Array> DrawnForTwo(int64_t length, uint64_t seed) {
  Random random(seed);
  std::vector<Array> arrays = {Array(DataType::kF32, {3, kInner}),
                               Array(DataType::kF32, {kInner, length}),
                               Array(DataType::kF32, {length, 2})};
  for (Array& array : arrays)
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, Positive(random, 0));
  return arrays;
}

// Returns the second product of TwoProducts. `first` rounds the operands of the first product. The
// operands of the second product are rounded to bfloat16, and the first `lost` terms of each of its
// sums are omitted.
Array OfTwo(const std::vector<Array>& arguments, const Round& first, int64_t lost = 0) {
  const int64_t length = arguments[2].shape()[0];
  const auto a = arguments[0].As<float>(), b = arguments[1].As<float>(),
             d = arguments[2].As<float>();
  Array result(DataType::kF32, {3, 2});
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      std::vector<float> terms;
      for (int64_t k = lost; k < length; ++k) {
        std::vector<float> inner;
        for (int64_t q = 0; q < kInner; ++q)
          inner.push_back(static_cast<float>(first(a[i * kInner + q]) * first(b[q * length + k])));
        terms.push_back(static_cast<float>(Bf16(Forward(inner)) * Bf16(d[k * 2 + j])));
      }
      result.SetDouble(i * 2 + j, Forward(terms));
    }
  }
  return result;
}

// The sequential evaluation rounds the operands of both products. A kernel that computes both
// products in a chain may round only the operands of the second product.
TEST_F(OrderTest, OperandsThatAreSumsMayBeRoundedOtherwise) {
  for (const int64_t length : {2, 7, 56, 150}) {
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      const std::vector<Array> arguments = DrawnForTwo(length, seed);
      const Result<KernelReference> reference = ComputeKernelReferenceFor(
          TwoProducts(length), arguments, {AccuracyMode::kBf16}, target_, pool_);
      ASSERT_TRUE(reference) << reference.error().Format();
      EXPECT_TRUE(IsRight(*reference, OfTwo(arguments, Bf16))) << length << " seed " << seed;
      EXPECT_TRUE(IsRight(*reference, OfTwo(arguments, Whole))) << length << " seed " << seed;
      EXPECT_FALSE(IsRight(*reference, OfTwo(arguments, Whole, 1))) << length << " seed " << seed;
    }
  }
}

TEST(ComputedFactors, AreThoseFromSums) {
  const Compute two = TwoProducts(7);
  EXPECT_EQ(ComputedFactors(two, StatementId(0)), 0);
  EXPECT_EQ(ComputedFactors(two, StatementId(1)), 1);
  EXPECT_EQ(ComputedFactors(testing::MatmulRelu(), StatementId(0)), 0);
}

// The tolerance is the smaller of two bounds. For few terms it is the worst-case bound, and for
// many terms the probabilistic bound.
TEST(OrderTolerance, GrowsAsTheRootOfLongSums) {
  const auto allowed = [](int64_t length) { return OrderTolerance(Product(length)); };
  EXPECT_DOUBLE_EQ(allowed(1), 7 * 0x1p-24);
  EXPECT_DOUBLE_EQ(allowed(9), 63 * 0x1p-24);
  EXPECT_DOUBLE_EQ(allowed(700), 8 * 70 * 0x1p-24);
  EXPECT_DOUBLE_EQ(allowed(2800), 2 * allowed(700));
}

}  // namespace
}  // namespace tunec
