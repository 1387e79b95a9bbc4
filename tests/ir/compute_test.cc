#include "ir/compute.h"

#include <gtest/gtest.h>

#include "tests/programs/text_forms.h"

namespace tunec {
namespace {

Compute MustParse(std::string_view text) {
  auto compute = ParseCompute(text, "c.txt");
  EXPECT_TRUE(compute.has_value()) << compute.error().Format();
  return compute.value_or(Compute{});
}

TEST(ComputeText, CanonicalTextsPrintAsWritten) {
  for (const auto& [name, text] : test::kTextForms) {
    const Compute compute = MustParse(text);
    EXPECT_EQ(Print(compute), text) << name;
    EXPECT_EQ(MustParse(Print(compute)), compute) << name;
    EXPECT_TRUE(Verify(compute)) << name << ": " << Verify(compute).error().message;
  }
}

TEST(ComputeText, KeepsTheNumbersOfReads) {
  Compute compute = MustParse(test::kAlignedMatmul);
  Statement& s = compute.statements[StatementId(0)];
  std::swap(s.reads[0], s.reads[1]);
  s.reads.push_back(s.reads[0]);  // a repeated read without a use
  EXPECT_EQ(MustParse(Print(compute)), compute) << Print(compute);
}

TEST(ComputeText, KeepsOddNames) {
  Compute compute = MustParse(test::kAlignedMatmul);
  compute.name = "";
  compute.tensors[TensorId(0)].name = "conv1/weight:0";
  compute.tensors[TensorId(1)].name = "max";
  compute.statements[StatementId(0)].name = "reducer";
  compute.statements[StatementId(0)].iterators[IteratorVar(0)].name = "floor";
  compute.statements[StatementId(0)].iterators[IteratorVar(1)].name = "a b";
  EXPECT_EQ(MustParse(Print(compute)), compute) << Print(compute);
}

TEST(ComputeText, SaysWhichWeightsAreFinite) {
  const std::string text =
      "compute x {\n  weight B: f32[2] constant finite align 64\n  output C: f32[2]\n"
      "  C[i: 2]:\n    C[i] = B[i]\n}\n";
  const Compute compute = MustParse(text);
  EXPECT_TRUE(compute.tensors[TensorId(0)].finite);
  EXPECT_FALSE(compute.tensors[TensorId(1)].finite);
  EXPECT_EQ(Print(compute), text);
  EXPECT_TRUE(Verify(compute).has_value());
}

TEST(ComputeText, KeepsCustomReducers) {
  Compute compute = MustParse(test::kAlignedMatmul);
  compute.statements[StatementId(0)].reducer->finalise = {Expr::Accumulator(0, DataType::kF32) /
                                                          Expr::Constant(29.0, DataType::kF32)};
  compute.statements[StatementId(0)].reducer->reorderable = false;
  EXPECT_EQ(MustParse(Print(compute)), compute) << Print(compute);
}

TEST(ComputeText, RejectsWithAPlace) {
  const auto error = [](std::string_view text) {
    const auto compute = ParseCompute(text, "c.txt");
    return compute ? "" : compute.error().Format();
  };
  EXPECT_EQ(error("graph x {"), "c.txt:1:1: error: expected 'compute', found 'graph'");
  EXPECT_EQ(error("compute x {\n  input A: f31[2]\n}"),
            "c.txt:2:12: error: expected a type as in f32[2, 3], found 'f31'");
  EXPECT_EQ(error("compute x {\n  input A: f32[-2]\n}"),
            "c.txt:2:16: error: dimension -2 is negative");
  EXPECT_EQ(
      error("compute x {\n  input A: f32[2] sticky\n}"),
      "c.txt:2:19: error: expected constant, finite, layout, align, alias, range or the end of "
      "the line, found 'sticky'");
  EXPECT_EQ(error("compute x {\n  input A: f32[2]\n  output A: f32[2]\n}"),
            "c.txt:3:10: error: a second tensor is called A");
  EXPECT_EQ(error("compute x {\n  output C: f32[2]\n  S[i: 2]:\n    D[i] = 0.0\n}"),
            "c.txt:4:5: error: no tensor is called D");
  EXPECT_EQ(error("compute x {\n  output C: f32[2]\n  S[i: 2]:\n    C[i] = 0.0 1.0\n}"),
            "c.txt:4:16: error: expected the end of the line, found '1.0'");
  EXPECT_EQ(error("compute x {\n  output C: f32[2]\n  S[i: 2]:\n    C[i] add= 0.0\n}"),
            "c.txt:4:10: error: no reducer is called add");
  EXPECT_EQ(error("compute x {\n  output C: f32[2]\n  S[i: 2]:\n    C[i] = C[q]\n}"),
            "c.txt:4:14: error: no variable is called q here");
  EXPECT_EQ(error("compute x {\n  output C: f32[2] alias D\n}"),
            "c.txt:2:26: error: no tensor is called D");
  EXPECT_EQ(error("compute x {"),
            "c.txt:1:12: error: expected a statement's name, found the end of the text");
}

// Every prefix of a text, and a text with one changed byte, gives a value or an error.
TEST(ComputeText, SurvivesDamage) {
  for (const auto& [name, text] : test::kTextForms) {
    std::string damaged(text);
    for (size_t i = 0; i < text.size(); ++i) {
      (void)ParseCompute(text.substr(0, i), "c");
      for (const char c : {'[', '-', '9', '\n', '\xff', '"'}) {
        damaged[i] = c;
        if (const auto compute = ParseCompute(damaged, "c")) (void)Verify(*compute);
      }
      damaged[i] = text[i];
    }
  }
}

TEST(Compute, StorageFollowsTheLayout) {
  const Compute compute = MustParse(test::kBlocked);
  const Tensor& tensor = compute.tensors[*compute.FindTensor("C")];
  EXPECT_EQ(StorageElements(tensor), 37 * 2 * 8);
  EXPECT_EQ(StorageBytes(tensor), 37 * 2 * 8 * 4);
  const IndexExpr offset =
      StorageOffset(tensor, {IndexExpr::Var(VarId(0)), IndexExpr::Var(VarId(1))});
  for (const int64_t j : {0, 7, 8, 12}) {
    EXPECT_EQ(Evaluate(offset, std::vector<int64_t>{3, j}), 3 * 16 + j);
  }
  // The sum of the offsets of the block and of the lane in the block is simplified to j.
  EXPECT_EQ(offset, IndexExpr::Var(VarId(0)) * 16 + IndexExpr::Var(VarId(1)));
}

TEST(Compute, CountsWork) {
  const Work work = CountWork(MustParse(test::kAlignedMatmul));
  EXPECT_EQ(work.flops, 2.0 * 37 * 29 * 13 + 37 * 13);
  EXPECT_EQ(work.bytes, 4.0 * (37 * 29 + 29 * 13 + 37 * 13));
  const Work triangle = CountWork(MustParse(test::kTriangle));
  EXPECT_EQ(triangle.flops, 55);
}

TEST(Compute, CountsInstancesOfSeparateConditions) {
  // Each of the conditions leaves out one of the 3 * 56 combinations of an output and a window row,
  // at each end. The whole box has 28 million points.
  const Compute padded = MustParse(R"(compute padded {
  input x: f32[100, 56, 56]
  output y: f32[10, 56, 56]
  y[o: 10, i: 56, j: 56, c: 100 reduction, p: 3 reduction, q: 3 reduction] where i + p - 1 >= 0, 56 - i - p >= 0, j + q - 1 >= 0, 56 - j - q >= 0:
    y[o, i, j] sum= x[c, (i + p + 55) mod 56, (j + q + 55) mod 56]
}
)");
  const double rows = 3 * 56 - 2;
  EXPECT_EQ(CountInstances(padded.statements.front()), 10 * 100 * rows * rows);
}

TEST(Compute, CountsInstancesOfConnectedConditions) {
  const Compute compute = MustParse(R"(compute connected {
  output y: f32[6, 7, 5, 4, 3]
  y[a: 6, b: 7, c: 5, d: 4, e: 3] where a - b >= 0, b - c + 1 >= 0, 2 - d >= 0, 3 - d >= 0:
    y[a, b, c, d, e] = 1.0
}
)");
  int count = 0;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 7; ++b)
      for (int c = 0; c < 5; ++c) count += a - b >= 0 && b - c + 1 >= 0 ? 3 * 3 : 0;
  EXPECT_EQ(CountInstances(compute.statements.front()), count);
}

TEST(Compute, CountsBytesOfWhatIsTouched) {
  const Work step = CountWork(MustParse(R"(compute step {
  input x: f32[200, 8, 16]
  output y: f32[8, 16]
  y[i: 8, j: 16]:
    y[i, j] = x[3, i, j]
}
)"));
  EXPECT_EQ(step.bytes, 2 * 4.0 * 8 * 16);
  const Work gather = CountWork(MustParse(R"(compute gather {
  input table: f32[2000, 16]
  input ids: i64[24] range [0, 1999]
  output y: f32[24, 16]
  y[i: 24, j: 16]:
    y[i, j] = table[@(ids[i]), j]
}
)"));
  EXPECT_EQ(gather.bytes, 2 * 4.0 * 24 * 16 + 8.0 * 24);
}

}  // namespace
}  // namespace tunec
