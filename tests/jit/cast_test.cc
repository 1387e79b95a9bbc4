// Tests of conversions of elements. Floats must become the interpreter's integers, with and without
// bounds in the expression. The instructions of conversions are also tested.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "ir/interpret/interpret.h"
#include "jit/cpu/detect_cpu.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

constexpr DataType kFloats[] = {DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16};
constexpr DataType kIntegers[] = {DataType::kI8, DataType::kI16, DataType::kI32, DataType::kI64,
                                  DataType::kU8, DataType::kU16, DataType::kU32, DataType::kU64};

/// Returns numbers of both signs, such as powers of two and adjacent numbers, halves, denormals,
/// infinity and NaN.
std::vector<double> TellingValues(DataType type) {
  std::vector<double> values{0,   0.5,   1.5,     2.5,     126.5,    127.5,       128.5,
                             255, 255.5, 32767.5, 65535.5, 1e-40,    5e-324,      1e30,
                             NAN, 1e300, 100.9,   0.99999, INFINITY, 4294967295.0};
  for (int exponent = 0; exponent <= 65; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    const double single = static_cast<double>(std::nextafter(static_cast<float>(power), 0.0F));
    values.insert(values.end(), {power, power - 1, power + 1, std::nextafter(power, 0), single});
  }
  const size_t half = values.size();
  for (size_t i = 0; i < half; ++i) values.push_back(-values[i]);
  for (double& value : values)
    if (type == DataType::kF32) value = static_cast<float>(value);
  return values;
}

/// Converts `value`, an expression of A[i], by vector and by scalar code. Expects the interpreter's
/// results.
void CheckConversion(DataType from, DataType to, const std::string& value) {
  SCOPED_TRACE(fmt::format("{} to {} of {}", Name(from), Name(to), value));
  const std::vector<double> values = TellingValues(from);
  const LoopNest nest = Parse(fmt::format(R"(
nest convert {{
  input A: {0}[{2}]
  output V: {1}[{2}]
  output S: {1}[{2}]
  phase main {{
    vector for i in 0 .. {2} {{ v: V[i] = {1}({3}) }}
    for i in 0 .. {2} {{ s: S[i] = {1}({3}) }}
  }}
}})",
                                          Name(from), Name(to), values.size(), value));
  Array input(from, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) input.SetDouble(static_cast<int64_t>(i), values[i]);
  const auto expected = Interpret(nest, std::vector<Array>{input}, Precision::kNative);
  ASSERT_TRUE(expected.has_value()) << expected.error().Format();
  for (const Target& target : Targets()) {
    const auto actual = RunCompiled(nest, target, {input});
    ASSERT_TRUE(actual.has_value()) << actual.error().Format();
    for (int output = 0; output < 2; ++output)
      for (int64_t i = 0; i < input.size(); ++i)
        ASSERT_EQ((*actual)[output].GetInt(i), (*expected)[output].GetInt(i))
            << (output == 0 ? "vector" : "scalar") << " at " << target.host.vector_bits
            << " bits, of " << fmt::format("{}", input.GetDouble(i));
  }
}

TEST(Cast, FloatsBecomeIntegersAsInterpreted) {
  for (const DataType from : kFloats)
    for (const DataType to : kIntegers) CheckConversion(from, to, "A[i]");
}

/// Returns the text with the type's suffix after each literal. f32 has no suffix.
std::string Typed(const std::string& value, DataType type) {
  const std::string suffix = type == DataType::kF32 ? "" : std::string(Name(type));
  return std::regex_replace(value, std::regex("(\\.[0-9])"), "$1" + suffix);
}

TEST(Cast, BoundsOfTheExpressionSpareNothingThatIsNeeded) {
  for (const DataType from : kFloats)
    for (const DataType to : kIntegers)
      for (const char* value :
           {"max(A[i], 0.0)", "min(A[i], 127.0)", "min(max(A[i], -128.0), 127.0)",
            "round(min(max(A[i], -128.5), 127.5))", "max(min(A[i], 255.0), 1.0)",
            "min(max(A[i], -1.0), 256.0)"})
        CheckConversion(from, to, Typed(value, from));
}

std::string Assembly(const std::string& from, const std::string& to, const std::string& value,
                     const char* cpu) {
  const auto target = ParseCpu(cpu, 1);
  EXPECT_TRUE(target.has_value());
  const auto text = AssemblyOf(Parse(fmt::format(R"(
nest convert {{
  input A: {}[4096]
  output B: {}[4096]
  phase main {{ vector for i in 0 .. 4096 {{ s: B[i] = {} }} }}
}})",
                                                 from, to, value)),
                               *target);
  EXPECT_TRUE(text.has_value());
  return text.value_or("");
}

