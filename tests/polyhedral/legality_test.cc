// Tests of dependences and of orders that they forbid. Illegal orders are rejected, and most
// messages name the dependence. For some illegal orders, the generated loops must give wrong
// results.
#include "polyhedral/legality/legality.h"
#include "polyhedral/explain/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "polyhedral/access.h"
#include "polyhedral/generate/generate.h"
#include "polyhedral/legality/order_proof.h"
#include "polyhedral/schedule_tree.h"
#include "tests/polyhedral/agrees.h"
#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;

Status Check(const ScheduleTree& tree, ReductionOrder order = ReductionOrder::kAny) {
  // No step has changed the tree's statements, so these dependences are the original ones.
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  const Status quick = CheckLegality(dependences, tree, order);
  const Status exact = CheckLegalityExactly(dependences, tree, order);
  EXPECT_EQ(quick.has_value(), exact.has_value());
  return quick;
}

std::string Message(const Status& status) {
  if (status) return "legal";
  EXPECT_EQ(status.error().code, ErrorCode::kIllegalSchedule);
  return status.error().message;
}

// Exchanges two nested loops.
void Exchange(ScheduleTree& tree, std::string_view a, std::string_view b) {
  TreeNode* first = FindLoopNode(tree.root, *tree.FindLoop(a));
  TreeNode* second = FindLoopNode(tree.root, *tree.FindLoop(b));
  std::swap(first->loop, second->loop);
}

void SetKind(ScheduleTree& tree, std::string_view loop, LoopKind kind) {
  tree.loops[*tree.FindLoop(loop)].kind = kind;
}

// Reverses the iterations of a loop of the statement.
void Reverse(ScheduleTree& tree, std::string_view name, StatementId statement) {
  const VarId loop = *tree.FindLoop(name);
  const IndexExpr last(tree.loops[loop].extent - 1);
  tree.forward[statement].at(loop) = last - tree.forward[statement].at(loop);
  for (IndexExpr& iterator : tree.inverse[statement]) {
    iterator = Substitute(iterator, [&](VarId v) {
      return v == loop ? last - IndexExpr::Var(v) : IndexExpr::Var(v);
    });
  }
}

// Expects that the tree is rejected with `message`, and that the tree's loops give wrong results.
void ExpectIllegal(const Compute& compute, const ScheduleTree& tree, std::string_view message) {
  EXPECT_EQ(Message(Check(tree)), message);
  EXPECT_FALSE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused)))
      << "the refusal is merely conservative";
}

TEST(Dependences, OfAMatmul) {
  const Compute compute = MustParse(kMatmul);
  const ScheduleTree tree = OriginalTree(compute);
  const auto text = PrintFlow(Dependences::Of(tree.tensors, tree.statements));
  ASSERT_TRUE(text);
  // There are dependences from the initialisation to every addition, from an addition to later
  // ones, and from every addition to the output.
  EXPECT_THAT(*text, HasSubstr("acc: { S0[i0, i1] -> S1[i0' = i0, i1' = i1, i2]"));
  EXPECT_THAT(*text, HasSubstr("acc: { S1[i0, i1, i2] -> S1[i0' = i0, i1' = i1, i2']"));
  EXPECT_THAT(*text, HasSubstr("acc: { S1[i0, i1, i2] -> S2[i0' = i0, i1' = i1]"));
}

TEST(Dependences, AreValueBased) {
  // Y reads the values that b writes. The values that a writes are overwritten.
  const Compute compute = MustParse(kOverwritten);
  const ScheduleTree tree = OriginalTree(compute);
  const auto text = PrintFlow(Dependences::Of(tree.tensors, tree.statements));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("S1[i0] -> S2[i0' = i0]"));
  EXPECT_THAT(*text, testing::Not(HasSubstr("S0[i0] -> S2")));
}

TEST(Legality, OriginalOrderIsLegal) {
  for (const std::string_view text :
       ProgramTexts{kMatmul, kPaddedConv, kSoftmax, kSeidel, kOverwritten, kScan, kScatter,
                    kInPlace, kRunningSum}) {
    const Compute compute = MustParse(text);
    const ScheduleTree tree = OriginalTree(compute);
    EXPECT_EQ(Message(Check(tree)), "legal") << text;
    EXPECT_EQ(Message(Check(tree, ReductionOrder::kAsWritten)), "legal") << text;
    EXPECT_TRUE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused))) << text;
  }
}

