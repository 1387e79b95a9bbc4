// Tests of the elementary functions, most of them over all magnitudes against long double libm.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "support/random.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

using LongFunction = long double (*)(long double);

/// Returns special values, random bit patterns, and random numbers in [-30, 30) and [-2, 2).
std::vector<double> Samples(DataType type) {
  std::vector<double> samples{0.0,      -0.0,      1.0,    -1.0,      0.5,      -0.5,  2.0,
                              INFINITY, -INFINITY, NAN,    88.72284f, 88.7229f, -87.4, -103.9,
                              -104.1,   709.78,    709.79, -745.1,    -745.2,   1e308, 5e-324};
  Random random(7);
  const bool single = type == DataType::kF32;
  for (int i = 0; i < 40000; ++i) {
    const uint64_t bits = random.Next();
    samples.push_back(single ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                             : std::bit_cast<double>(bits));
  }
  for (int i = 0; i < 40000; ++i)
    samples.push_back(60.0 * static_cast<double>(random.Next() >> 11) * 0x1p-53 - 30);
  for (int i = 0; i < 20000; ++i)
    samples.push_back(4.0 * static_cast<double>(random.Next() >> 11) * 0x1p-53 - 2);
  return samples;
}

/// Returns 0 if `a` is `exact` rounded to the type, else |a - exact| in units in the last place of
/// `exact`. A denormal has the unit of the least normal number. If the values differ and one is NaN
/// or infinite, returns 1e30, but 1 for the greatest number instead of infinity.
double UlpError(double a, long double exact, bool single) {
  const double rounded = single ? static_cast<float>(exact) : static_cast<double>(exact);
  if (std::isnan(rounded)) return std::isnan(a) ? 0 : 1e30;
  if (a == rounded) return 0;
  if (!std::isfinite(a) || std::isinf(rounded)) {
    // The greatest number instead of infinity counts as an error of one ulp.
    const double greatest = single ? 3.4028234663852886e38 : 1.7976931348623157e308;
    return std::isinf(rounded) && a == std::copysign(greatest, rounded) ? 1 : 1e30;
  }
  const int least = single ? -126 : -1022;
  const int exponent = std::max(exact == 0 ? least : std::ilogb(static_cast<double>(exact)), least);
  const long double ulp = std::ldexp(1.0L, exponent - (single ? 23 : 52));
  return static_cast<double>(std::fabs(a - exact) / ulp);
}

struct Case {
  const char* name;
  LongFunction function;
  double ulp32;
  double ulp64;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

double WorstOf(const Case& c, DataType type, const std::vector<double>& samples,
               const Target& target) {
  const std::string_view type_name = Name(type);
  const bool single = type == DataType::kF32;
  const LoopNest nest = Parse(fmt::format(R"(
nest math {{
  input A: {1}[{0}]
  output B: {1}[{0}]
  phase main {{ vector for i in 0 .. {0} {{ s: B[i] = {2}(A[i]) }} }}
}})",
                                          samples.size(), type_name, c.name));
  Array input(type, {static_cast<int64_t>(samples.size())});
  for (size_t i = 0; i < samples.size(); ++i) input.SetDouble(i, samples[i]);
  const auto output = RunCompiled(nest, target, {input});
  EXPECT_TRUE(output.has_value()) << (output ? "" : output.error().Format());
  if (!output) return 1e30;
  double worst = 0;
  int shown = 0;
  for (int64_t i = 0; i < input.size(); ++i) {
    const double x = input.GetDouble(i);
    const double y = (*output)[0].GetDouble(i);
    const double error = UlpError(y, c.function(x), single);
    worst = std::max(worst, error);
    if (error > (single ? c.ulp32 : c.ulp64) && shown++ < 4)
      ADD_FAILURE() << c.name << " " << type_name << "(" << fmt::format("{}", x)
                    << ") = " << fmt::format("{}", y) << ", expected "
                    << fmt::format("{}", static_cast<double>(c.function(x))) << ", " << error
                    << " ulp";
  }
  return worst;
}

double Worst(const Case& c, const char* type_name, const Target& target) {
  const DataType type = *ParseDataType(type_name);
  return WorstOf(c, type, Samples(type), target);
}

class Accuracy : public ::testing::TestWithParam<Case> {};

TEST_P(Accuracy, WithinBound) {
  for (const Target& target : Targets())
    for (const char* type : {"f32", "f64"}) {
      const double worst = Worst(GetParam(), type, target);
      fmt::print("  {} {} at {} bits: {:.3f} ulp\n", GetParam().name, type, target.host.vector_bits,
                 worst);
    }
}

long double Rsqrt(long double x) { return 1 / std::sqrt(x); }
long double Gelu(long double x) {
  return x * (0.5L * std::erfc(x * -0.70710678118654752440084436210484903928L));
}
long double Silu(long double x) { return x / (1 + std::exp(-x)); }
long double Mish(long double x) { return x * std::tanh(std::log1p(std::exp(x))); }
long double GeluTanh(long double x) {
  const long double u = 0.79788456080286535587989211986876373695L * (x + 0.044715L * (x * x * x));
  return x / (1 + std::exp(-2 * u));
}

