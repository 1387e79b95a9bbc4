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
