// Tests that the machine code of tile intrinsics gives the results of the table, bit for bit except
// in NaNs. AMX code is compiled on every machine. AMX products run with AMX, or with AVX-512 in
// emulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ir/interpret/interpret.h"
#include "ir/tile_intrinsic.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/tile.h"
#include "support/random.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

using testing::HasSubstr;

// Returns the text of a nest of a product by the named intrinsic, such as `fma.avx512`. Three rows
// of accumulators stay in registers during the loop over k.
std::string FmaNest(const std::string& name, int lanes) {
  return fmt::format(R"(nest product {{
  input A: f32[3, 13]
  input B: f32[13, {0}]
  output C: f32[3, {0}]
  local t: f32[3, {0}]
  phase p {{
    alloc t: register {{
      unrolled for i in 0 .. 3 {{
        vector for j in 0 .. {0} {{
          z: t[i, j] = 0.5
        }}
      }}
      for k in 0 .. 13 unroll 4 {{
        unrolled for i in 0 .. 3 {{
          tile {1} {{
            vector for j in 0 .. {0} {{
              s: t[i, j] sum= A[i, k] * B[k, j]
            }}
          }}
        }}
      }}
      unrolled for i in 0 .. 3 {{
        vector for j in 0 .. {0} {{
          o: C[i, j] = t[i, j]
        }}
      }}
    }}
  }}
}}
)",
                     lanes, name);
}

// Returns the text of a product like FmaNest's, with sums over groups. B is stored by group, column
// and member.
std::string DotNest(const std::string& name, int group, const std::string& left,
                    const std::string& right, const std::string& sum, const std::string& zero) {
  return fmt::format(R"(nest product {{
  input A: {2}[3, {7}]
  input B: {3}[{7}, 32] layout [11, 32, {1}] (k, j) -> [floor(k/{1}), j, k mod {1}]
  output C: {4}[3, 32]
  local t: {4}[3, 32]
  phase p {{
    alloc t: register {{
      unrolled for i in 0 .. 3 {{
        vector for j in 0 .. 32 {{
          z: t[i, j] = {5}
        }}
      }}
      for k in 0 .. 11 unroll 2 {{
        unrolled for i in 0 .. 3 {{
          unrolled for jo in 0 .. 2 {{
            tile {0} {{
              unrolled for g in 0 .. {1} {{
                vector for j in 0 .. 16 {{
                  s: t[i, 16*jo + j] sum= {4}(A[i, {1}*k + g]) * {4}(B[{1}*k + g, 16*jo + j])
                }}
              }}
            }}
          }}
        }}
      }}
      unrolled for i in 0 .. 3 {{
        vector for j in 0 .. 32 {{
          o: C[i, j] = t[i, j]
        }}
      }}
    }}
  }}
}}
)",
                     name, group, left, right, sum, zero, 0, 11 * group);
}

std::string BFloat16Nest() { return DotNest("dpbf16.avx512", 2, "bf16", "bf16", "f32", "0.5"); }
std::string ByteNest() { return DotNest("vnni.avx512", 4, "u8", "i8", "i32", "7i32"); }

std::vector<Target> TargetsAndEmulation() {
  std::vector<Target> targets = Targets();
  if (targets[0].Has("avx512f")) targets.push_back(*ParseCpu("native,+amx-emulated", 1));
  return targets;
}

// Returns whether the numbers are both NaN, or equal with equal signs of zeros.
bool IsSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Expects the interpreter's results on each target with the instruction, and rejections on others.
void ExpectBitForBit(const std::string& text, const std::vector<Array>& arguments) {
  const LoopNest nest = Parse(text);
  const auto expected = Interpret(nest, arguments, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().message;
  std::string name = text.substr(text.find("tile ") + 5);
  name.resize(name.find(' '));
  for (const Target& target : TargetsAndEmulation()) {
    if (!MissingFeatures(*FindTileIntrinsic(name), target).empty()) {
      const auto object = CompileNest(nest, target);
      ASSERT_FALSE(object);
      EXPECT_EQ(object.error().code, ErrorCode::kUnsupported);
      EXPECT_THAT(object.error().message, HasSubstr("tile " + name + " needs"));
      continue;
    }
    const auto found = RunCompiled(nest, target, arguments);
    ASSERT_TRUE(found) << found.error().message;
    for (int64_t i = 0; i < expected->front().size(); ++i) {
      if (!IsFloat(expected->front().type())) {
        EXPECT_EQ(found->front().GetInt(i), expected->front().GetInt(i)) << name << " " << i;
        continue;
      }
      const double a = found->front().GetDouble(i), b = expected->front().GetDouble(i);
      EXPECT_TRUE(IsSame(a, b)) << name << " element " << i << ": " << a << " instead of " << b;
    }
  }
}

std::vector<Array> ArgumentsOf(const std::string& text, uint64_t seed) {
  return RandomArguments(Parse(text), seed);
}

TEST(TileCode, VectorFma) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    ExpectBitForBit(FmaNest("fma.avx2", 8), ArgumentsOf(FmaNest("fma.avx2", 8), seed));
    ExpectBitForBit(FmaNest("fma.avx512", 16), ArgumentsOf(FmaNest("fma.avx512", 16), seed));
  }
}