TEST(Legality, ReductionsMayBeReorderedUnlessAsWritten) {
  for (const auto& [text, outer, inner] : {std::tuple{std::string_view(kMatmul), "acc.j", "acc.k"},
                                           std::tuple{kPaddedConv, "Y.ic", "Y.kh"}}) {
    const Compute compute = MustParse(text);
    ScheduleTree tree = OriginalTree(compute);
    Exchange(tree, outer, inner);
    EXPECT_EQ(Message(Check(tree)), "legal");
    EXPECT_TRUE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused)));
  }
  ScheduleTree tree = OriginalTree(MustParse(kPaddedConv));
  Exchange(tree, "Y.ic", "Y.kh");
  EXPECT_THAT(Message(Check(tree, ReductionOrder::kAsWritten)),
              HasSubstr("order of accesses of Y: the flow dependence Y("));
}

TEST(Legality, ParallelReductionIsRejected) {
  ScheduleTree tree = OriginalTree(MustParse(kRunningSum));
  SetKind(tree, "Y.k", LoopKind::kParallel);
  EXPECT_EQ(Message(Check(tree)),
            "parallel loop Y.k carries accesses of Y: the flow dependence Y(k=0) -> Y(k=1) at "
            "distance (k 1) is "
            "violated");
}

TEST(Legality, VectorReductionIsAllowedWhereTheOrderIsFree) {
  ScheduleTree tree = OriginalTree(MustParse(kRunningSum));
  SetKind(tree, "Y.k", LoopKind::kVector);
  EXPECT_EQ(Message(Check(tree)), "legal");
  EXPECT_THAT(Message(Check(tree, ReductionOrder::kAsWritten)),
              HasSubstr("vector loop Y.k carries accesses of Y"));
}

TEST(Legality, RecurrenceKeepsItsOrder) {
  const Compute compute = MustParse(kScan);
  ScheduleTree tree = OriginalTree(compute);
  Reverse(tree, "Y.i", StatementId(0));
  ExpectIllegal(
      compute, tree,
      "order of accesses of Y: the flow dependence Y(i=0) -> Y(i=1) at distance (i 1) is violated");
  tree = OriginalTree(compute);
  SetKind(tree, "Y.i", LoopKind::kVector);
  EXPECT_EQ(Message(Check(tree)),
            "vector loop Y.i carries accesses of Y: the flow dependence Y(i=0) -> Y(i=1) at "
            "distance (i 1) is "
            "violated");
  SetKind(tree, "Y.i", LoopKind::kParallel);
  EXPECT_THAT(Message(Check(tree)), HasSubstr("parallel loop Y.i carries accesses of Y"));
}

TEST(Legality, ReductionThatReadsItsOwnSumIsARecurrence) {
  const Compute compute = MustParse(kSelfReading);
  ScheduleTree tree = OriginalTree(compute);
  EXPECT_EQ(Message(Check(tree)), "legal");
  Reverse(tree, "Y.i", StatementId(1));
  ExpectIllegal(compute, tree,
                "order of accesses of Y: the flow dependence Y(i=0, k=0) -> Y(i=1, k=0) at "
                "distance (i 1, k 0) is "
                "violated");
}

// Instances i and i + 1 combine into y[i + 1], though through different values of the tuple.
TEST(Legality, ReductionOfTwoValuesInOneTensorHasAnOrder) {
  constexpr std::string_view kNeighbours = R"(compute neighbours {
  input A: f32[4, 3]
  output y: f32[5]
  s[i: 4, k: 3 reduction]:
    reducer r identity (0.0, 0.0) combine (acc0_f32 + new0_f32, acc1_f32 + new1_f32)
    (y[i], y[i + 1]) r= (A[i, k], A[i, k])
}
)";
  ScheduleTree tree = OriginalTree(MustParse(kNeighbours));
  EXPECT_EQ(Message(Check(tree)), "legal");
  SetKind(tree, "s.i", LoopKind::kParallel);
  EXPECT_THAT(Message(Check(tree)), HasSubstr("y"));
  EXPECT_NE(Message(Check(tree)), "legal");
}

