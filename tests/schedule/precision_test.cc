// Tests of the step `precision`, which splits operands into bfloat16 terms. The interpreter runs
// the loops, and the tests measure the errors of the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "schedule/steps/apply_compute_steps.h"
#include "support/check.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kHuge = std::numeric_limits<float>::max();
constexpr float kDenormal = 0x1.8p-140F;

constexpr int kRows = 5, kColumns = 7, kInner = 61;

// The operands that are known to be finite.
struct Finite {
  bool left = false;
  bool right = false;
};
constexpr Finite kFinites[] = {{false, false}, {false, true}, {true, false}, {true, true}};

std::string ProductOf(Finite finite) {
  return ProductText({.rows = kRows,
                      .columns = kColumns,
                      .length = kInner,
                      .left = {.weight = finite.left ? "finite" : ""},
                      .right = {.weight = finite.right ? "finite" : ""},
                      .value = ""});
}

Array Values(std::vector<int64_t> shape, const std::function<float(int64_t)>& value) {
  Array array(DataType::kF32, std::move(shape));
  for (int64_t i = 0; i < array.size(); ++i) array.MutableAs<float>()[i] = value(i);
  return array;
}

std::vector<Array> Normal(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const auto draw = [&](int64_t) { return normal(random); };
  return {Values({kRows, kInner}, draw), Values({kInner, kColumns}, draw)};
}

Array Run(const LoopNest& nest, const std::vector<Array>& arguments) {
  const auto result = Interpret(nest, arguments, Precision::kNative);
  TUNEC_CHECK(result.has_value(), "{}", result.error().message);
  return result->front();
}

Array RunWith(std::string_view steps, const std::vector<Array>& arguments, Finite finite = {}) {
  const auto kernel = LoopsOf(MustParse(ProductOf(finite)), MustParseSteps(steps), AnyRounding());
  TUNEC_CHECK(kernel.has_value(), "{}", kernel.error().message);
  return Run(kernel->nest, arguments);
}

// Returns max|y - y64| / max sum|a*b| of a result y, the error of the accuracy modes. y64 is the
// product in float64.
double ErrorOf(const Array& result, const std::vector<Array>& arguments) {
  const auto a = arguments[0].As<float>(), b = arguments[1].As<float>();
  double worst = 0, scale = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      double exact = 0, magnitude = 0;
      for (int k = 0; k < kInner; ++k) {
        const double product = double{a[i * kInner + k]} * b[k * kColumns + j];
        exact += product;
        magnitude += std::abs(product);
      }
      worst = std::max(worst, std::abs(result.GetDouble(i * kColumns + j) - exact));
      scale = std::max(scale, magnitude);
    }
  }
  return worst / scale;
}

// The part products of the sum after the step `precision`, as pairs of plane names such as "h m".
// The planes h, m and l have the high, middle and low term of an operand. The plane h0 has 0 for
// numbers that are not finite.
class PartProducts {
 public:
  PartProducts(int bf16_parts, Finite finite) {
    const Compute split = *Apply(MustParse(ProductOf(finite)), PrecisionStep{"acc", bf16_parts});
    const Statement& sum = split.statements[*split.FindStatement("acc")];
    const VarId part_product = IteratorVar(2);
    for (int64_t p = 0; p < sum.iterators[part_product].extent; ++p) {
      std::string product;
      for (const size_t operand : {0, 1}) {
        const bool is_finite = operand == 0 ? finite.left : finite.right;
        const std::vector<int64_t> at = {0, 0, p, 0};
        product +=
            NamesOf(bf16_parts,
                    is_finite)[static_cast<size_t>(Evaluate(sum.reads[operand].index[0], at, {}))];
        product += operand == 0 ? " " : "";
      }
      products.push_back(std::move(product));
    }
    for (const Read& read : sum.reads) {
      const Interval bounds = BoundsOf(read.index[0], sum.Intervals());
      counts.push_back(split.tensors[read.tensor].shape[0]);
      spans.push_back(bounds.lo == 0 ? bounds.hi + 1 : -1);
    }
  }

  std::vector<std::string> products;
  std::vector<int64_t> counts;  // number of planes of each operand
  std::vector<int64_t> spans;   // numbers of values of the plane indices; -1 if the first is not 0

 private:
  static std::vector<std::string> NamesOf(int bf16_parts, bool is_finite) {
    std::vector<std::string> names = {"h", "m", "l"};
    names.resize(static_cast<size_t>(bf16_parts));
    if (is_finite) return names;
    names[0] = "h0";
    names.emplace_back("h");
    return names;
  }
};

