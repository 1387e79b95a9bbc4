// Tests of the conditions of statements at one node of a schedule tree. A condition may always
// hold, be shared or become a loop's bound. A part of a loop may have no conditions.
#include "polyhedral/generate/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"

namespace tunec::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

IndexExpr V(VarId loop) { return IndexExpr::Var(loop); }
IndexExpr V(int loop) { return V(VarId(loop)); }

constexpr StatementId kInit(0);
constexpr StatementId kSum(1);

// A fixture with kPaddedConv. The sum runs over o < 5, ic < 2 and kh < 3, where o + kh - 1 >= 0 and
// 5 - o - kh >= 0.
class ConvConditions : public testing::Test {
 protected:
  const TreeNode& Node(VarId loop) { return *FindLoopNode(tree_.root, loop); }

  ScheduleTree tree_ = OriginalTree(MustParse(kPaddedConv));
  VarId o_ = *tree_.FindLoop("Y.o");
  VarId ic_ = *tree_.FindLoop("Y.ic");
  VarId kh_ = *tree_.FindLoop("Y.kh");
  IndexExpr from_ = V(o_) + V(kh_) - 1;
  IndexExpr to_ = IndexExpr(5) - V(o_) - V(kh_);
};

TEST_F(ConvConditions, AreExtentsAndDomainAtTheRoot) {
  const Conditions conditions(tree_);
  EXPECT_THAT(conditions.Of(kSum),
              ElementsAre(V(o_), IndexExpr(4) - V(o_), V(ic_), IndexExpr(1) - V(ic_), V(kh_),
                          IndexExpr(2) - V(kh_), from_, to_));
}

TEST_F(ConvConditions, ThatAlwaysHoldAreDropped) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  EXPECT_THAT(conditions.Of(kInit), IsEmpty());
  EXPECT_THAT(conditions.Of(kSum), ElementsAre(from_, to_));
  conditions.SetRange(o_, {1, 4});
  conditions.Prove(tree_.root);
  EXPECT_THAT(conditions.Of(kSum), ElementsAre(to_));
}

TEST_F(ConvConditions, ThatNeverHoldEndAStatement) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  EXPECT_THAT(conditions.FindLiveStatements(tree_.root), ElementsAre(kInit, kSum));
  conditions.SetRange(o_, {0, 0});
  conditions.SetRange(kh_, {0, 0});
  conditions.Prove(tree_.root);
  EXPECT_THAT(conditions.FindLiveStatements(tree_.root), ElementsAre(kInit));
}

TEST_F(ConvConditions, AreKnownWhereTheirLoopsHaveValues) {
  Conditions conditions(tree_);
  EXPECT_FALSE(conditions.IsKnown(from_));
  conditions.SetValue(o_, V(7));
  EXPECT_FALSE(conditions.IsKnown(from_));
  EXPECT_TRUE(conditions.IsKnown(from_, kh_));
  conditions.SetValue(kh_, IndexExpr(2));
  EXPECT_TRUE(conditions.IsKnown(from_));
  EXPECT_EQ(conditions.ToNest(from_), V(7) + 1);
}

TEST_F(ConvConditions, BoundTheLastLoopThatTheyNeed) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  EXPECT_TRUE(conditions.TakeBounds(Node(o_)).empty());
  EXPECT_THAT(conditions.Of(kSum), ElementsAre(from_, to_));
  conditions.SetValue(o_, V(7));
  const Bounds bounds = conditions.TakeBounds(Node(kh_));
  EXPECT_THAT(bounds.lower, ElementsAre(IndexExpr(1) - V(7)));
  EXPECT_THAT(bounds.upper, ElementsAre(IndexExpr(6) - V(7)));
  EXPECT_THAT(conditions.Of(kSum), IsEmpty());
}

TEST_F(ConvConditions, OnConstantsNarrowARange) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  conditions.SetRange(o_, {0, 0});
  conditions.SetValue(o_, IndexExpr(0));
  conditions.Prove(tree_.root);
  EXPECT_TRUE(conditions.TakeBounds(Node(kh_)).empty());
  EXPECT_EQ(conditions.range(kh_), (Interval{1, 2}));
}

TEST_F(ConvConditions, OnVariablesBoundNoLoopOfTasks) {
  tree_.loops[kh_].kind = LoopKind::kParallel;
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  conditions.SetValue(o_, V(7));
  EXPECT_TRUE(conditions.TakeBounds(Node(kh_)).empty());
  EXPECT_THAT(conditions.Of(kSum), ElementsAre(from_, to_));
}

TEST_F(ConvConditions, LeaveTheMiddleOfALoopClean) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  EXPECT_EQ(conditions.FindUnconditionalRange(Node(o_)), (Interval{1, 3}));
}

// A fixture with two statements in one loop over i < 9. Statement `a` runs for i <= 6, and `b` runs
// for 2 <= i <= 6.
class SharedConditions : public testing::Test {
 protected:
  SharedConditions() {
    tree_.root.children.pop_back();
    loop_.children = {{.kind = TreeNode::Kind::kSequence,
                       .children = {{.statement = StatementId(0)}, {.statement = StatementId(1)}}}};
    tree_.forward[StatementId(1)] = {{VarId(0), V(0)}};
    tree_.inverse[StatementId(1)] = {V(0)};
  }

