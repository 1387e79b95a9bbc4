// Tests of the proposals of isl's scheduler, read back as plain data: tilable bands, skewed where
// dependences require it.
#include "polyhedral/affine_schedule.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "polyhedral/legality/legality.h"
#include "support/file.h"
#include "tests/polyhedral/programs.h"

namespace tunec::test {
namespace {

Compute Example(const std::string& name) {
  const auto folder = std::filesystem::path(TUNEC_TEST_DATA).parent_path() / "examples/loops";
  return *ParseCompute(ReadFile(folder / (name + ".compute")).value_or(""), name);
}

std::string Proposed(const Compute& compute, StatementFusion fusion = StatementFusion::kSeparate) {
  const Statements statements = ExpandReductions(compute);
  const Dependences dependences = Dependences::Of(compute.tensors, statements);
  const auto proposed = ProposeSchedule(dependences, fusion);
  return proposed ? Print(*proposed, statements) : proposed.error().message;
}

TEST(AffineSchedule, SlantsAStencilOverTime) {
  EXPECT_EQ(Proposed(Example("jacobi_1d")), R"(sequence
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
  EXPECT_EQ(Proposed(Example("causal_product")), R"(sequence
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
  EXPECT_EQ(Proposed(Example("causal_product"), StatementFusion::kShared), R"(permutable band
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
  const Compute compute = Example("heat_3d");
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
