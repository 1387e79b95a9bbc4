// Tests of the loops that are generated from schedule trees, with bounds, conditions, isolated
// parts and phases.
#include "polyhedral/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "polyhedral/relations.h"
#include "polyhedral/schedule_tree.h"
#include "tests/polyhedral/agrees.h"
#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"

namespace tunec::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Loops(const ScheduleTree& tree) {
  const auto nest = GenerateLoops(tree, Contraction::kFused);
  EXPECT_TRUE(nest);
  EXPECT_TRUE(Verify(*nest)) << Verify(*nest).error().message;
  return Print(*nest);
}

TEST(Tree, MakesReductionsExplicit) {
  const ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  EXPECT_EQ(Print(tree), R"(sequence
  for acc.init.i < 37
    for acc.init.j < 13
      acc.init
  for acc.i < 37
    for acc.j < 13
      for acc.k < 29
        acc
  for C.i < 37
    for C.j < 13
      C
)");
}

TEST(Tree, InitialisesElementsWithoutContributions) {
  const ScheduleTree tree = OriginalTree(MustParse(kPaddedConv));
  EXPECT_TRUE(tree.statements[StatementId(0)].domain.empty());
  EXPECT_EQ(tree.statements[StatementId(0)].name, "Y.init");
  EXPECT_THAT(tree.statements[StatementId(0)].IteratorNames(), ElementsAre("o"));
}

TEST(Tree, FinalisesAfterTheLastCombination) {
  const Compute compute = MustParse(R"(compute mean {
  input X: f32[3, 5]
  output Y: f32[3]
  Y[i: 3, j: 5 reduction]:
    reducer mean identity (0.0) combine (acc0_f32 + new0_f32) finalise (acc0_f32 * 0.2)
    Y[i] mean= X[i, j]
}
)");
  const ScheduleTree tree = OriginalTree(compute);
  ASSERT_EQ(tree.statements.size(), 3U);
  EXPECT_EQ(tree.statements[StatementId(2)].name, "Y.final");
  EXPECT_TRUE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused)));
}

TEST(Tree, TimesFollowSequencesAndLoops) {
  const ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  EXPECT_THAT(TimeOf(tree, StatementId(1)),
              ElementsAre(IndexExpr(1), IndexExpr::Var(VarId(0)), IndexExpr::Var(VarId(1)),
                          IndexExpr::Var(VarId(2))));
  EXPECT_THAT(TimeOf(tree, StatementId(2)),
              ElementsAre(IndexExpr(2), IndexExpr::Var(VarId(0)), IndexExpr::Var(VarId(1))));
}

TEST(Relations, AreIslTexts) {
  const Compute compute = MustParse(kPaddedConv);
  const ScheduleTree tree = OriginalTree(compute);
  EXPECT_EQ(DomainText(StatementId(1), tree.statements[StatementId(1)]),
            "{ S1[i0, i1, i2] : 1 = 1 and 0 <= i0 < 5 and 0 <= i1 < 2 and 0 <= i2 < 3 and "
            "i0 + i2 - 1 >= 0 and -i0 - i2 + 5 >= 0 }");
  EXPECT_EQ(TimeText(StatementId(0), tree.statements[StatementId(0)], TimeOf(tree, StatementId(0))),
            "{ S0[i0] -> [0, i0] }");
}

// Returns the original tree of a Compute, with this loop isolated.
ScheduleTree Isolated(std::string_view text, std::string_view loop) {
  ScheduleTree tree = OriginalTree(MustParse(text));
  tree.loops[*tree.FindLoop(loop)].isolate = true;
  return tree;
}

TEST(Generate, ConditionsBecomeBoundsOfTheLastLoop) {
  const std::string text = Loops(OriginalTree(MustParse(kPaddedConv)));
  EXPECT_THAT(text, HasSubstr("for Y_kh in max(0, -Y_o + 1) .. min(3, -Y_o + 6)"));
  EXPECT_THAT(text, Not(HasSubstr("if")));
}

