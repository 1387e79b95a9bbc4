// Tests the kernels that measure ceilings. Results must be correct. The code must use the measured
// instruction, with few loads.
#include "autotune/measure/ceiling_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "autotune/measure/roofline.h"
#include "ir/interpret/interpret.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "tests/ir/small_arguments.h"

namespace tunec {

// Prints a name for GoogleTest, which would print bytes.
static void PrintTo(const MacInstruction& instruction, std::ostream* out) {
  *out << instruction.name;
}

namespace {

using test::SmallArguments;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kFewRounds = 8;

class EveryArithmetic : public testing::TestWithParam<MacInstruction> {
 protected:
  const MacInstruction& by() const { return *FindMac(GetParam().name); }
};

TEST_P(EveryArithmetic, HasAKernelOfWholeRounds) {
  const CeilingKernel kernel = MakeCeilingKernel(by(), *ParseCpu("sapphirerapids", 1), 400);
  const Status verified = Verify(kernel.nest);
  ASSERT_TRUE(verified) << verified.error().Format();
  EXPECT_EQ(CountMultiplyAdds(kernel.nest).total, kernel.multiply_adds);
  ASSERT_EQ(kernel.nest.phases.size(), 1U);
  EXPECT_EQ(CountTasks(kernel.nest.phases[0]), 1);
  EXPECT_EQ(PlanStorage(kernel.nest).workspace_bytes, 0);
  EXPECT_EQ(UsualRounds(by()) % 4, 0) << "rounds beside the unrolled loop";
}

// Returns an element of tile n after one round. The tile is the product of the left tile
// n / `columns` and the right tile n mod `columns`.
double TileElement(const TileIntrinsic& of, const std::vector<Array>& arguments, int64_t columns,
                   int64_t n, int64_t row, int64_t column) {
  const int64_t reduced = of.extents[1], group = of.extents[2];
  double sum = 0;
  for (int64_t k = 0; k < reduced; ++k) {
    for (int64_t g = 0; g < group; ++g) {
      const int64_t left = (((n / columns) * of.extents[0] + row) * reduced + k) * group + g;
      const int64_t right = (((n % columns) * reduced + k) * of.extents[3] + column) * group + g;
      const bool real = IsFloat(of.accumulator.type);
      sum += real ? arguments[0].GetDouble(left) * arguments[1].GetDouble(right)
                  : static_cast<double>(arguments[0].GetInt(left) * arguments[1].GetInt(right));
    }
  }
  return sum;
}

TEST_P(EveryArithmetic, AddsWhatItSays) {
  const CeilingKernel kernel = MakeCeilingKernel(by(), *ParseCpu("sapphirerapids", 1), kFewRounds);
  const std::vector<Array> arguments = SmallArguments(kernel.nest);
  const auto found = Interpret(kernel.nest, arguments, Precision::kNative);
  ASSERT_TRUE(found) << found.error().Format();
  const Array& sums = found->front();
  if (by().intrinsic == nullptr) {
    const int64_t lanes = sums.shape()[1];
    for (int64_t i = 0; i < sums.size(); ++i) {
      const bool narrow = by().operand == DataType::kF32;
      const int64_t row = i / lanes;
      auto expected = static_cast<double>(row);
      for (int64_t round = 0; round < kFewRounds; ++round) {
        expected = narrow ? std::fma(static_cast<float>(expected), 0.999F, 0.0001F)
                          : std::fma(expected, 0.999, 0.0001);
      }
      EXPECT_EQ(sums.GetDouble(i), expected) << i;
    }
    return;
  }
  const TileIntrinsic& of = *by().intrinsic;
  const int64_t rows = of.extents[0], columns = of.extents[3];
  const int64_t across = rows > 1 ? 2 : 4;
  for (int64_t i = 0; i < sums.size(); ++i) {
    const double expected = kFewRounds * TileElement(of, arguments, across, i / (rows * columns),
                                                     i / columns % rows, i % columns);
    const double value =
        IsFloat(sums.type()) ? sums.GetDouble(i) : static_cast<double>(sums.GetInt(i));
    EXPECT_EQ(value, expected) << i;
  }
}

TEST_P(EveryArithmetic, RunsAsItIsInterpreted) {
  const Target target = DetectCpu(1);
  if (const auto missing = MissingFeatures(by(), target); !missing.empty()) {
    GTEST_SKIP() << "[SKIP] no " << missing.front();
  }
  const CeilingKernel kernel = MakeCeilingKernel(by(), target, kFewRounds);
  const std::vector<Array> arguments = SmallArguments(kernel.nest);
  const auto expected = Interpret(kernel.nest, arguments, Precision::kNative);
  ThreadPool pool(1);
  const auto found = CompileAndRun(kernel.nest, arguments, target, pool);
  ASSERT_TRUE(expected && found) << (found ? "" : found.error().Format());
  for (int64_t i = 0; i < expected->front().size(); ++i) {
    if (IsFloat(expected->front().type())) {
      EXPECT_EQ(found->front().GetDouble(i), expected->front().GetDouble(i)) << i;
    } else {
      EXPECT_EQ(found->front().GetInt(i), expected->front().GetInt(i)) << i;
    }
  }
}

// The measured rate depends on the machine, so its value is not checked. Other tests check the
// count of multiply-adds, and the instructions of the code.
TEST_P(EveryArithmetic, IsMeasuredOnlyWhereTheTargetHasIt) {
  Target target = DetectCpu(1);
  if (MissingFeatures(by(), target).empty()) {
    const auto ceiling = MeasureArithmetic(target, by());
    EXPECT_TRUE(ceiling) << ceiling.error().Format();
  }
  if (by().intrinsic == nullptr) return;
  for (const std::string& feature : by().intrinsic->features) target.host.features.erase(feature);
  const auto rejected = MeasureArithmetic(target, by());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kUnsupported) << rejected.error().Format();
}

INSTANTIATE_TEST_SUITE_P(Ceiling, EveryArithmetic,
                         testing::ValuesIn(MacInstructions().begin(), MacInstructions().end()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

std::string AssemblyOf(const char* name, const char* cpu) {
  const Target target = *ParseCpu(cpu, 1);
  const CeilingKernel kernel = MakeCeilingKernel(*FindMac(name), target, 400);
  const auto text = EmitText(kernel.nest, target, CodeText::kAssembly);
  if (!text) ADD_FAILURE() << text.error().Format();
  return text.value_or("");
}

// Separate products and sums would make the ceiling too low.
TEST(CeilingCode, OfPlainTypesIsFusedMultiplyAddsInRegisters) {
  struct Case {
    const char* name;
    const char* cpu;
    const char* instruction;
    const char* registers;
  };
  for (const Case& of :
       {Case{"fma.f32", "haswell", "ps", "ymm"}, Case{"fma.f32", "skylake-avx512", "ps", "zmm"},
        Case{"fma.f64", "haswell", "pd", "ymm"}, Case{"fma.f64", "skylake-avx512", "pd", "zmm"}}) {
    const std::string text = AssemblyOf(of.name, of.cpu);
    EXPECT_EQ(Count(text, "vfmadd"), 4 * 12) << of.name << of.cpu << text;
    EXPECT_THAT(text, HasSubstr(of.registers));
    for (const char* apart : {"vmul", "vadd", "vfmsub"}) {
      EXPECT_THAT(text, Not(HasSubstr(std::string(apart) + of.instruction))) << of.cpu;
    }
    EXPECT_THAT(text, Not(HasSubstr("(%rsp)"))) << of.cpu << " spills";
  }
}

TEST(CeilingCode, OfTilesIsTheInstructionAndFewLoads) {
  struct Case {
    const char* name;
    const char* cpu;
    const char* instruction;
    int count;
  };
  for (const Case& of : {Case{"dpbf16.avx512", "cooperlake", "vdpbf16ps", 4 * 12},
                         Case{"vnni.avx512", "cascadelake", "vpdpbusd", 4 * 12},
                         Case{"amx.bf16", "sapphirerapids", "tdpbf16ps", 4 * 4},
                         Case{"amx.int8", "sapphirerapids", "tdpbusd", 4 * 4}}) {
    const std::string text = AssemblyOf(of.name, of.cpu);
    EXPECT_EQ(Count(text, of.instruction), of.count) << of.name << text;
    // Constant operands may be read from the stack, but accumulators must not be spilled.
    const size_t first = text.find(of.instruction), last = text.rfind(of.instruction);
    EXPECT_THAT(text.substr(first, last - first),
                Not(ContainsRegex("mm[0-9]+, -?[0-9]*\\(%rsp\\)")))
        << of.name << " spills";
    // The code may have one tile load or broadcast per four of the measured instructions, and four
    // more.
    const int loads = Count(text, "tileloadd") + Count(text, "broadcast");
    EXPECT_LE(loads, of.count / 4 + 4) << of.name << text;
  }
}

TEST(CeilingCode, IsRejectedWithoutTheInstruction) {
  const Target target = *ParseCpu("haswell", 1);
  const CeilingKernel kernel = MakeCeilingKernel(*FindMac("amx.bf16"), target, kFewRounds);
  const auto image = EmitImage(kernel.nest, target);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace tunec