TEST(TileCode, DotOfBFloat16) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    ExpectBitForBit(BFloat16Nest(), ArgumentsOf(BFloat16Nest(), seed));
  }
}

TEST(TileCode, DotOfBFloat16WithSpecialNumbers) {
  const double special[] = {INFINITY, -INFINITY, NAN,        0x1p-130, 0x1p-127, 0x1p-126, 0,
                            -0.0,     1,         0x1.FEp127, -3e38,    0x1p-60,  0x1p-64,  -1};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::vector<Array> arguments = ArgumentsOf(BFloat16Nest(), seed);
    for (size_t a = 0; a < 2; ++a) {
      const int64_t size = arguments[a].size();
      const auto at = static_cast<int64_t>((seed * 7919 + a * 31) % static_cast<uint64_t>(size));
      arguments[a].SetDouble(at, special[(seed + 5 * a) % std::size(special)]);
    }
    ExpectBitForBit(BFloat16Nest(), arguments);
  }
  // All operands are so small that products may be subnormal.
  std::vector<Array> arguments = ArgumentsOf(BFloat16Nest(), 1);
  for (Array& array : arguments) {
    for (int64_t i = 0; i < array.size(); ++i) {
      array.SetDouble(i, std::ldexp(array.GetDouble(i), -63));
    }
  }
  ExpectBitForBit(BFloat16Nest(), arguments);
}

TEST(TileCode, DotOfBytes) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    ExpectBitForBit(ByteNest(), ArgumentsOf(ByteNest(), seed));
  }
}

// Returns the text of a product with 32 x 32 accumulators, two by two tiles, over 3 steps of 16
// groups.
std::string AmxNest(const std::string& name, int group, const std::string& left,
                    const std::string& right, const std::string& sum, const std::string& zero,
                    const std::string& two) {
  return fmt::format(R"(nest product {{
  input A: {2}[32, {7}]
  input B: {3}[{7}, 32] layout [2, 48, 16, {1}] (k, j) -> [floor(j/16), floor(k/{1}), j mod 16, k mod {1}]
  output C: {4}[32, 32]
  local t: {4}[32, 32]
  phase p {{
    alloc t: packed {{
      for i in 0 .. 32 {{
        vector for j in 0 .. 32 {{
          z: t[i, j] = {5}
        }}
      }}
      for k in 0 .. 3 {{
        unrolled for io in 0 .. 2 {{
          unrolled for jo in 0 .. 2 {{
            tile {0} {{
              unrolled for i in 0 .. 16 {{
                unrolled for kk in 0 .. 16 {{
                  unrolled for g in 0 .. {1} {{
                    vector for j in 0 .. 16 {{
                      s: t[16*io + i, 16*jo + j] sum= {4}(A[16*io + i, {8}*k + {1}*kk + g]) * {4}(B[{8}*k + {1}*kk + g, 16*jo + j])
                    }}
                  }}
                }}
              }}
            }}
          }}
        }}
      }}
      for i in 0 .. 32 {{
        vector for j in 0 .. 32 {{
          o: C[i, j] = t[i, j] * {6}
        }}
      }}
    }}
  }}
}}
)",
                     name, group, left, right, sum, zero, two, 48 * group, 16 * group);
}