// Returns the expected pairs of planes. A finite operand does not have the plane h0.
std::set<std::string> ExpectedProducts(int bf16_parts, Finite finite) {
  const std::string left = finite.left ? "h" : "h0", right = finite.right ? "h" : "h0";
  std::set<std::string> expected = {"h h", left + " m", "m " + right};
  if (bf16_parts == 3) expected.insert({left + " l", "l " + right, "m m"});
  return expected;
}

TEST(Precision, ProductsAreThoseOfTheTermsTheGreatestLast) {
  for (const int bf16_parts : {2, 3}) {
    for (const Finite finite : kFinites) {
      const PartProducts found(bf16_parts, finite);
      const std::set<std::string> all(found.products.begin(), found.products.end());
      EXPECT_EQ(all, ExpectedProducts(bf16_parts, finite)) << ProductOf(finite);
      EXPECT_EQ(all.size(), found.products.size());
      EXPECT_EQ(found.products.back(), "h h");
      EXPECT_EQ(found.counts[0], bf16_parts + (finite.left ? 0 : 1));
      EXPECT_EQ(found.counts[1], bf16_parts + (finite.right ? 0 : 1));
      EXPECT_EQ(found.spans, found.counts) << "storage of copies is larger than the planes";
    }
  }
}

// Consecutive products share a plane, so that the registers of an operand are reused.
TEST(Precision, NeighboursShareAPlaneWhereAnOperandIsFinite) {
  for (const Finite finite : {Finite{false, true}, Finite{true, false}, Finite{true, true}}) {
    const std::vector<std::string> products = PartProducts(3, finite).products;
    for (size_t p = 1; p < products.size(); ++p) {
      const auto left = [](const std::string& text) { return text.substr(0, text.find(' ')); };
      const auto right = [](const std::string& text) { return text.substr(text.find(' ')); };
      EXPECT_TRUE(left(products[p]) == left(products[p - 1]) ||
                  right(products[p]) == right(products[p - 1]))
          << products[p - 1] << ", then " << products[p];
    }
  }
}

TEST(Precision, ThreeTermsAreAsAccurateAsFloat32) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Array> arguments = Normal(seed);
    const double sequential = ErrorOf(RunWith("", arguments), arguments);
    for (const Finite finite : kFinites) {
      const double split = ErrorOf(RunWith("precision acc bf16 3", arguments, finite), arguments);
      EXPECT_LE(split, sequential + 0x1p-24) << "seed " << seed << ", sequential " << sequential;
    }
  }
}

TEST(Precision, FewerTermsKeepTheirBits) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Array> arguments = Normal(seed);
    for (const Finite finite : kFinites) {
      const double two = ErrorOf(RunWith("precision acc bf16 2", arguments, finite), arguments);
      EXPECT_LE(two, 0x1p-15);
      EXPECT_GT(two, 0x1p-24) << "as good as three";
    }
    const double one = ErrorOf(RunWith("precision acc bf16 1", arguments), arguments);
    EXPECT_LE(one, 0x1p-7);
    EXPECT_GT(one, 0x1p-15) << "as good as two";
  }
}

// 1 + 2^-8 is halfway between two bfloat16 numbers and is rounded to 1. Each operand loses 2^-8.
TEST(Precision, OneTermLosesUpToTwoToTheMinusSeven) {
  const auto halves = [](int64_t) { return 1 + 0x1p-8F; };
  const std::vector<Array> arguments = {Values({kRows, kInner}, halves),
                                        Values({kInner, kColumns}, halves)};
  const double one = ErrorOf(RunWith("precision acc bf16 1", arguments), arguments);
  EXPECT_GT(one, 0x1.fp-8);
  EXPECT_LT(one, 0x1p-7);
}

TEST(Precision, EveryFloatIsTheSumOfItsThreeTerms) {
  // The right operand has ones in the first row and zeros below. Only a one's first term is not 0.
  std::mt19937 random(7);
  std::vector<Array> arguments = Normal(3);
  arguments[1] = Values({kInner, kColumns}, [](int64_t i) { return i < kColumns ? 1.F : 0.F; });
  for (int round = 0; round < 50; ++round) {
    arguments[0] = Values({kRows, kInner}, [&](int64_t) {
      // Small numbers are left out, because their low terms may be below the range of bfloat16.
      const auto exponent = static_cast<uint32_t>(40 + random() % (254 - 40));
      return std::bit_cast<float>((exponent << 23) |
                                  (static_cast<uint32_t>(random()) & 0x807fffffU));
    });
    for (const Finite finite : {Finite{}, Finite{.left = true}}) {
      const Array result = RunWith("precision acc bf16 3", arguments, finite);
      for (size_t i = 0; i < kRows; ++i) {
        const float expected = arguments[0].As<float>()[i * kInner];
        EXPECT_EQ(result.GetDouble(i * kColumns), expected);
      }
    }
  }
}

