// Tests of the conditions that all readers of a reduction share. No statement reads an element for
// which such a condition fails.
#include "polyhedral/conditions_of_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "polyhedral/schedule_tree.h"
#include "tests/programs/must_parse.h"

namespace tunec::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a Compute with sums on and below a diagonal, which the statement `reader` reads.
Compute Sums(const std::string& reader, const std::string& role = "workspace") {
  return MustParse(R"(compute sums {
  input X: f32[9, 9, 5]
  )" + role + R"( acc: f32[9, 9]
  output Y: f32[9, 9]
  acc[i: 9, j: 9, k: 5 reduction] where i - j >= 0, i - k >= 0:
    acc[i, j] sum= X[i, j, k]
  )" + reader + "}\n");
}

std::vector<IndexExpr> Shared(const Compute& compute) {
  const std::vector<IndexExpr> shared =
      ConditionsOfReaders(compute, compute.statements[StatementId(0)]);
  const ScheduleTree tree = OriginalTree(compute);
  EXPECT_EQ(tree.statements[StatementId(0)].domain, shared);  // domain of acc.init
  return shared;
}

const IndexExpr kBelow = IndexExpr::Var(VarId(0)) - IndexExpr::Var(VarId(1));

TEST(ConditionsOfReaders, AreThoseThatAllOfThemHave) {
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9] where i - j >= 0:
    Y[i, j] = acc[i, j]
)")),
              ElementsAre(kBelow));
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9] where i - j - 2 >= 0:
    Y[i, j] = acc[i, j + 1]
)")),
              ElementsAre(kBelow));
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9]:
    Y[i, j] = (acc[i, j] where (i - j >= 0) else 0.0)
)")),
              ElementsAre(kBelow));
}

TEST(ConditionsOfReaders, AreNoneWhereOneReadsMore) {
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9]:
    Y[i, j] = acc[i, j]
)")),
              IsEmpty());
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9] where i - j >= 0:
    Y[i, j] = acc[j, i]
)")),
              IsEmpty());
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9] where i - j >= 0:
    Y[i, j] = acc[i, j] + acc[0, j]
)")),
              IsEmpty());
}

TEST(ConditionsOfReaders, AreNoneOfOutputs) {
  EXPECT_THAT(Shared(Sums(R"(Y[i: 9, j: 9] where i - j >= 0:
    Y[i, j] = acc[i, j]
)",
                          "output")),
              IsEmpty());
}

}  // namespace
}  // namespace tunec::test