INSTANTIATE_TEST_SUITE_P(
    Math, Accuracy,
    ::testing::Values(Case{"exp", std::exp, 2, 2}, Case{"expm1", std::expm1, 3, 3},
                      Case{"log", std::log, 3, 2}, Case{"log1p", std::log1p, 3, 3},
                      Case{"log2", std::log2, 3, 3}, Case{"log10", std::log10, 1, 3},
                      Case{"gelu", Gelu, 5, 5}, Case{"silu", Silu, 4, 4}, Case{"mish", Mish, 4, 4},
                      Case{"gelu_tanh", GeluTanh, 4, 4}, Case{"tanh", std::tanh, 5, 4},
                      Case{"erf", std::erf, 5.5, 4}, Case{"sqrt", std::sqrt, 0.51, 0.51},
                      Case{"rsqrt", Rsqrt, 2, 2}, Case{"sin", std::sin, 1, 4},
                      Case{"cos", std::cos, 1, 4}, Case{"tan", std::tan, 1, 6},
                      Case{"asin", std::asin, 1, 8}, Case{"acos", std::acos, 1, 8},
                      Case{"atan", std::atan, 1, 4}, Case{"sinh", std::sinh, 1, 8},
                      Case{"cosh", std::cosh, 1, 4}, Case{"asinh", std::asinh, 1, 8},
                      Case{"acosh", std::acosh, 1, 8}, Case{"atanh", std::atanh, 1, 8}),
    [](const auto& info) { return std::string(info.param.name); });

// In a nest that permits fusing, the exponential of a difference is 0 in place of a denormal
// number. All other results are accurate.
TEST(Exponential, OfADifferenceIsNotDenormal) {
  for (const Target& target : Targets()) {
    for (const DataType type : {DataType::kF32, DataType::kF64}) {
      const bool single = type == DataType::kF32;
      const std::vector<double> samples = Samples(type);
      Array input(type, {static_cast<int64_t>(samples.size())});
      for (size_t i = 0; i < samples.size(); ++i) input.SetDouble(i, samples[i]);
      const long double least = single ? 0x1p-126L : 0x1p-1022L;
      for (const bool separate : {false, true}) {
        const LoopNest nest =
            Parse(fmt::format(R"(
nest exponentials {2} {{
  input A: {1}[{0}]
  input M: {1}[1]
  output B: {1}[{0}]
  phase main {{ vector for i in 0 .. {0} {{ s: B[i] = exp(A[i] - M[0]) }} }}
}})",
                              samples.size(), Name(type), separate ? "separate" : ""));
        const auto output = RunCompiled(nest, target, {input, Array(type, {1})});
        ASSERT_TRUE(output) << output.error().Format();
        for (int64_t i = 0; i < input.size(); ++i) {
          const double x = input.GetDouble(i);
          const double y = (*output)[0].GetDouble(i);
          const long double exact = std::exp(static_cast<long double>(x));
          const bool is_near = std::fabs(exact / least - 1) < 1e-5L;
          if (!separate && exact < least && !is_near) {
            ASSERT_EQ(y, 0) << x;
          } else if (separate || !is_near) {
            ASSERT_LE(UlpError(y, exact, single), 2) << x;
          }
        }
      }
    }
  }
}

/// Returns all powers of two of the type, or, if `base` is 10, the powers of ten that are exact.
std::vector<double> Powers(double base, DataType type) {
  const bool single = type == DataType::kF32;
  std::vector<double> powers;
  if (base == 10) {
    for (int i = 0; i <= (single ? 10 : 22); ++i) powers.push_back(std::pow(10.0, i));
    return powers;
  }
  for (int i = single ? -149 : -1074; i <= (single ? 127 : 1023); ++i)
    powers.push_back(std::ldexp(1.0, i));
  return powers;
}

TEST(Math, LogarithmsOfExactPowersAreWhole) {
  for (const Target& target : Targets())
    for (const DataType type : {DataType::kF32, DataType::kF64}) {
      const Case log2{"log2", std::log2, 0, 0};
      const Case log10{"log10", std::log10, 0, 0};
      EXPECT_EQ(WorstOf(log2, type, Powers(2, type), target), 0) << Name(type);
      EXPECT_EQ(WorstOf(log10, type, Powers(10, type), target), 0) << Name(type);
    }
}

/// Returns both signs of powers of two and numbers between them, numbers around multiples of pi/2,
/// the ends of the range, infinity and NaN. One number of each type is extremely close to a
/// multiple of pi/2.
std::vector<double> Angles(DataType type) {
  const bool single = type == DataType::kF32;
  std::vector<double> angles{0.0,
                             INFINITY,
                             NAN,
                             0x1p40,
                             std::nextafter(0x1p40, 0),
                             16367173.0 * 0x1p72,
                             6381956970095103.0 * 0x1p797,
                             5e-324,
                             3.4028234663852886e38,
                             1.7976931348623157e308};
  const int last = single ? 127 : 1023;
  for (int quarter = -4 * 60; quarter <= 4 * last; ++quarter)
    angles.push_back(std::exp2(quarter / 4.0));
  Random random(11);
  for (int i = 0; i < 40000; ++i) {
    const int exponent = static_cast<int>(random.Below(last - 1));
    const long double multiple =
        std::floor(std::ldexp(0x1p52L + random.Below(1 << 30), exponent - 52));
    angles.push_back(static_cast<double>(multiple * 1.57079632679489661923132169163975144L));
  }
  const size_t half = angles.size();
  for (size_t i = 0; i < half; ++i) {
    if (single) angles[i] = static_cast<float>(angles[i]);
    angles.push_back(-angles[i]);
  }
  return angles;
}