bool SameKind(double a, double b) {
  if (std::isnan(b)) return std::isnan(a);
  return std::isinf(b) ? a == b : std::isfinite(a);
}

TEST(Precision, InfinitiesAndNansAreWhatTheyWere) {
  // Each number is multiplied by the others and by itself. Some are exact in bfloat16, some have
  // several terms, and one is a denormal.
  const float special[] = {kInf, -kInf, kNan, 0.F, -0.F, 1.F, -2.F, 0.1F, -0.3F, kHuge, kDenormal};
  for (const int bf16_parts : {1, 2, 3}) {
    const std::string steps = "precision acc bf16 " + std::to_string(bf16_parts);
    for (const float x : special) {
      for (const float y : special) {
        // The largest float has more bits than two terms hold, and is rounded to infinity.
        if (bf16_parts == 2 && (std::abs(x) == kHuge || std::abs(y) == kHuge)) continue;
        // Part products of a product beyond the range of float32 may overflow with either sign.
        if (std::abs(x) == kHuge && std::abs(y) == kHuge) continue;
        std::vector<Array> arguments = Normal(5);
        arguments[0].MutableAs<float>()[kInner + 3] = x;
        arguments[1].MutableAs<float>()[3 * kColumns + 2] = y;
        const Array expected = RunWith("", arguments);
        for (const Finite finite : kFinites) {
          if ((finite.left && !std::isfinite(x)) || (finite.right && !std::isfinite(y))) continue;
          const Array found = RunWith(steps, arguments, finite);
          for (int64_t i = 0; i < expected.size(); ++i) {
            EXPECT_TRUE(SameKind(found.GetDouble(i), expected.GetDouble(i)))
                << bf16_parts << " terms, " << x << " and " << y << ": element " << i << " is "
                << found.GetDouble(i) << " instead of " << expected.GetDouble(i);
          }
        }
      }
    }
  }
}

TEST(Precision, HugeAndTinyNumbersKeepTheirBits) {
  for (const float magnitude : {0x1.fffffep127F, 0x1p100F, 0x1p-100F, 0x1p-60F}) {
    std::vector<Array> arguments = Normal(9);
    for (float& a : arguments[0].MutableAs<float>()) {
      a = std::clamp(a / 4, -1.F, 1.F) * magnitude;
    }
    for (float& b : arguments[1].MutableAs<float>()) b /= 64;
    const double sequential = ErrorOf(RunWith("", arguments), arguments);
    for (const Finite finite : kFinites) {
      const double split = ErrorOf(RunWith("precision acc bf16 3", arguments, finite), arguments);
      EXPECT_LE(split, sequential + 0x1p-24) << magnitude;
    }
  }
}

TEST(Precision, WhatDenormalsLoseIsSmall) {
  std::vector<Array> arguments = Normal(11);
  for (float& a : arguments[0].MutableAs<float>()) a *= 0x1p-130F;
  const Array expected = RunWith("", arguments);
  double others = 0;
  for (const float b : arguments[1].As<float>()) others = std::max(others, double{std::abs(b)});
  for (const Finite finite : kFinites) {
    const Array found = RunWith("precision acc bf16 3", arguments, finite);
    for (int64_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(std::abs(found.GetDouble(i) - expected.GetDouble(i)), kInner * others * 0x1p-126);
    }
  }
}

TEST(Precision, TheContractSaysHowManyTerms) {
  const auto outcome = [](int bf16_parts, const RoundingFreedom& rounding) {
    return Outcome(ProductOf({}), "precision acc bf16 " + std::to_string(bf16_parts), rounding);
  };
  RoundingFreedom rounding = ReductionOrder::kAny;
  for (const int least : {1, 2, 3}) {
    rounding.min_bf16_parts = least;
    for (const int bf16_parts : {1, 2, 3}) {
      if (bf16_parts >= least) {
        EXPECT_EQ(outcome(bf16_parts, rounding), "");
      } else {
        EXPECT_THAT(outcome(bf16_parts, rounding), testing::HasSubstr("by the accuracy contract"));
      }
    }
  }
  EXPECT_EQ(outcome(3, ReductionOrder::kAsWritten),
            "precision acc: its products must be computed as written");
}

}  // namespace
}  // namespace tunec::test
