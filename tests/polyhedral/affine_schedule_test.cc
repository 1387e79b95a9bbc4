// Tests of the schedules that isl proposes. A schedule has permutable bands, some of which
// are skewed.
#include "polyhedral/affine_schedule.h"

#include <gtest/gtest.h>

#include "polyhedral/legality/legality.h"
#include "tests/programs/examples.h"

namespace tunec::test {
namespace {

std::string Proposed(const Compute& compute, StatementFusion fusion = StatementFusion::kSeparate) {
  const Statements statements = ExpandReductions(compute);
  const Dependences dependences = Dependences::Of(compute.tensors, statements);
  const auto proposed = ProposeSchedule(dependences, fusion);
  return proposed ? Print(*proposed, statements) : proposed.error().message;
}

TEST(AffineSchedule, SlantsAStencilOverTime) {
  EXPECT_EQ(Proposed(ExampleCompute("jacobi_1d")), R"(sequence
  permutable band
  - start: b coincident
  - start: i coincident
    start
  permutable band
  - A: t
  - A: t + i
    A
  permutable band
  - Y: i coincident
    Y
)");
}

TEST(AffineSchedule, KeepsTheSumOfAReductionInOrder) {
  EXPECT_EQ(Proposed(ExampleCompute("causal_product")), R"(sequence
  permutable band
  - acc.init: i coincident
  - acc.init: j coincident
    acc.init
  permutable band
  - acc: i coincident
  - acc: j coincident
  - acc: k
    acc
  permutable band
  - S: i coincident
  - S: j coincident
    S
)");
}

TEST(AffineSchedule, SharesLoopsBetweenStatements) {
  EXPECT_EQ(Proposed(ExampleCompute("causal_product"), StatementFusion::kShared), R"(permutable band
- acc.init: i; acc: i; S: i coincident
- acc.init: j; acc: j; S: j coincident
- acc.init: 0; acc: k; S: 18
  sequence
    acc.init
    acc
    S
)");
}

// Element i of a row needs element 7 - i of the row before.
TEST(AffineSchedule, EndsABandWhereADependenceRunsBackwards) {
  const std::string text = Proposed(*ParseCompute(R"(compute turn {
  output A: f32[9, 8]
  A[t: 8 sequential, i: 8]:
    A[t + 1, i] = A[t, 7 - i]
}
)",
                                                  "turn"));
  EXPECT_EQ(text, R"(permutable band
- A: t
  permutable band
  - A: i coincident
    A
)");
}

TEST(AffineSchedule, GivesUpAtItsQuotaAndCanBeAskedAgain) {
  const Compute compute = ExampleCompute("heat_3d");
  const Statements statements = ExpandReductions(compute);
  const Dependences dependences = Dependences::Of(compute.tensors, statements);
  const auto proposed = ProposeSchedule(dependences, StatementFusion::kShared);
  ASSERT_FALSE(proposed);
  EXPECT_EQ(proposed.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(proposed.error().message, "isl's quota of operations is too small for a schedule");
  EXPECT_TRUE(ProposeSchedule(dependences, StatementFusion::kSeparate));
  EXPECT_TRUE(CheckLegalityExactly(dependences, OriginalTree(compute), ReductionOrder::kAsWritten));
}

}  // namespace
}  // namespace tunec::test