double WorstAngle(const Case& c, const char* type_name, const Target& target) {
  const DataType type = *ParseDataType(type_name);
  return WorstOf(c, type, Angles(type), target);
}

TEST(Trigonometry, IsRightForAllMagnitudes) {
  for (const Case& c :
       {Case{"sin", std::sin, 1, 4}, Case{"cos", std::cos, 1, 4}, Case{"tan", std::tan, 1, 6}})
    for (const Target& target : Targets())
      for (const char* type : {"f32", "f64"}) {
        const double worst = WorstAngle(c, type, target);
        fmt::print("  {} {} at {} bits: {:.3f} ulp\n", c.name, type, target.host.vector_bits,
                   worst);
      }
}

// Compares sin and cos with published values, independent of libraries. The angles are a double
// that is extremely close to a multiple of pi/2, 1e22, and the largest double.
TEST(Trigonometry, AgreesWithPublishedValues) {
  const LoopNest nest = Parse(R"(
nest angles {
  input A: f64[3]
  output S: f64[3]
  output C: f64[3]
  phase main {
    for i in 0 .. 3 {
      s: S[i] = sin(A[i])
      c: C[i] = cos(A[i])
    }
  }
})");
  Array input(DataType::kF64, {3});
  const double angles[] = {6381956970095103.0 * 0x1p797, 1e22, 1.7976931348623157e308};
  const double sines[] = {1.0, -0.8522008497671888, 0.004961954789184062};
  const double cosines[] = {-4.687165924254628e-19, 0.523214785395139, -0.9999876894265599};
  for (int i = 0; i < 3; ++i) input.SetDouble(i, angles[i]);
  for (const Target& target : Targets()) {
    const auto output = RunCompiled(nest, target, {input});
    ASSERT_TRUE(output.has_value());
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR((*output)[0].GetDouble(i) / sines[i], 1, 1e-15) << angles[i];
      EXPECT_NEAR((*output)[1].GetDouble(i) / cosines[i], 1, 1e-15) << angles[i];
    }
  }
}

/// Compares the operator `name` with `function` for every pair of some values. `tolerance` is
/// relative.
void CheckPairs(const char* name, const char* type_name, double (*function)(double, double),
                double tolerance) {
  const std::vector<double> values{0.0, -0.0,     1,         -1,    2,    -2,   3,     -3,
                                   0.5, -0.5,     7.25,      -7.25, 100,  1e10, -1e10, 1e-10,
                                   2.5, INFINITY, -INFINITY, NAN,   33.3, -5.5, 1e30,  1e-30};
  const DataType type = *ParseDataType(type_name);
  const int64_t n = static_cast<int64_t>(values.size());
  const LoopNest nest = Parse(fmt::format(R"(
nest pairs {{
  input A: {1}[{0}]
  output B: {1}[{0}, {0}]
  phase main {{
    for i in 0 .. {0} {{ vector for j in 0 .. {0} {{ s: B[i, j] = {2}(A[i], A[j]) }} }}
  }}
}})",
                                          n, type_name, name));
  Array input(type, {n});
  for (int64_t i = 0; i < n; ++i) input.SetDouble(i, values[i]);
  for (const Target& target : Targets()) {
    const auto output = RunCompiled(nest, target, {input});
    ASSERT_TRUE(output.has_value()) << output.error().Format();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const double x = input.GetDouble(i);
        const double y = input.GetDouble(j);
        double expected = function(x, y);
        if (type == DataType::kF32) expected = static_cast<float>(expected);
        const double actual = (*output)[0].GetDouble(i * n + j);
        if (actual == expected || (std::isnan(actual) && std::isnan(expected))) continue;
        if (std::isfinite(expected) &&
            std::fabs(actual - expected) <= tolerance * std::fabs(expected))
          continue;
        ADD_FAILURE() << name << " " << type_name << "(" << x << ", " << y << ") = " << actual
                      << ", expected " << expected;
      }
  }
}

double FloorMod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TEST(Math, Pow) {
  CheckPairs("pow", "f32", std::pow, 2e-7);
  CheckPairs("pow", "f64", std::pow, 2e-13);
}

TEST(Math, Modulo) {
  CheckPairs("truncmod", "f32", std::fmod, 0);
  CheckPairs("truncmod", "f64", std::fmod, 0);
  CheckPairs("floormod", "f32", FloorMod, 1e-6);
}

}  // namespace
}  // namespace tunec::jit_test
