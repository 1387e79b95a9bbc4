// Tests of every scalar operator on every type that has it, in scalar and vector code, against the
// interpreter. Conversions between all types, and narrow types in memory, are also tested.
#include <gtest/gtest.h>

#include "ir/expr/evaluate_expr.h"
#include "ir/interpret/interpret.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

constexpr DataType kTypes[] = {DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16,
                               DataType::kI8,  DataType::kI16, DataType::kI32, DataType::kI64,
                               DataType::kU8,  DataType::kU16, DataType::kU32, DataType::kU64,
                               DataType::kBool};

#define TUNEC_OP(id, ...) ScalarOp::id,
constexpr ScalarOp kOps[] = {TUNEC_SCALAR_OPS(TUNEC_OP)};
#undef TUNEC_OP

/// Returns the tolerance of results of this type. It is larger than the effect of one rounding.
double Tolerance(DataType type) {
  switch (type) {
    case DataType::kF64:
      return 1e-12;
    case DataType::kF16:
      return 2e-3;
    case DataType::kBF16:
      return 1.6e-2;
    default:
      return 1e-6;
  }
}

std::string Program(ScalarOp op, DataType type) {
  const std::string result(ResultOf(op) == ResultType::kBool ? "bool" : Name(type));
  std::string operands = "A[i]";
  if (op == ScalarOp::kSelect)
    operands = "M[i], A[i], B[i]";
  else if (Arity(op) == 2)
    operands = "A[i], B[i]";
  else if (Arity(op) == 3)
    operands = "A[i], B[i], C[i]";
  const bool divides =
      op == ScalarOp::kDiv || op == ScalarOp::kFloorMod || op == ScalarOp::kTruncMod;
  const std::string range = IsInteger(type) ? (divides ? " range [1, 7]" : " range [0, 9]") : "";
  return fmt::format(R"(
nest op {{
  input A: {0}[61]
  input B: {0}[61]{2}
  input C: {0}[61]
  input M: bool[61]
  output V: {1}[61]
  output S: {1}[61]
  phase main {{
    vector for i in 0 .. 61 {{
      v: V[i] = {3}({4})
    }}
    for i in 0 .. 61 {{
      s: S[i] = {3}({4})
    }}
  }}
}})",
                     Name(type), result, range, Name(op), operands);
}

TEST(Types, EveryOperatorOfEveryType) {
  for (const DataType type : kTypes)
    for (const ScalarOp op : kOps) {
      if (!IsDefined(op, type)) continue;
      SCOPED_TRACE(fmt::format("{} of {}", Name(op), Name(type)));
      ExpectAsInterpreted(Program(op, type), Tolerance(type));
      if (HasFailure()) return;
    }
}

TEST(Types, EveryConversion) {
  for (const DataType from : kTypes)
    for (const DataType to : kTypes) {
      if (from == to) continue;
      SCOPED_TRACE(fmt::format("{} to {}", Name(from), Name(to)));
      ExpectAsInterpreted(fmt::format(R"(
nest convert {{
  input A: {0}[45]
  output V: {1}[45]
  output S: {1}[45]
  phase main {{
    vector for i in 0 .. 45 {{
      v: V[i] = {1}(A[i])
    }}
    for i in 0 .. 45 {{
      s: S[i] = {1}(A[i])
    }}
  }}
}})",
                                      Name(from), Name(to)),
                          0);
      if (HasFailure()) return;
    }
}

TEST(Types, FloatToIntegerKeepsLowBits) {
  const LoopNest nest = Parse(R"(
nest convert {
  input A: f32[8]
  output I: i8[8]
  output U: u8[8]
  output L: i32[8]
  phase main {
    vector for i in 0 .. 8 {
      a: I[i] = i8(A[i])
      b: U[i] = u8(A[i])
      c: L[i] = i32(A[i])
    }
  }
})");
  Array input(DataType::kF32, {8});
  const float values[] = {300.7f, -300.7f, NAN, INFINITY, -INFINITY, -1.5f, 3e9f, 127.9f};
  for (int i = 0; i < 8; ++i) input.SetDouble(i, values[i]);
  const auto expected = Interpret(nest, std::vector<Array>{input}, Precision::kNative);
  ASSERT_TRUE(expected.has_value());
  const int64_t of_i8[] = {44, -44, 0, 0, 0, -1, 0, 127};
  for (int i = 0; i < 8; ++i) EXPECT_EQ((*expected)[0].GetInt(i), of_i8[i]) << values[i];
  for (const Target& target : Targets()) {
    const auto actual = RunCompiled(nest, target, {input});
    ASSERT_TRUE(actual.has_value()) << actual.error().Format();
    for (int output = 0; output < 3; ++output)
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ((*actual)[output].GetInt(i), (*expected)[output].GetInt(i))
            << output << " of " << values[i];
  }
}

TEST(Types, IntegerDivisionNeverTraps) {
  const LoopNest nest = Parse(R"(
nest divide {
  input A: i32[4]
  input B: i32[4]
  output Q: i32[4]
  output R: i32[4]
  phase main {
    for i in 0 .. 4 {
      q: Q[i] = A[i] / B[i]
      r: R[i] = truncmod(A[i], B[i])
    }
  }
})");
  Array a(DataType::kI32, {4});
  Array b(DataType::kI32, {4});
  const int64_t dividends[] = {7, INT32_MIN, -7, 0};
  const int64_t divisors[] = {0, -1, 2, 0};
  for (int i = 0; i < 4; ++i) a.SetInt(i, dividends[i]), b.SetInt(i, divisors[i]);
  for (const Target& target : Targets()) {
    const auto actual = RunCompiled(nest, target, {a, b});
    ASSERT_TRUE(actual.has_value());
    const int64_t quotients[] = {0, INT32_MIN, -3, 0};
    const int64_t remainders[] = {0, 0, -1, 0};
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ((*actual)[0].GetInt(i), quotients[i]);
      EXPECT_EQ((*actual)[1].GetInt(i), remainders[i]);
    }
  }
}

TEST(Types, NarrowReductionsAndBools) {
  for (const char* type : {"f16", "bf16", "f64", "i8", "i32", "u8", "i64"}) {
    SCOPED_TRACE(type);
    ExpectAsInterpreted(fmt::format(R"(
nest narrow {{
  input A: {0}[3, 45]
  input M: bool[45]
  output C: {0}[45]
  output S: {0}[3]
  output B: bool[45]
  local acc: {0}[45]
  phase main {{
    alloc acc: register {{
      vector for j in 0 .. 45 {{
        i: acc[j] = A[0, j]
      }}
      for k in 1 .. 3 unroll 2 {{
        vector for j in 0 .. 45 {{
          m: acc[j] max= A[k, j]
        }}
      }}
      vector for j in 0 .. 45 {{
        c: C[j] = select(M[j], acc[j], A[1, j])
        b: B[j] = xor(M[j], lt(A[0, j], A[1, j]))
      }}
    }}
    for i in 0 .. 3 {{
      z: S[i] = A[0, 0]
      vector for j in 0 .. 45 {{
        s: S[i] min= A[i, j]
      }}
    }}
  }}
}})",
                                    type),
                        0);
  }
}

}  // namespace
}  // namespace tunec::jit_test