std::string AmxBFloat16Nest() {
  return AmxNest("amx.bf16", 2, "bf16", "bf16", "f32", "0.5", "2.0");
}
std::string AmxByteNest() { return AmxNest("amx.int8", 4, "u8", "i8", "i32", "7i32", "2i32"); }

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(TileCode, AmxAccumulatorsStayInRegisters) {
  const auto target = ParseCpu("sapphirerapids", 1);
  ASSERT_TRUE(target) << target.error().message;
  for (const auto& [text, dot] :
       {std::pair(AmxBFloat16Nest(), "tdpbf16ps"), std::pair(AmxByteNest(), "tdpbusd")}) {
    const LoopNest nest = Parse(text);
    const auto assembly = AssemblyOf(nest, *target);
    ASSERT_TRUE(assembly) << assembly.error().message;
    EXPECT_EQ(Count(*assembly, "ldtilecfg"), 1);
    EXPECT_EQ(Count(*assembly, "tilerelease"), 1);
    EXPECT_EQ(Count(*assembly, dot), 4);
    // Four accumulators are loaded before the loop and four operands inside. Four stores follow.
    EXPECT_EQ(Count(*assembly, "tileloadd"), 8) << *assembly;
    EXPECT_EQ(Count(*assembly, "tilestored"), 4);
    const size_t loop = assembly->find(dot);
    EXPECT_EQ(Count(assembly->substr(0, loop), "tileloadd"), 6) << *assembly;
    EXPECT_EQ(Count(assembly->substr(0, loop), "tilestored"), 0);
    const auto object = CompileNest(nest, *target);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_GT(object->bytes.size(), 100U);
  }
}

TEST(TileCode, EveryIntrinsicOfTheHostHasAnInstruction) {
  for (const TileIntrinsic& intrinsic : TileIntrinsics()) {
    const jit::TileInstruction* instruction = jit::FindTileInstruction(intrinsic);
    ASSERT_EQ(instruction != nullptr, intrinsic.target == "cpu") << intrinsic.name;
    if (instruction == nullptr) continue;
    const bool registers = std::ranges::count(intrinsic.features, "amx-tile") > 0;
    EXPECT_EQ(instruction->tiles.has_value(), registers) << intrinsic.name;
    EXPECT_EQ(instruction->vectors == nullptr, registers) << intrinsic.name;
  }
}

// Returns AmxBFloat16Nest with one loop over the accumulators that is not unrolled.
std::string NestThatMoves() {
  std::string text = AmxBFloat16Nest();
  const std::string unrolled = "unrolled for io in 0 .. 2";
  return text.replace(text.find(unrolled), unrolled.size(), "for io in 0 .. 2");
}

TEST(TileCode, AmxAccumulatorsThatMoveAreLoadedAndStored) {
  const auto assembly = AssemblyOf(Parse(NestThatMoves()), *ParseCpu("sapphirerapids", 1));
  ASSERT_TRUE(assembly) << assembly.error().message;
  EXPECT_EQ(Count(*assembly, "tdpbf16ps"), 2);
  EXPECT_EQ(Count(*assembly, "tilestored"), 2);
}

TEST(TileCode, AmxRuns) {
  const Target target = DetectCpu(1);
  if (!target.Has("amx-bf16") && !target.Has("avx512f")) {
    GTEST_SKIP() << "[SKIP] neither AMX nor AVX-512";
  }
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    ExpectBitForBit(AmxBFloat16Nest(), ArgumentsOf(AmxBFloat16Nest(), seed));
    ExpectBitForBit(AmxByteNest(), ArgumentsOf(AmxByteNest(), seed));
    ExpectBitForBit(NestThatMoves(), ArgumentsOf(NestThatMoves(), seed));
  }
}

// Returns the text of a nest of `count` separate products, which are added to the tiles of S.
std::string ManyProducts(int count) {
  return fmt::format(R"(nest product {{
  input A: bf16[{0}, 16, 32]
  input B: bf16[{0}, 32, 16] layout [{0}, 16, 16, 2] (n, k, j) -> [n, floor(k/2), j, k mod 2]
  input S: f32[{0}, 16, 16]
  output C: f32[{0}, 16, 16]
  local t: f32[{0}, 16, 16]
  phase p {{
    for n in 0 .. {0} {{
      alloc t: packed {{
        for i in 0 .. 16 {{
          vector for j in 0 .. 16 {{
            z: t[n, i, j] = S[n, i, j]
          }}
        }}
        tile amx.bf16 {{
          unrolled for i in 0 .. 16 {{
            unrolled for kk in 0 .. 16 {{
              unrolled for g in 0 .. 2 {{
                vector for j in 0 .. 16 {{
                  s: t[n, i, j] sum= f32(A[n, i, 2*kk + g]) * f32(B[n, 2*kk + g, j])
                }}
              }}
            }}
          }}
        }}
        for i in 0 .. 16 {{
          vector for j in 0 .. 16 {{
            o: C[n, i, j] = t[n, i, j]
          }}
        }}
      }}
    }}
  }}
}}
)",
                     count);
}

