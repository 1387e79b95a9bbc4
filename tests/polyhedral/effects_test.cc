// Tests of the conditions under which a statement writes and needs elements. The conditions are
// derived from the statement's selects.
#include "polyhedral/effects.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "polyhedral/generate/generate.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "tests/polyhedral/agrees.h"
#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"

namespace tunec::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Texts(const Statement& statement,
                               const std::vector<IndexExpr>& conditions) {
  std::vector<std::string> texts;
  for (const IndexExpr& condition : conditions) {
    texts.push_back(Print(condition, [&](VarId v) { return statement.iterators[v].name; }));
  }
  return texts;
}

// Returns a Compute that fills a and b, both f32[9], and then has this statement.
Compute Turns(std::string_view statement) {
  return MustParse(fmt::format(R"(compute turns {{
  input X: f32[9]
  output a: f32[9]
  output b: f32[9]
  a[i: 9]:
    a[i] = X[i]
  b[i: 9]:
    b[i] = X[i] * 2.0
  {}
}}
)",
                               statement));
}

struct FoundEffects {
  std::vector<std::vector<std::string>> writes;  // conditions of each write
  Effects effects;
};

FoundEffects Of(const Compute& compute) {
  const Statement& statement = compute.statements.back();
  FoundEffects found{.effects = EffectsOf(compute.tensors, statement)};
  for (const ConditionalWrite& write : found.effects.writes) {
    found.writes.push_back(Texts(statement, write.when));
  }
  return found;
}

constexpr std::string_view kTurns = R"(s[p: 2 sequential, i: 9]:
    (a[i], b[i]) = (select(holds(0 - p >= 0), a[i] * 0.5, a[i]), select(holds(p - 1 >= 0, i - 2 >= 0), b[i] + a[i], b[i])))";

TEST(Effects, AWriteThatKeepsTheOldElementDoesNotHappen) {
  const Compute compute = Turns(kTurns);
  const FoundEffects found = Of(compute);
  EXPECT_TRUE(found.effects.conditional);
  EXPECT_THAT(found.writes, ElementsAre(ElementsAre("-p"), ElementsAre("p - 1", "i - 2")));
}

TEST(Effects, AReadIsNeededWhereItsUsesAre) {
  const Compute compute = Turns(kTurns);
  const Statement& statement = compute.statements.back();
  const FoundEffects found = Of(compute);
  for (size_t r = 0; r < statement.reads.size(); ++r) {
    std::vector<std::vector<std::string>> needed;
    for (const ReadUse& use : found.effects.needed[r]) {
      needed.push_back(Texts(statement, use.when));
    }
    if (compute.tensors[statement.reads[r].tensor].name == "a") {
      EXPECT_THAT(needed, ElementsAre(ElementsAre("-p"), ElementsAre("p - 1", "i - 2")));
    } else {
      EXPECT_THAT(needed, ElementsAre(ElementsAre("p - 1", "i - 2")));
    }
  }
}