TEST(Generate, IsolationFreesTheMiddle) {
  const std::string text = Loops(Isolated(kPaddedConv, "Y.o"));
  EXPECT_THAT(text, HasSubstr("for Y_o in 1 .. 4"));
  EXPECT_THAT(text, HasSubstr("Y: Y[0] sum= X[Y_ic, Y_kh - 1] * W[Y_ic, Y_kh]"));
  EXPECT_THAT(text, HasSubstr("Y: Y[4] sum= X[Y_ic__2, Y_kh__2 + 3] * W[Y_ic__2, Y_kh__2]"));
  EXPECT_THAT(text, Not(HasSubstr("max(")));
}

TEST(Generate, PartsOfOneTreeStayOnePart) {
  // Parts of a phase may run at the same time. The parts of an isolated loop must not.
  const auto nest = GenerateLoops(Isolated(kPaddedConv, "Y.o"), Contraction::kFused);
  for (const Phase& phase : nest->phases) EXPECT_EQ(phase.body.size(), 1U) << Print(*nest);
  EXPECT_EQ(CountTasks(nest->phases[1]), 1);
}

TEST(Generate, IsolatedTasksStayOneChain) {
  ScheduleTree tree = Isolated(kPaddedConv, "Y.o");
  tree.loops[*tree.FindLoop("Y.o")].kind = LoopKind::kParallel;
  const std::string text = Loops(tree);
  EXPECT_THAT(text, HasSubstr("parallel for Y_o in 0 .. 5"));
  EXPECT_THAT(text, HasSubstr("if (Y_o - 1 >= 0, -Y_o + 3 >= 0)"));
  EXPECT_TRUE(Agrees(MustParse(kPaddedConv), *GenerateLoops(tree, Contraction::kFused)));
}

TEST(Generate, NamesOfVariablesDiffer) {
  const Compute compute = MustParse(R"(compute names {
  input X: f32[3]
  output Y: f32[3]
  output Z: f32[3]
  a.b[i: 3]:
    Y[i] = X[i]
  a_b[i: 3]:
    Z[i] = X[i]
  a_b_i[_1: 3]:
    Y[_1] = X[_1]
}
)");
  EXPECT_TRUE(Verify(*GenerateLoops(OriginalTree(compute), Contraction::kFused)));
}

TEST(Generate, EmptyDomainsGiveNoLoops) {
  const Compute compute = MustParse(R"(compute empty {
  input X: f32[0, 3]
  output Y: f32[0, 3]
  Y[i: 0, j: 3]:
    Y[i, j] = X[i, j]
}
)");
  const auto nest = GenerateLoops(OriginalTree(compute), Contraction::kFused);
  ASSERT_TRUE(nest);
  EXPECT_TRUE(nest->phases.empty());
}

TEST(Generate, GuardsAndConditionsThatRangesDecideGo) {
  const Compute compute = MustParse(R"(compute decided {
  input A: f32[4]
  input B: f32[5]
  output Y: f32[9]
  Y[i: 9]:
    Y[i] = select(holds(3 - i >= 0), (A[i] where (3 - i >= 0) else 0.0), (B[i - 4] where (i - 4 >= 0) else 0.0))
}
)");
  const std::string text = Loops(OriginalTree(compute));
  EXPECT_THAT(text, HasSubstr("where"));
  EXPECT_TRUE(Agrees(compute, *GenerateLoops(OriginalTree(compute), Contraction::kFused)));
  const Compute inside = MustParse(R"(compute inside {
  input A: f32[9]
  output Y: f32[7]
  Y[i: 7]:
    Y[i] = select(holds(8 - i >= 0), (A[i + 1] where (7 - i >= 0) else 0.0), 3.0)
}
)");
  EXPECT_THAT(Loops(OriginalTree(inside)), HasSubstr("Y: Y[Y_i] = A[Y_i + 1]\n"));
}

}  // namespace
}  // namespace tunec::test