bool Contains(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

/// A pattern of instructions that process one lane of a vector.
constexpr const char* kOneLane = "\tv?(pinsr|pextr|cvtt?s[sd]2|cvtsi2|minss|maxss|minsd|maxsd)";

struct Conversion {
  const char* from;
  const char* to;
  bool wide_only = false;  // AVX2 lacks the instruction
};

TEST(Cast, VectorsStayVectors) {
  const Conversion conversions[] = {
      {"f32", "i8"},        {"f32", "u8"},        {"f32", "i16"},       {"f32", "u16"},
      {"f32", "i32"},       {"f32", "u32"},       {"f32", "i64", true}, {"f32", "u64", true},
      {"f64", "i8"},        {"f64", "u8"},        {"f64", "i16"},       {"f64", "u16"},
      {"f64", "i32"},       {"f64", "u32"},       {"f64", "i64", true}, {"f64", "u64", true},
      {"f16", "i8"},        {"f16", "u8"},        {"bf16", "i8"},       {"bf16", "u8"},
      {"i8", "f32"},        {"u8", "f32"},        {"i16", "f32"},       {"u16", "f32"},
      {"i32", "f32"},       {"u32", "f32"},       {"i64", "f32", true}, {"u64", "f32", true},
      {"i8", "f64"},        {"u8", "f64"},        {"i32", "f64"},       {"u32", "f64"},
      {"i64", "f64", true}, {"u64", "f64", true}, {"i8", "f16"},        {"u8", "bf16"},
      {"i8", "i32"},        {"u8", "i32"},        {"i32", "i8"},        {"i64", "i8"},
      {"i64", "i32"},       {"f32", "bool"},      {"bool", "f32"},      {"bool", "i32"},
      {"i32", "bool"},      {"bool", "i8"},       {"i8", "bool"},       {"f16", "bf16"},
      {"f32", "f16"},       {"f16", "f32"}};
  for (const char* cpu : {"sapphirerapids", "x86-64-v3"})
    for (const Conversion& c : conversions) {
      if (c.wide_only && std::string(cpu) == "x86-64-v3") continue;
      const std::string text = Assembly(c.from, c.to, fmt::format("{}(A[i])", c.to), cpu);
      EXPECT_FALSE(Contains(text, kOneLane)) << c.from << " to " << c.to << " on " << cpu << text;
    }
}

TEST(Cast, BoundedValuesAreNotBoundedAgain) {
  for (const char* cpu : {"sapphirerapids", "x86-64-v3"}) {
    const auto count = [&](const char* to, const char* value) {
      const std::string text = Assembly("f32", to, fmt::format("{}({})", to, value), cpu);
      const std::regex clamp("\tv(min|max|cmp[a-z]*)ps");
      const std::regex convert("\tvcvttps2dq");
      const auto occurrences = [&](const std::regex& what) {
        return std::distance(std::sregex_iterator(text.begin(), text.end(), what), {});
      };
      return static_cast<double>(occurrences(clamp)) / static_cast<double>(occurrences(convert));
    };
    EXPECT_EQ(count("i8", "A[i]"), 1);
    EXPECT_EQ(count("i8", "round(min(max(A[i], -128.0), 127.0))"), 3) << "one for NaN";
    EXPECT_EQ(count("i16", "f32(i8(A[i]))"), 1) << "the inner conversion's";
  }
}

// Returns bfloat16 numbers, numbers between two of them, such as ties, and special numbers. None is
// denormal, because denormal results are not specified.
std::vector<double> BetweenBFloat16() {
  std::vector<double> values{0, -0.0, NAN, INFINITY, -INFINITY, 0x1.FEFFFEp127, 0x1.FFp127};
  for (const double at : {1.0, 1.0078125, 255.0, 0x1p-126, 0x1p100, 3.0e38}) {
    for (const double part : {0.0, 0x1p-9, 0x1.8p-8, 0x1p-8, 0x1p-20, 0x1.fp-9}) {
      values.push_back(static_cast<float>(at * (1 + part)));
      values.push_back(-values.back());
    }
  }
  return values;
}

TEST(Cast, RoundsToBFloat16AsInterpreted) {
  const std::vector<double> values = BetweenBFloat16();
  for (const char* contraction : {"", "separate "}) {
    const LoopNest nest = Parse(fmt::format(R"(
nest round {1}{{
  input A: f32[{0}]
  output V: bf16[{0}]
  output W: f32[{0}]
  phase main {{
    vector for i in 0 .. {0} {{ v: V[i] = bf16(A[i]) }}
    vector for i in 0 .. {0} {{ w: W[i] = f32(bf16(A[i])) + 0.0 }}
  }}
}})",
                                            values.size(), contraction));
    Array input(DataType::kF32, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) input.SetDouble(static_cast<int64_t>(i), values[i]);
    const auto expected = Interpret(nest, std::vector<Array>{input}, Precision::kNative);
    ASSERT_TRUE(expected.has_value()) << expected.error().Format();
    for (const Target& target : Targets()) {
      const auto actual = RunCompiled(nest, target, {input});
      ASSERT_TRUE(actual.has_value()) << actual.error().Format();
      for (int output = 0; output < 2; ++output) {
        for (int64_t i = 0; i < input.size(); ++i) {
          const double reference = (*expected)[output].GetDouble(i);
          const double found = (*actual)[output].GetDouble(i);
          EXPECT_TRUE(found == reference || (std::isnan(found) && std::isnan(reference)))
              << found << " instead of " << reference << " of " << input.GetDouble(i);
        }
      }
    }
  }
}

TEST(Cast, RoundsToBFloat16ByAnInstruction) {
  const auto rounds = [](const char* cpu) {
    return Contains(Assembly("f32", "bf16", "bf16(A[i] * 2.0)", cpu), "\tvcvtne2?ps2bf16");
  };
  EXPECT_TRUE(rounds("sapphirerapids"));
  EXPECT_TRUE(rounds("znver4"));
  EXPECT_FALSE(rounds("skylake-avx512"));
}

}  // namespace
}  // namespace tunec::jit_test
