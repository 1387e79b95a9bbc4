// Tests of the content, the storage, the loading and the release of compiled objects, and of the
// descriptions of processors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kTiledMatmul = R"(
nest mm {
  input A: f32[56, 64]
  weight B: f32[64, 64] layout [2, 64, 32] (i, j) -> [floor(j/32), i, j mod 32] align 64
  output C: f32[56, 64]
  local acc: f32[14, 32]
  phase main {
    parallel for jt in 0 .. 2 {
      for it in 0 .. 4 {
        alloc acc: register {
          unrolled for i in 0 .. 14 { vector for j in 0 .. 32 { init: acc[i, j] = 0.0 } }
          for k in 0 .. 64 unroll 4 {
            unrolled for i in 0 .. 14 {
              vector for j in 0 .. 32 { mac: acc[i, j] sum= A[14*it + i, k] * B[k, 32*jt + j] }
            }
          }
          unrolled for i in 0 .. 14 { vector for j in 0 .. 32 { out: C[14*it + i, 32*jt + j] = acc[i, j] } }
        }
      }
    }
  }
})";

int Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

/// Returns the piece of assembly, from a label to a jump, that has the most FMAs.
std::string InnerLoop(const std::string& assembly) {
  std::istringstream lines(assembly);
  std::string line, block, best;
  int most = 0;
  while (std::getline(lines, line)) {
    if (!line.empty() && line[0] == '.') block.clear();
    block += line + "\n";
    const int count = Count(block, "vfmadd");
    if (count > most && line.find("\tj") == 0) {
      most = count;
      best = block;
    }
  }
  return best;
}

TEST(Code, RegisterTileStaysInRegisters) {
  const Target target = *ParseCpu("skylake-avx512", 1);
  const auto assembly = AssemblyOf(Parse(kTiledMatmul), target);
  ASSERT_TRUE(assembly.has_value()) << assembly.error().Format();
  const std::string loop = InnerLoop(*assembly);
  EXPECT_EQ(Count(loop, "vfmadd\\w+ps.*%zmm"), 4 * 28) << loop;
  EXPECT_EQ(Count(loop, "\\(%rsp"), 0) << "spills:\n" << loop;
  EXPECT_EQ(Count(loop, "vmovups|vmovaps"), 4 * 2) << loop;
  ExpectAsInterpreted(kTiledMatmul);
}

// The tile uses 24 of its 32 columns. The lanes of the other columns may hold any value.
TEST(Code, LanesThatNothingTouchesAreNotKept) {
  const char* nest = R"(
nest mm {
  input A: f32[7, 64]
  weight B: f32[64, 32] align 64
  output C: f32[7, 24]
  local acc: f32[7, 32]
  phase main {
    alloc acc: register {
      unrolled for i in 0 .. 7 { vector for j in 0 .. 24 { init: acc[i, j] = 0.0 } }
      for k in 0 .. 64 unroll 4 {
        unrolled for i in 0 .. 7 { vector for j in 0 .. 24 { mac: acc[i, j] sum= A[i, k] * B[k, j] } }
      }
      unrolled for i in 0 .. 7 { vector for j in 0 .. 24 { out: C[i, j] = acc[i, j] } }
    }
  }
})";
  const auto assembly = AssemblyOf(Parse(nest), *ParseCpu("skylake-avx512", 1));
  ASSERT_TRUE(assembly.has_value()) << assembly.error().Format();
  const std::string loop = InnerLoop(*assembly);
  EXPECT_EQ(Count(loop, "vfmadd\\w+ps.*%zmm"), 4 * 14) << loop;
  EXPECT_EQ(Count(loop, "vshuf|vblend|vperm"), 0) << loop;
  ExpectAsInterpreted(nest);
}

TEST(Code, Avx2UsesYmmOnly) {
  const Target target = *ParseCpu("haswell", 1);
  EXPECT_EQ(target.host.vector_bits, 256);
  EXPECT_EQ(target.host.vector_registers, 16);
  const auto assembly = AssemblyOf(Parse(kTiledMatmul), target);
  ASSERT_TRUE(assembly.has_value());
  EXPECT_EQ(Count(*assembly, "%zmm"), 0);
  EXPECT_GT(Count(*assembly, "vfmadd\\w+ps.*%ymm"), 0);
}

std::string NonTemporalCopy(int size) {
  return fmt::format(R"(
nest copy {{
  input A: f32[{0}]
  output C: f32[{0}]
  phase main {{ vector for j in 0 .. {0} {{ s non_temporal: C[j] = A[j] + 1.0 }} }}
}})",
                     size);
}

TEST(Code, NonTemporalStoresOnlyWhereAligned) {
  const std::string nest = NonTemporalCopy(512);
  const auto assembly = AssemblyOf(Parse(nest), *ParseCpu("skylake-avx512", 1));
  ASSERT_TRUE(assembly.has_value());
  EXPECT_GT(Count(*assembly, "vmovntps.*%zmm"), 0);
  EXPECT_EQ(Count(*assembly, "vmovntps.*%xmm"), 4 * Count(*assembly, "vmovntps.*%zmm"));
  EXPECT_EQ(Count(*assembly, "sfence"), 2);
  EXPECT_EQ(Count(*assembly, "movnti"), 0);
  ExpectAsInterpreted(nest);
}