// Returns arguments whose products and sums may overflow, underflow or cancel. The operands of a
// product are scaled by 1, by 2^-63 or by a random power of two. Every second product has special
// numbers.
std::vector<Array> HardArguments(const std::string& text, int64_t count, uint64_t seed) {
  constexpr double kSpecial[] = {INFINITY, -INFINITY,  NAN,   0x1p-130, -0x1p-127, 0x1p-126, 0,
                                 -0.0,     0x1.FEp127, -3e38, 1,        0x1p-60,   0x1p-64,  -1};
  std::vector<Array> arguments = ArgumentsOf(text, seed);
  Random random(seed);
  for (int64_t n = 0; n < count; ++n) {
    const int any = static_cast<int>(random.Below(100)) - 50;
    const int scales[] = {0, -63, any};
    const int scale = scales[n % 3];
    for (size_t a = 0; a < 3; ++a) {
      // An accumulator is scaled by the product of the factors of both operands.
      const int of_this = a == 2 || n % 3 == 2 ? (a == 2 ? 2 * scale : scale) : scale;
      const int64_t size = arguments[a].size() / count;
      for (int64_t i = n * size; i < (n + 1) * size; ++i) {
        arguments[a].SetDouble(i, std::ldexp(arguments[a].GetDouble(i), of_this));
      }
      for (int i = 0; n % 2 == 1 && i < 6; ++i) {
        const auto at = n * size + static_cast<int64_t>(random.Below(static_cast<uint64_t>(size)));
        arguments[a].SetDouble(at, kSpecial[random.Below(std::size(kSpecial))]);
      }
    }
    // In every fifth product, adjacent elements of A's first row are opposite, so sums may cancel.
    if (n % 5 != 0) continue;
    for (int64_t k = 0; k < 16; ++k) {
      const double value = arguments[0].GetDouble(n * 512 + 2 * k);
      arguments[0].SetDouble(n * 512 + 2 * k + 1, -value);
    }
  }
  return arguments;
}

TEST(TileCode, AmxOfHardNumbers) {
  constexpr int kProducts = 480;  // 122880 results
  const std::string text = ManyProducts(kProducts);
  const std::vector<Array> arguments = HardArguments(text, kProducts, 1);
  ExpectBitForBit(text, arguments);
  // Checks the arguments: at least about half of the results are finite and not 0, and all kinds
  // occur.
  const auto results = Interpret(Parse(text), arguments, Precision::kNative);
  int64_t numbers = 0, infinite = 0, undefined = 0, zeros = 0;
  for (int64_t i = 0; i < results->front().size(); ++i) {
    const double value = results->front().GetDouble(i);
    numbers += std::isfinite(value) && value != 0 ? 1 : 0;
    infinite += std::isinf(value) ? 1 : 0;
    undefined += std::isnan(value) ? 1 : 0;
    zeros += value == 0 ? 1 : 0;
  }
  EXPECT_GT(numbers, 60'000) << infinite << " " << undefined << " " << zeros;
  EXPECT_GT(infinite, 1000);
  EXPECT_GT(undefined, 1000);
  EXPECT_GT(zeros, 1000);
}

TEST(TileCode, EmulatedAmxHasNoneOfItsInstructions) {
  const auto target = ParseCpu("sapphirerapids,+amx-emulated", 1);
  ASSERT_TRUE(target) << target.error().message;
  for (const std::string& text : {AmxBFloat16Nest(), AmxByteNest()}) {
    const auto assembly = AssemblyOf(Parse(text), *target);
    ASSERT_TRUE(assembly) << assembly.error().message;
    for (const char* instruction : {"ldtilecfg", "tileload", "tilestore", "tdp", "tilerelease"}) {
      EXPECT_EQ(Count(*assembly, instruction), 0) << instruction;
    }
    // Products, loads and stores have one function each, which is called at each use.
    EXPECT_EQ(Count(*assembly, "callq\ttile_dot_"), 4);
    EXPECT_EQ(Count(*assembly, "callq\ttile_load"), 8);
    EXPECT_EQ(Count(*assembly, "callq\ttile_store"), 4);
  }
}

}  // namespace
}  // namespace tunec::jit_test