TEST(Effects, TheOtherBranchNegatesOneCondition) {
  EXPECT_THAT(Of(Turns(R"(s[i: 9]:
    a[i] = select(holds(i - 3 >= 0), a[i], X[i]))"))
                  .writes,
              ElementsAre(ElementsAre("-i + 2")));
  // The failure of one of two conditions cannot be written as one condition.
  EXPECT_FALSE(Of(Turns(R"(s[i: 9]:
    a[i] = select(holds(i - 3 >= 0, 7 - i >= 0), a[i], X[i]))"))
                   .effects.conditional);
}

TEST(Effects, ATermThatMayBeZeroIsACondition) {
  EXPECT_THAT(Of(Turns(R"(s[i: 9]:
    a[i] = a[i] - select(holds(i - 3 >= 0), X[i], 0.0))"))
                  .writes,
              ElementsAre(ElementsAre("i - 3")));
  EXPECT_FALSE(Of(Turns(R"(s[i: 9]:
    a[i] = a[i] * select(holds(i - 3 >= 0), X[i], 0.0))"))
                   .effects.conditional);
}

// b's value reads the element of a that the same instance may have written just before.
TEST(Effects, WritesThatCannotBeMadeOneByOneStayTogether) {
  const FoundEffects found = Of(Turns(R"(s[p: 2 sequential, i: 9]:
    (a[i], b[i]) = (select(holds(0 - p >= 0), a[i] * 0.5, a[i]), select(holds(1 - p >= 0), b[i] + a[i], b[i])))"));
  EXPECT_FALSE(found.effects.conditional);
  EXPECT_THAT(found.writes, ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Effects, AReductionHappensEverywhere) {
  EXPECT_FALSE(Of(MustParse(kPaddedConv)).effects.conditional);
}

// Each write becomes a separate store inside its conditions.
TEST(Effects, AreWhatTheLoopsDo) {
  const Compute compute = Turns(kTurns);
  const auto nest = GenerateLoops(OriginalTree(compute), Contraction::kSeparate);
  ASSERT_TRUE(nest);
  EXPECT_TRUE(Agrees(compute, *nest));
  EXPECT_THAT(Print(*nest), HasSubstr(R"(        if (-s_p >= 0) {
          s: a[s_i] = a[s_i] * 0.5
        }
        if (s_p - 1 >= 0, s_i - 2 >= 0) {
          s: b[s_i] = b[s_i] + a[s_i]
        }
)"));
}

// The schedule's flag for non-temporal stores of a statement applies to each store.
TEST(Effects, AreStoredPastTheCachesWhereTheScheduleSaysSo) {
  const Compute compute = Turns(kTurns);
  ScheduleTree tree = OriginalTree(compute);
  tree.non_temporal[*tree.FindStatement("s")] = true;
  const auto nest = GenerateLoops(tree, Contraction::kSeparate);
  ASSERT_TRUE(nest);
  EXPECT_THAT(Print(*nest), HasSubstr("s non_temporal: a[s_i] = a[s_i] * 0.5"));
  EXPECT_THAT(Print(*nest), HasSubstr("s non_temporal: b[s_i] = b[s_i] + a[s_i]"));
}

// Instances with p = 1 read elements that were written with p = 0. Instances of one p are
// independent.
TEST(Effects, FreeWhatTheyDoNotTouch) {
  const Compute compute = Turns(kTurns);
  ScheduleTree tree = OriginalTree(compute);
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  tree.loops[*tree.FindLoop("s.i")].kind = LoopKind::kVector;
  EXPECT_TRUE(CheckLegality(dependences, tree, ReductionOrder::kAsWritten));
  tree.loops[*tree.FindLoop("s.i")].kind = LoopKind::kSerial;
  tree.loops[*tree.FindLoop("s.p")].kind = LoopKind::kParallel;
  const Status rejected = CheckLegality(dependences, tree, ReductionOrder::kAsWritten);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().message,
            "parallel loop s.p carries accesses of a: the flow dependence s(p=0, i=2) -> s(p=1, "
            "i=2) at distance (p 1, i 0) is violated");
}

Status CheckLanes(std::string_view offset) {
  ScheduleTree tree = OriginalTree(Turns(fmt::format(
      R"(s[t: 3 sequential, i: 7 sequential]:
    (a[i + 1], b[i + 1]) = (a[i + 1] * 0.5 + b[i + 2], b[i + 1] + select(holds(i - 1 >= 0), a[i {}], 0.0)))",
      offset)));
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  tree.loops[*tree.FindLoop("s.i")].kind = LoopKind::kVector;
  return CheckLegality(dependences, tree, ReductionOrder::kAsWritten);
}

// All lanes write a before any lane reads it for b, so b may need new elements of earlier lanes.
TEST(Effects, LanesTakeTurns) {
  EXPECT_TRUE(CheckLanes("+ 0"));
  // The write of b needs the old element of a later lane.
  EXPECT_FALSE(CheckLanes("+ 2"));
}

// Each step updates the elements that are both below and right of the pivot.
TEST(Effects, MakeEliminationsVectors) {
  const Compute compute = MustParse(R"(compute eliminate {
  input X: f32[7, 9]
  output a: f32[7, 9]
  a[i: 7, j: 9]:
    a[i, j] = X[i, j]
  s[k: 7 sequential, i: 7, j: 9]:
    a[i, j] = a[i, j] - select(holds(i - k - 1 >= 0, j - k - 1 >= 0), a[i, k] * a[k, j], 0.0)
}
)");
  ScheduleTree tree = OriginalTree(compute);
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  tree.loops[*tree.FindLoop("s.j")].kind = LoopKind::kVector;
  EXPECT_TRUE(CheckLegality(dependences, tree, ReductionOrder::kAsWritten));
  EXPECT_TRUE(Agrees(compute, *GenerateLoops(tree, Contraction::kSeparate)));
}

}  // namespace
}  // namespace tunec::test