// The arguments end at the end of a page, so the sizes give alignments of 64, 16 and 4 bytes.
TEST(Code, NonTemporalStoresReachEveryAlignment) {
  for (const int size : {512, 500, 501}) {
    ExpectAsInterpreted(NonTemporalCopy(size));
  }
}

// The text contains sqrt(A[j] + 1.0) twice. The two nodes are compiled to one instruction.
TEST(Code, EqualExpressionsAreComputedOnce) {
  const char* nest = R"(
nest twice {
  input A: f32[16]
  output C: f32[16]
  phase main { vector for j in 0 .. 16 { s: C[j] = sqrt(A[j] + 1.0) * (sqrt(A[j] + 1.0) + sqrt(A[j] - 1.0)) } }
})";
  const auto assembly = AssemblyOf(Parse(nest), *ParseCpu("skylake-avx512", 1));
  ASSERT_TRUE(assembly.has_value());
  EXPECT_EQ(Count(*assembly, "vsqrtps"), 2);
  ExpectAsInterpreted(nest);
}

TEST(Code, SameInputSameBytes) {
  const LoopNest nest = Parse(kTiledMatmul);
  const Target target = DetectCpu(1);
  EXPECT_EQ(CompileNest(nest, target)->bytes, CompileNest(nest, target)->bytes);
}

TEST(Object, RoundTrips) {
  const auto object = CompileNest(Parse(kTiledMatmul), DetectCpu(1));
  ASSERT_TRUE(object.has_value());
  const std::string text = Serialize(*object);
  const auto again = ParseKernelImage(text);
  ASSERT_TRUE(again.has_value()) << again.error().Format();
  EXPECT_EQ(*again, *object);
  for (const size_t cut : {size_t{0}, size_t{5}, size_t{20}, text.size() / 2, text.size() - 1})
    EXPECT_FALSE(ParseKernelImage(text.substr(0, cut)).has_value()) << cut;
}

TEST(Object, DamagedBytesAreAnError) {
  auto object = CompileNest(Parse(kTiledMatmul), DetectCpu(1));
  ASSERT_TRUE(object.has_value());
  KernelImage broken = *object;
  broken.bytes = "no object at all";
  EXPECT_EQ(LoadKernel(broken).error().code, ErrorCode::kParse);
  broken = *object;
  broken.phases[0].symbol = "missing";
  EXPECT_EQ(LoadKernel(broken).error().code, ErrorCode::kNotFound);
  broken = *object;
  broken.format = "cubin";
  EXPECT_EQ(LoadKernel(broken).error().message,
            "code has format 'cubin', which the host cannot load");
}

int64_t ResidentKilobytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return resident * getpagesize() / 1024;
}

// The address sanitizer holds up to 256 MB of freed memory before it releases any.
#ifdef __SANITIZE_ADDRESS__
constexpr int kCyclesToWarmUp = 5000;
#else
constexpr int kCyclesToWarmUp = 300;
#endif

TEST(Load, ThousandsOfCyclesDoNotGrow) {
  const auto object = CompileNest(Parse(kTiledMatmul), DetectCpu(1));
  ASSERT_TRUE(object.has_value());
  const auto cycle = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(LoadKernel(*object).has_value());
  };
  cycle(kCyclesToWarmUp);
  const int64_t before = ResidentKilobytes();
  cycle(2000);
  EXPECT_LT(ResidentKilobytes() - before, 4096) << "kilobytes after 2000 cycles";
}

