// Tests of the questions about dependences that a schedule tree raises, and of the dependences that
// a question concerns.
#include "polyhedral/legality/order_questions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/overloaded.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"

namespace tunec::test {
namespace {

using testing::ElementsAre;

std::string Text(const ScheduleTree& tree, const OrderQuestion& question) {
  const std::string asks = std::visit(
      Overloaded{
          [&](const StaysInRun& run) { return "in a run: " + tree.tensors[run.tensor].name; },
          [&](const StaysInThread& thread) {
            return "in a thread: " + tree.tensors[thread.tensor].name;
          },
          [](const RunsForward&) { return std::string("forward"); },
          [&](const IsCopiedAhead& ahead) { return "ahead: " + tree.loops[ahead.loop].name; },
          [&](const IsNotCarried& loop) { return "not carried: " + tree.loops[loop.loop].name; },
      },
      question.asks);
  std::string inside;
  for (const StatementId s : question.inside) inside += " " + tree.statements[s].name;
  return fmt::format("{}; depth {};{}", asks, question.depth, inside);
}

std::vector<std::string> Texts(const ScheduleTree& tree) {
  std::vector<std::string> texts;
  for (const OrderQuestion& question : QuestionsOf(tree)) texts.push_back(Text(tree, question));
  return texts;
}

void SetKind(ScheduleTree& tree, std::string_view loop, LoopKind kind) {
  tree.loops[*tree.FindLoop(loop)].kind = kind;
}

// Adds storage of a tensor around a phase.
void Stage(ScheduleTree& tree, size_t phase, std::string_view tensor, Scope scope) {
  TreeNode stage{.kind = TreeNode::Kind::kAlloc, .tensor = *tree.FindTensor(tensor)};
  stage.scope = scope;
  stage.children = {tree.root.children[phase]};
  tree.root.children[phase] = std::move(stage);
}

TEST(OrderQuestions, SerialLoopsAskOnlyForTheOrder) {
  ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  SetKind(tree, "acc.k", LoopKind::kUnrolled);
  SetKind(tree, "acc.i", LoopKind::kWave);
  EXPECT_THAT(Texts(tree), ElementsAre("forward; depth 0; acc.init acc C"));
}

TEST(OrderQuestions, LoopsThatRunTogetherCarryNothing) {
  ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  SetKind(tree, "acc.i", LoopKind::kParallel);
  SetKind(tree, "acc.j", LoopKind::kVector);
  SetKind(tree, "C.j", LoopKind::kBlockX);
  EXPECT_THAT(Texts(tree),
              ElementsAre("forward; depth 0; acc.init acc C", "not carried: acc.i; depth 1; acc",
                          "not carried: acc.j; depth 2; acc", "not carried: C.j; depth 2; C"));
}

TEST(OrderQuestions, StagesKeepTheirValues) {
  ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  Stage(tree, 1, "acc", Scope::kRegister);
  Stage(tree, 2, "C", Scope::kShared);
  EXPECT_THAT(Texts(tree),
              ElementsAre("in a run: acc; depth 1; acc", "in a thread: acc; depth 1; acc",
                          "in a run: C; depth 1; C", "forward; depth 0; acc.init acc C"));
}

TEST(OrderQuestions, PipelinesAskBeforeLoops) {
  ScheduleTree tree = OriginalTree(MustParse(kMatmul));
  SetKind(tree, "acc.i", LoopKind::kParallel);
  tree.loops[*tree.FindLoop("acc.k")].pipeline.stages = 2;
  EXPECT_THAT(Texts(tree),
              ElementsAre("forward; depth 0; acc.init acc C", "ahead: acc.k; depth 3; acc",
                          "not carried: acc.i; depth 1; acc"));
}

constexpr StatementId kInit(0);
constexpr StatementId kSum(1);
constexpr StatementId kResult(2);

// A fixture with the tree of kMatmul. Is() returns whether the first question of a kind concerns a
// dependence.
class Concern : public testing::Test {
 protected:
  template <class Kind>
  bool Is(DependenceEnds ends, ReductionOrder order = ReductionOrder::kAny) {
    const ProofInput input{tree_.tensors, tree_.statements, tree_, order};
    for (const OrderQuestion& question : QuestionsOf(tree_)) {
      if (std::holds_alternative<Kind>(question.asks)) return Concerns(question, input, ends);
    }
    ADD_FAILURE() << "the tree asks nothing of the kind";
    return false;
  }

  ScheduleTree tree_ = OriginalTree(MustParse(kMatmul));
  TensorId acc_ = *tree_.FindTensor("acc");
};

TEST_F(Concern, ForwardSparesOnlyReductionsInAnyOrder) {
  EXPECT_TRUE(Is<RunsForward>({kInit, kSum, acc_, true}));
  EXPECT_FALSE(Is<RunsForward>({kSum, kSum, acc_, true}));
  EXPECT_TRUE(Is<RunsForward>({kSum, kSum, acc_, true}, ReductionOrder::kAsWritten));
}

TEST_F(Concern, StagesAskOfTheirTensor) {
  Stage(tree_, 1, "acc", Scope::kPacked);
  EXPECT_TRUE(Is<StaysInRun>({kSum, kResult, acc_, true}));
  EXPECT_TRUE(Is<StaysInThread>({kSum, kSum, acc_, false}));
  EXPECT_FALSE(Is<StaysInRun>({kSum, kSum, *tree_.FindTensor("C"), true}));
  EXPECT_FALSE(Is<StaysInThread>({kSum, kSum, *tree_.FindTensor("C"), true}));
}

TEST_F(Concern, PipelinesAskOfValuesThatAreCopied) {
  tree_.loops[*tree_.FindLoop("acc.k")].pipeline = {.stages = 2, .copies = {kSum}};
  EXPECT_TRUE(Is<IsCopiedAhead>({kSum, kSum, acc_, true}));
  EXPECT_FALSE(Is<IsCopiedAhead>({kSum, kSum, acc_, false}));
  EXPECT_FALSE(Is<IsCopiedAhead>({kInit, kSum, acc_, true}));
  EXPECT_FALSE(Is<IsCopiedAhead>({kSum, kResult, acc_, true}));
}

TEST_F(Concern, LoopsAskOfBothEndsInside) {
  SetKind(tree_, "acc.k", LoopKind::kParallel);
  EXPECT_TRUE(Is<IsNotCarried>({kSum, kSum, acc_, true}));
  EXPECT_FALSE(Is<IsNotCarried>({kInit, kSum, acc_, true}));
  EXPECT_FALSE(Is<IsNotCarried>({kSum, kResult, acc_, true}));
}

TEST_F(Concern, VectorLoopsSpareSumsOfLanes) {
  SetKind(tree_, "acc.k", LoopKind::kVector);
  EXPECT_FALSE(Is<IsNotCarried>({kSum, kSum, acc_, true}));
  EXPECT_TRUE(Is<IsNotCarried>({kSum, kSum, acc_, true}, ReductionOrder::kAsWritten));
  SetKind(tree_, "acc.k", LoopKind::kSerial);
  SetKind(tree_, "acc.j", LoopKind::kVector);
  EXPECT_TRUE(Is<IsNotCarried>({kSum, kSum, acc_, true}));
}

}  // namespace
}  // namespace tunec::test