// Without isl, these programs are proven legal in the original order, but not with exchanged or
// parallel loops.
TEST(Legality, TheOrderAsWrittenIsProvenQuickly) {
  const auto proven = [](const ScheduleTree& tree) {
    const ProofInput input{tree.tensors, tree.statements, tree, ReductionOrder::kAsWritten};
    const std::vector<bool> found =
        ProveOrder(input, QuestionsOf(tree), WrittenStorages(tree.tensors, tree.statements));
    return std::ranges::find(found, false) == found.end();
  };
  for (const std::string_view text : ProgramTexts{kSeidelRow, kMatmul}) {
    EXPECT_TRUE(proven(OriginalTree(MustParse(text)))) << text;
  }
  ScheduleTree exchanged = OriginalTree(MustParse(kSeidelRow));
  Exchange(exchanged, "A.t", "A.i");
  EXPECT_FALSE(proven(exchanged));
  ScheduleTree parallel = OriginalTree(MustParse(kSeidelRow));
  SetKind(parallel, "A.t", LoopKind::kParallel);
  EXPECT_FALSE(proven(parallel));
}

TEST(Legality, GaussSeidelForbidsExchangeAfterReversal) {
  const Compute compute = MustParse(kSeidel);
  ScheduleTree tree = OriginalTree(compute);
  Exchange(tree, "A.t", "A.i");
  EXPECT_THAT(Message(Check(tree)), HasSubstr("order of accesses of A: the "));
  EXPECT_FALSE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused)));
  tree = OriginalTree(compute);
  SetKind(tree, "A.t", LoopKind::kParallel);
  EXPECT_THAT(Message(Check(tree)), HasSubstr("parallel loop A.t carries accesses of A"));
  tree = OriginalTree(compute);
  SetKind(tree, "A.i", LoopKind::kVector);
  EXPECT_THAT(Message(Check(tree)), HasSubstr("vector loop A.i carries accesses of A"));
}

TEST(Legality, ProducersStayBeforeConsumers) {
  const Compute compute = MustParse(kSoftmax);
  ScheduleTree tree = OriginalTree(compute);
  std::swap(tree.root.children[2], tree.root.children[3]);  // e and the initialisation of s
  EXPECT_EQ(Message(Check(tree)), "legal");
  std::swap(tree.root.children[1], tree.root.children[3]);  // m and e
  ExpectIllegal(compute, tree,
                "order of accesses of m: the flow dependence m(i=0, j=0) -> e(i=0, j=0) is "
                "violated");
}

TEST(Legality, StorageReuseKeepsItsOrder) {
  const Compute compute = MustParse(kReused);
  ScheduleTree tree = OriginalTree(compute);
  std::swap(tree.root.children[1], tree.root.children[2]);  // the second use of t comes too early
  ExpectIllegal(compute, tree,
                "order of accesses of t: the storage dependence Y(i=0) -> b(i=0) is violated");
}

TEST(Legality, AliasesShareTheirDependences) {
  const Compute compute = MustParse(kInPlace);
  ScheduleTree tree = OriginalTree(compute);
  std::swap(tree.root.children[1], tree.root.children[2]);  // u overwrites t before Y reads it
  const std::string message = Message(Check(tree));
  EXPECT_EQ(message, "order of accesses of t: the storage dependence Y(i=0) -> u(i=0) is violated");
  EXPECT_FALSE(Agrees(compute, *GenerateLoops(tree, Contraction::kFused)));
}

TEST(Legality, ScatteredWritesHideNothing) {
  // Each instance may write any element, so two instances must keep their order.
  const Compute compute = MustParse(kScatter);
  ScheduleTree tree = OriginalTree(compute);
  Reverse(tree, "Y.i", StatementId(1));
  EXPECT_THAT(Message(Check(tree)), HasSubstr("order of accesses of Y"));
}