TEST(Load, SeveralThreadsCompileAndLoad) {
  const LoopNest nest = Parse(kTiledMatmul);
  const std::vector<Array> arguments = RandomArguments(nest, 3);
  const auto expected = RunCompiled(nest, DetectCpu(1), arguments);
  ASSERT_TRUE(expected.has_value());
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto actual = RunCompiled(nest, DetectCpu(1), arguments);
        right +=
            actual && std::equal((*actual)[0].As<float>().begin(), (*actual)[0].As<float>().end(),
                                 (*expected)[0].As<float>().begin());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST(Cpu, Specifications) {
  const auto native = ParseCpu("native", 2);
  ASSERT_TRUE(native.has_value());
  EXPECT_EQ(*native, DetectCpu(2));
  EXPECT_GT(native->host.l1_bytes, 0);
  EXPECT_EQ(native->host.threads, 2);
  const auto narrow = ParseCpu("native,-avx512f", 1);
  ASSERT_TRUE(narrow.has_value());
  EXPECT_EQ(narrow->host.vector_bits, 256);
  for (const std::string& feature : narrow->host.features)
    EXPECT_FALSE(feature.starts_with("avx512")) << feature;
  const auto server = ParseCpu("sapphirerapids", 1);
  ASSERT_TRUE(server.has_value());
  EXPECT_TRUE(server->Has("amx-bf16"));
  EXPECT_FALSE(ParseCpu("sapphirerapids,-amx", 1)->Has("amx-tile"));
}

TEST(Cpu, AmxIsEmulatedOnlyWhereItIsAskedFor) {
  EXPECT_FALSE(DetectCpu(1).Has("amx-emulated"));
  EXPECT_FALSE(ParseCpu("sapphirerapids", 1)->Has("amx-emulated"));
  const auto server = ParseCpu("skylake-avx512,+amx-emulated", 1);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  EXPECT_THAT(Print(*server), HasSubstr("amx-emulated"));  // part of the database's keys
  EXPECT_TRUE(MissingFeatures(*FindTileIntrinsic("amx.bf16"), *server).empty());
  EXPECT_TRUE(MissingFeatures(*FindTileIntrinsic("amx.int8"), *server).empty());
  EXPECT_FALSE(ParseCpu("skylake-avx512,+amx-emulated,-amx", 1)->Has("amx-emulated"));
  EXPECT_FALSE(ParseCpu("skylake-avx512,+amx-emulated,-amx-emulated", 1)->Has("amx-emulated"));
  // To run the emulation, a machine needs AVX-512 but not AMX.
  const std::set<std::string> plain = {"avx", "avx2", "fma", "f16c"};
  EXPECT_THAT(CheckRuns(server->host, plain).error().message, HasSubstr(" avx512f,"));
  EXPECT_THAT(CheckRuns(server->host, plain).error().message, Not(HasSubstr("amx")));
  const auto narrow = ParseCpu("haswell,+amx-emulated", 1);
  ASSERT_FALSE(narrow.has_value());
  EXPECT_EQ(narrow.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(narrow.error().message, "cpu feature '+amx-emulated' needs AVX-512");
}

TEST(Cpu, Rejections) {
  EXPECT_EQ(ParseCpu("nonsense", 1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseCpu("native,-nonsense", 1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseCpu("native,", 1).error().code, ErrorCode::kInvalidArgument);
  const auto old = ParseCpu("nehalem", 1);
  ASSERT_FALSE(old.has_value());
  EXPECT_EQ(old.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(old.error().message, "cpu nehalem has no avx2, which tunec needs");
}

// A target may come from a file. For these processors LLVM would end the process, or warn for every
// kernel.
TEST(Cpu, ProcessorsThatLlvmCannotCompileForAreErrors) {
  Target target = *ParseCpu("haswell", 1);
  for (const char* cpu : {"i386", "pentium4", "emers", ""}) {
    target.host.cpu = cpu;
    EXPECT_FALSE(AssemblyOf(Parse(kTiledMatmul), target).has_value()) << cpu;
  }
  target.host.cpu = "generic";
  EXPECT_TRUE(AssemblyOf(Parse(kTiledMatmul), target).has_value());
}

std::set<std::string> FeaturesOf(const Target& target) {
  return {target.host.features.begin(), target.host.features.end()};
}

TEST(Cpu, CodeForItselfRuns) {
  const Target native = DetectCpu(1);
  const Status runs = CheckHostRuns(native.host);
  EXPECT_TRUE(runs.has_value()) << runs.error().message;
  const auto narrow = ParseCpu("native,-avx512f,-amx", 1);
  EXPECT_TRUE(CheckHostRuns(narrow->host).has_value());
}

TEST(Cpu, CodeForWhatAMachineLacksIsRejectedByFeature) {
  std::set<std::string> haswell = FeaturesOf(*ParseCpu("haswell", 1));
  haswell.insert({"sse4.2", "popcnt", "lzcnt", "movbe"});
  EXPECT_TRUE(CheckRuns(ParseCpu("haswell", 1)->host, haswell).has_value());
  const Status wider = CheckRuns(ParseCpu("skylake-avx512", 1)->host, haswell);
  ASSERT_FALSE(wider.has_value());
  EXPECT_EQ(wider.error().code, ErrorCode::kDevice);
  EXPECT_EQ(wider.error().message,
            "this machine cannot run code for cpu skylake-avx512: it has no avx512f, avx512bw, "
            "avx512dq, avx512vl, avx512cd");
  const Status added = CheckRuns(ParseCpu("haswell,+avxvnni", 1)->host, haswell);
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().message,
            "this machine cannot run code for cpu haswell: it has no avxvnni");
}

TEST(Cpu, WhatLlvmUsesUnaskedIsKnownToIt) {
  for (const char* cpu : {"diamondrapids", "znver5", "bdver4"}) {
    const auto target = ParseCpu(cpu, 1);
    ASSERT_TRUE(target.has_value()) << cpu;
    const Status runs = CheckRuns(target->host, {});
    ASSERT_FALSE(runs.has_value());
    const bool is_new = std::string(cpu) == "diamondrapids";
    EXPECT_EQ(runs.error().message.contains("egpr"), is_new);
    EXPECT_NE(runs.error().message.find("lzcnt"), std::string::npos) << cpu;
  }
}

}  // namespace
}  // namespace tunec::jit_test