  ScheduleTree tree_ = OriginalTree(MustParse(R"(compute two {
  input X: f32[9]
  output Y: f32[9]
  output Z: f32[9]
  a[i: 9] where 6 - i >= 0:
    Y[i] = X[i]
  b[i: 9] where 6 - i >= 0, i - 2 >= 0:
    Z[i] = X[i]
}
)"));
  TreeNode& loop_ = tree_.root.children[0];
};

TEST_F(SharedConditions, AreTakenFromAll) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  const auto all = [](const IndexExpr&) { return true; };
  const auto none = [](const IndexExpr&) { return false; };
  EXPECT_THAT(conditions.TakeShared({StatementId(0), StatementId(1)}, none), IsEmpty());
  EXPECT_THAT(conditions.TakeShared({StatementId(0), StatementId(1)}, all),
              ElementsAre(IndexExpr(6) - V(0)));
  EXPECT_THAT(conditions.Of(StatementId(0)), IsEmpty());
  EXPECT_THAT(conditions.Of(StatementId(1)), ElementsAre(V(0) - 2));
}

TEST_F(SharedConditions, AloneBecomeBounds) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  EXPECT_TRUE(conditions.TakeBounds(loop_).empty());
  EXPECT_EQ(conditions.range(VarId(0)), (Interval{0, 6}));
  EXPECT_THAT(conditions.Of(StatementId(1)), ElementsAre(V(0) - 2));
}

TEST_F(SharedConditions, ImpliedByAnotherAreTaken) {
  Conditions conditions(tree_);
  conditions.Prove(tree_.root);
  conditions.RemoveImplied(loop_, IndexExpr(7) - V(0));
  EXPECT_THAT(conditions.Of(StatementId(0)), ElementsAre(IndexExpr(6) - V(0)));
  conditions.RemoveImplied(loop_, IndexExpr(5) - V(0));
  EXPECT_THAT(conditions.Of(StatementId(0)), IsEmpty());
  EXPECT_THAT(conditions.Of(StatementId(1)), ElementsAre(V(0) - 2));
}

// A fixture with a statement that runs for j <= i.
class TriangleConditions : public testing::Test {
 protected:
  TriangleConditions() { conditions_.Prove(tree_.root); }

  ScheduleTree tree_ = OriginalTree(MustParse(R"(compute triangle {
  input X: f32[9]
  output Y: f32[9, 9]
  Y[i: 9, j: 9] where i - j >= 0:
    Y[i, j] = X[j]
}
)"));
  VarId i_ = *tree_.FindLoop("Y.i");
  VarId j_ = *tree_.FindLoop("Y.j");
  Conditions conditions_{tree_};
};

TEST_F(TriangleConditions, AreSlantedWhereTheyDependOnVariablesOutside) {
  const TreeNode& inner = *FindLoopNode(tree_.root, j_);
  EXPECT_THAT(conditions_.FindSlantedConditions(inner, {j_}).open, IsEmpty());
  conditions_.SetValue(i_, V(7));
  EXPECT_THAT(conditions_.FindSlantedConditions(inner, {j_}).open, ElementsAre(V(i_) - 8));
  conditions_.SetValue(j_, V(8));
  EXPECT_THAT(conditions_.FindSlantedConditions(inner, {j_}).open, ElementsAre(V(i_) - V(j_)));
  EXPECT_THAT(conditions_.FindSlantedConditions(inner, {}).open, IsEmpty());
}

TEST_F(TriangleConditions, FailAtTheirWorst) {
  const TreeNode& outer = *FindLoopNode(tree_.root, i_);
  conditions_.SetRange(i_, {0, 7});
  EXPECT_TRUE(conditions_.FindSlantedConditions(outer, {i_}).fails);
  conditions_.SetRange(i_, {0, 8});
  conditions_.SetValue(i_, V(7));
  EXPECT_FALSE(conditions_.FindSlantedConditions(outer, {i_}).fails);
}

TEST_F(TriangleConditions, ContradictWhereNoValueMeetsTwo) {
  EXPECT_TRUE(conditions_.Contradict({V(i_) - 5, IndexExpr(3) - V(i_)}));
  EXPECT_FALSE(conditions_.Contradict({V(i_) - 3, IndexExpr(5) - V(i_)}));
}

// Returns the unproven conditions of a statement in the shape of a staircase. For each block b, the
// statement runs for columns 4*t + e up to 4*b + `last`.
std::vector<IndexExpr> OfStaircase(int last) {
  const std::string text = R"(compute staircase {
  input X: f32[16]
  output Y: f32[4, 16]
  Y[b: 4, t: 4, e: 4] where 4*b - 4*t - e + LAST >= 0:
    Y[b, 4*t + e] = X[4*t + e]
}
)";
  std::string with = text;
  with.replace(with.find("LAST"), 4, std::to_string(last));
  const ScheduleTree tree = OriginalTree(MustParse(with));
  Conditions conditions(tree);
  conditions.Prove(tree.root);
  return conditions.Of(StatementId(0));
}

TEST(StaircaseConditions, OfWholeTilesDoNotAskForElements) {
  EXPECT_THAT(OfStaircase(3), ElementsAre(V(0) * 4 - V(1) * 4));
  EXPECT_THAT(OfStaircase(7), ElementsAre(V(0) * 4 - V(1) * 4 + 4));
  EXPECT_THAT(OfStaircase(2), ElementsAre(V(0) * 4 - V(1) * 4 - V(2) + 2));
}

}  // namespace
}  // namespace tunec::test