TEST(Legality, LoadedIndicesOfTwoInstancesMayDiffer) {
  // Instances with different j may write one element, because their loaded values may differ, too.
  const Compute compute = MustParse(R"(compute shifted {
    input X: f32[3, 4]
    input I: i64[3, 4] range [0, 4]
    output Y: f32[8]
    Y.clear[j: 8]:
      Y[j] = 0.0
    Y[i: 3 sequential, j: 4 sequential]:
      Y[@(I[i, j]) + j] = X[i, j]
  })");
  ScheduleTree tree = OriginalTree(compute);
  SetKind(tree, "Y.j", LoopKind::kParallel);
  EXPECT_THAT(Message(Check(tree)), HasSubstr("parallel loop Y.j carries accesses of Y"));
}

// Moves the last phase behind the body of a loop, into the iteration `value` of the loop.
void MoveInto(ScheduleTree& tree, std::string_view loop, StatementId moved, IndexExpr value) {
  const VarId target = *tree.FindLoop(loop);
  TreeNode* node = FindLoopNode(tree.root, target);
  TreeNode sequence{.kind = TreeNode::Kind::kSequence};
  sequence.children.push_back(std::move(node->children[0]));
  sequence.children.push_back(std::move(tree.root.children.back()));
  node->children[0] = std::move(sequence);
  tree.root.children.pop_back();
  tree.forward[moved][target] = std::move(value);
}

TEST(Legality, ConsumerWaitsForEveryAdditionNotOnlyTheLast) {
  // k runs backwards, so addition k=8 comes first. The output directly after this addition is too
  // early, although k=8 is the last addition of the original order.
  const Compute compute = MustParse(kRunningSum);
  ScheduleTree tree = OriginalTree(compute);
  Reverse(tree, "Y.k", StatementId(1));
  MoveInto(tree, "Y.k", StatementId(2), IndexExpr(0));
  ExpectIllegal(
      compute, tree,
      "order of accesses of Y: the flow dependence Y(k=0) -> Z() at distance (Y.k -8) is violated");
}

TEST(Legality, EveryInstanceMustRun) {
  const Compute compute = MustParse(kRunningSum);
  ScheduleTree tree = OriginalTree(compute);
  MoveInto(tree, "Y.k", StatementId(2), IndexExpr(9));  // k has iterations 0 to 8
  ExpectIllegal(compute, tree, "not every instance of Z would run: loop Y.k has only 9 iterations");
}

TEST(Legality, LoopsMustGiveBackTheIterators) {
  const Compute compute = MustParse(kOverwritten);
  ScheduleTree tree = OriginalTree(compute);
  const VarId loop = *tree.FindLoop("Y.i");
  tree.inverse[StatementId(2)][0] = IndexExpr::FloorDiv(IndexExpr::Var(loop), 2) * 2;
  ExpectIllegal(compute, tree,
                "not every instance of Y would run: the loops do not give back iterator i");
}

// Wraps the body of a loop in separate storage for a tensor.
void StageAt(ScheduleTree& tree, std::string_view loop, std::string_view tensor) {
  TreeNode* node = FindLoopNode(tree.root, *tree.FindLoop(loop));
  TreeNode alloc{.kind = TreeNode::Kind::kAlloc, .tensor = *tree.FindTensor(tensor)};
  alloc.children = std::move(node->children);
  node->children.clear();
  node->children.push_back(std::move(alloc));
}

TEST(Legality, StagedValuesStayWithinOneRun) {
  ScheduleTree tree = OriginalTree(MustParse(kRunningSum));
  StageAt(tree, "Y.k", "Y");
  EXPECT_EQ(Message(Check(tree)), "stage of Y: statement Y.init outside it uses it");
  tree = OriginalTree(MustParse(kSeidelRow));
  StageAt(tree, "A.t", "A");
  EXPECT_EQ(Message(Check(tree)),
            "a value passes between runs of the stage of A: the flow dependence A(t=0, i=0) -> "
            "A(t=1, i=0) at distance (t 1, i 0) is violated");
}

TEST(Legality, QuotaBoundsIsl) {
  // The check of the divided indices succeeds or exceeds isl's quota.
  const Status status = Check(OriginalTree(MustParse(kDivided)));
  EXPECT_TRUE(status || status.error().code == ErrorCode::kResourceLimit);
}

TEST(Legality, IslIsItsOwn) { EXPECT_THAT(IslVersion(), HasSubstr("isl-")); }

}  // namespace
}  // namespace tunec::test
