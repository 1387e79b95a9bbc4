// Tests of the check and of the random cases of fuzz_arithmetic.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "jit/cpu/detect_cpu.h"
#include "tests/fuzz/check_arithmetic.h"
#include "tests/fuzz/run_schedule.h"

namespace tunec::fuzz {
namespace {

const Accuracy kF32{.mode = AccuracyMode::kF32};
const Accuracy kBf16{.mode = AccuracyMode::kBf16};

Widest WidestHere() { return DetectCpu(kThreads).Has("avx512f") ? Widest::kAvx512 : Widest::kAvx2; }

// Schedules round operands to bfloat16, although the accuracy mode of the check forbids this.
TEST(Arithmetic, FindsOperandsThatWereRounded) {
  if (WidestHere() == Widest::kAvx2) GTEST_SKIP() << "a machine without AVX-512";
  int rounded = 0, found = 0;
  for (uint64_t seed = 1; seed <= 400 && rounded < 10; ++seed) {
    ContractionCase drawn = MakeContraction(seed, Widest::kAvx512);
    if (drawn.operands != Operands::kUniform && drawn.operands != Operands::kOpposed) continue;
    drawn.accuracy = kF32;
    drawn.cpu = "native,+amx-emulated";
    const ArithmeticResult checked = CheckArithmetic(drawn, kBf16);
    if (!checked.kernels.contains("amx 1 terms")) continue;
    ++rounded;
    found += checked.result.outcome == Outcome::kWrong ? 1 : 0;
  }
  EXPECT_EQ(rounded, 10);
  // A function such as tanh may follow the products. Where this function is saturated, the rounding
  // has no visible effect.
  EXPECT_GE(found, 8);
}

TEST(Arithmetic, SomeContractionsAreWithinTheirContracts) {
  // In the mode `exact`, all schedules that are drawn for a case may be rejected.
  int with_kernels = 0;
  for (uint64_t seed = 20261123; seed < 20261123 + 40; ++seed) {
    const ContractionCase drawn = MakeContraction(seed, WidestHere());
    const ArithmeticResult checked = CheckArithmetic(drawn, drawn.accuracy);
    EXPECT_EQ(checked.result.outcome, Outcome::kEqual) << seed << ": " << checked.result.reason;
    with_kernels += checked.kernels.empty() ? 0 : 1;
  }
  EXPECT_GE(with_kernels, 30);
}

// In this case isl exhausts its quota of operations while tunec reads the schedule that isl found.
TEST(Arithmetic, ASearchForLoopsMayEndAnywhere) {
  const ContractionCase drawn = MakeContraction(1030520, Widest::kAvx512);
  ASSERT_EQ(Print(drawn.accuracy), "exact");
  const ArithmeticResult checked = CheckArithmetic(drawn, drawn.accuracy);
  EXPECT_NE(checked.result.outcome, Outcome::kWrong) << checked.result.reason;
}

// Earlier versions violated the accuracy mode in the cases of these seeds. For example, results
// were rounded between two sums, or the order of 72 products was changed.
TEST(Arithmetic, WhatWasWrongOnceIsWithinItsContract) {
  if (WidestHere() == Widest::kAvx2) GTEST_SKIP() << "a machine without AVX-512";
  for (const uint64_t seed : {1030024, 1050171, 1051898, 1052445, 1202213, 1300177}) {
    const ContractionCase drawn = MakeContraction(seed, Widest::kAvx512);
    const ArithmeticResult checked = CheckArithmetic(drawn, drawn.accuracy);
    EXPECT_EQ(checked.result.outcome, Outcome::kEqual) << seed << ": " << checked.result.reason;
  }
}

TEST(Arithmetic, OneSeedMakesOneCase) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ContractionCase one = MakeContraction(seed, Widest::kAvx512);
    const ContractionCase again = MakeContraction(seed, Widest::kAvx512);
    EXPECT_EQ(Print(one.graph), Print(again.graph));
    EXPECT_EQ(one.cpu, again.cpu);
    ASSERT_EQ(one.inputs.size(), again.inputs.size());
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      ASSERT_EQ(one.inputs[i].bytes(), again.inputs[i].bytes());
      EXPECT_EQ(std::memcmp(one.inputs[i].data(), again.inputs[i].data(), one.inputs[i].bytes()),
                0);
    }
  }
}

TEST(Arithmetic, DrawsEveryKind) {
  std::set<Operands> operands;
  std::set<std::string> contracts, machines;
  std::set<Op> operators;
  std::set<DataType> types;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const ContractionCase drawn = MakeContraction(seed, Widest::kAvx512);
    operands.insert(drawn.operands);
    contracts.insert(Print(drawn.accuracy));
    machines.insert(drawn.cpu);
    for (const Node& node : drawn.graph.nodes()) operators.insert(node.op);
    for (const Array& input : drawn.inputs) types.insert(input.type());
  }
  EXPECT_EQ(operands.size(), static_cast<size_t>(kOperandKinds));
  EXPECT_EQ(types.size(), 4U);
  EXPECT_EQ(contracts.size(), 8U);
  EXPECT_EQ(machines.size(), 3U);
  for (const Op op : {Op::kMatmul, Op::kConv, Op::kConvTranspose, Op::kGelu, Op::kAdd, Op::kMul,
                      Op::kSoftmax, Op::kReduceSum, Op::kArgMax, Op::kSqrt, Op::kSlice})
    EXPECT_TRUE(operators.contains(op)) << Name(op);
}

}  // namespace
}  // namespace tunec::fuzz
