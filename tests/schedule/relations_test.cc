#include "schedule/relations.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

constexpr std::string_view kChain = R"(compute chain {
  input x: f32[3, 4]
  output y: f32[4]
  workspace t: f32[4, 3]
  workspace u: f32[4]
  t[i: 3, j: 4]:
    t[j, i] = x[i, j]
  u[p: 4, q: 3 reduction]:
    u[p] sum= t[p, q]
  y[j: 4]:
    y[j] = u[j] * t[j, 2 - j mod 3]
})";

// Returns the dimension of an iterator. Statements and iterators are given by their positions.
int DimensionOf(const SharedDimensions& shared, size_t statement, size_t iterator) {
  return shared.DimensionOf(StatementId(statement), IteratorVar(iterator));
}
std::optional<VarId> IteratorOf(const SharedDimensions& shared, size_t statement, int dimension) {
  return shared.IteratorOf(StatementId(statement), dimension);
}

TEST(SharedDimensions, FollowWhatIsWrittenAndRead) {
  const SharedDimensions shared = SharedDimensions::Of(MustParse(kChain));
  EXPECT_EQ(DimensionOf(shared, 0, 0), DimensionOf(shared, 1, 1));  // i and q
  EXPECT_EQ(DimensionOf(shared, 0, 1), DimensionOf(shared, 1, 0));  // j and p
  EXPECT_EQ(DimensionOf(shared, 0, 1), DimensionOf(shared, 2, 0));  // j of t and j of y
  EXPECT_NE(DimensionOf(shared, 0, 0), DimensionOf(shared, 0, 1));
  EXPECT_EQ(IteratorOf(shared, 2, DimensionOf(shared, 1, 0)), IteratorVar(0));
  EXPECT_EQ(IteratorOf(shared, 2, DimensionOf(shared, 1, 1)), std::nullopt);
}

TEST(SharedDimensions, AnIteratorThatIsTwoIsNone) {
  const SharedDimensions shared = SharedDimensions::Of(MustParse(R"(compute square {
  input x: f32[4, 4]
  output y: f32[4, 4]
  workspace t: f32[4, 4]
  t[i: 4, j: 4]:
    t[i, j] = x[i, j]
  y[a: 4, b: 4]:
    y[a, b] = t[a, b] + t[b, a]
})"));
  EXPECT_EQ(DimensionOf(shared, 1, 0), DimensionOf(shared, 1, 1));
  EXPECT_EQ(IteratorOf(shared, 1, DimensionOf(shared, 1, 0)), std::nullopt);
  EXPECT_EQ(IteratorOf(shared, 0, DimensionOf(shared, 1, 0)), std::nullopt);
}

constexpr std::string_view kCut = R"(compute cut {
  input x: f32[5, 12]
  output y: f32[5]
  workspace t: f32[5, 12]
  workspace u: f32[5, 3]
  t[i: 5, k: 12]:
    t[i, k] = x[i, k]
  u[p: 5, ko: 3, ki: 4 reduction]:
    u[p, ko] sum= t[p, 4*ko + ki]
  y[p: 5, kp: 3 reduction]:
    y[p] sum= u[p, kp]
})";

// The iterator k of t determines the iterators ko and ki of u.
TEST(RelateIterators, TellsTheParts) {
  const Compute compute = MustParse(kCut);
  const auto& statements = compute.statements;
  const auto related = RelateIterators(statements[StatementId(1)], statements[StatementId(0)]);
  ASSERT_TRUE(related);
  const IndexExpr k = IndexExpr::Var(IteratorVar(1));
  EXPECT_EQ(related->exact.at(IteratorVar(0)), IndexExpr::Var(IteratorVar(0)));
  EXPECT_EQ(related->exact.at(IteratorVar(1)), IndexExpr::FloorDiv(k, 4));
  EXPECT_EQ(related->exact.at(IteratorVar(2)), IndexExpr::Mod(k, 4));
}

// A window's iterators ko and ki are not determined, because several pairs read the same element.
TEST(RelateIterators, TellsNoWindow) {
  std::string text(kCut);
  for (size_t at = text.find("4*ko"); at != std::string::npos; at = text.find("4*ko")) {
    text.replace(at, 4, "3*ko");
  }
  const Compute compute = MustParse(text);
  const auto& statements = compute.statements;
  EXPECT_FALSE(RelateIterators(statements[StatementId(1)], statements[StatementId(0)]));
}

// Queries and keys are both rows of X. The rows and columns of y remain separate dimensions.
TEST(SharedDimensions, ReadingTheSameTensorJoinsNothing) {
  const SharedDimensions shared = SharedDimensions::Of(MustParse(R"(compute scores {
  input X: f32[4, 3]
  output y: f32[4, 4]
  workspace q: f32[4, 3]
  q[r: 4, k: 3]:
    q[r, k] = X[r, k] * 0.5
  y[r: 4, t: 4, k: 3 reduction]:
    y[r, t] sum= q[r, k] * X[t, k]
})"));
  EXPECT_EQ(DimensionOf(shared, 0, 0), DimensionOf(shared, 1, 0));
  EXPECT_NE(DimensionOf(shared, 0, 0), DimensionOf(shared, 1, 1));
}

TEST(Relations, AnIteratorIsWrittenByAnother) {
  const Compute compute = MustParse(kChain);
  const Statement& t = compute.statements[StatementId(0)];
  const Statement& u = compute.statements[StatementId(1)];
  const Statement& y = compute.statements[StatementId(2)];
  EXPECT_EQ(WrittenBy(t, u, IteratorVar(0)), IteratorVar(1));  // p: t[p, q] is t[j, i]
  EXPECT_EQ(WrittenBy(t, u, IteratorVar(1)), IteratorVar(0));  // q
  EXPECT_EQ(WrittenBy(u, y, IteratorVar(0)), IteratorVar(0));  // j of y is p of u
  EXPECT_EQ(WrittenBy(u, t, IteratorVar(0)), std::nullopt);    // t reads nothing of u
}

// Returns the values and quotients of the partner's iterators as text, in terms of the statement's
// iterators. Returns "none" without a map.
std::string Values(const std::optional<IteratorMap>& map, const Statement& partner,
                   const Statement& statement) {
  if (!map) return "none";
  std::string text;
  for (const auto& [iterator, value] : map->exact) {
    text +=
        partner.iterators[iterator].name + " = " + Print(value, statement.IteratorNames()) + "\n";
  }
  for (const auto& [iterator, quotient] : map->quotients) {
    text += partner.iterators[iterator].name + "/" + std::to_string(quotient.factor) + " = " +
            Print(quotient.value, statement.IteratorNames()) + "\n";
  }
  return text;
}

// Returns the relation of two statements as text. The statements are given by their positions.
std::string Related(const Compute& compute, int partner, int statement) {
  const Statement& of = compute.statements[StatementId(partner)];
  const Statement& over = compute.statements[StatementId(statement)];
  return Values(RelateIterators(of, over), of, over);
}

constexpr std::string_view kSpread = R"(compute spread {
  input x: f32[6, 8]
  input g: f32[3]
  output y: f32[6, 4]
  output z: f32[6, 8]
  workspace m: f32[6]
  workspace t: f32[6, 8]
  m[i: 6, k: 8 reduction]:
    m[i] max= x[i, k]
  t[a: 6, b: 8]:
    t[a, b] = x[a, b] - m[a]
  y[p: 6, q: 4]:
    y[p, q] = t[p, 2*q] * g[floor(p/2)]
  z[u: 6, v: 8]:
    z[u, v] = g[floor(u/2)]
})";

TEST(Relations, GoThroughAffineReads) {
  const Compute compute = MustParse(kSpread);
  EXPECT_EQ(Related(compute, 1, 2), "a = p\nb = 2*q\n");
  // In the other direction, b does not determine q, because no q belongs to an odd b.
  EXPECT_EQ(Related(compute, 2, 1), "none");
}

TEST(Relations, AreTheClosestOfAllTensors) {
  const Compute compute = MustParse(kSpread);
  // m only relates i. The common reads of x also relate k.
  EXPECT_EQ(Related(compute, 0, 1), "i = a\nk = b\n");
  EXPECT_EQ(Related(compute, 1, 0), "a = i\nb = k\n");
  // Both statements read g at an index divided by 2, so only the quotients are related.
  EXPECT_EQ(Related(compute, 2, 3), "p/2 = floor(u/2)\n");
  EXPECT_EQ(Related(compute, 0, 3), "none");
}

// The index q mod 4 + r does not determine q. Of q, only the quotient q/4 is related.
TEST(Relations, OfWindowsAreTheGroups) {
  const Compute compute = MustParse(R"(compute windows {
  input x: f32[3, 9]
  output y: f32[3, 8]
  workspace t: f32[2, 3, 5]
  t[g: 2, a: 3, w: 5] where 8 - 4*g - w >= 0:
    t[g, a, w] = x[a, 4*g + w]
  y[p: 3, q: 8, r: 2 reduction]:
    y[p, q] sum= t[floor(q/4), p, q mod 4 + r]
})");
  EXPECT_EQ(Related(compute, 1, 0), "p = a\nq/4 = g\n");
}

TEST(Relations, OfPartnersTheFirstOfTheClosest) {
  const Compute compute = MustParse(kSpread);
  // Statements are given by their positions. The result is -1 if no partner is related.
  const auto partner = [&](int statement, const std::vector<int>& partners) {
    const std::vector<StatementId> ids(partners.begin(), partners.end());
    const auto closest = FindClosest(compute.statements, StatementId(statement), ids);
    return closest ? closest->partner.number() : -1;
  };
  EXPECT_EQ(partner(2, {0, 1}), 1);
  EXPECT_EQ(partner(2, {3, 1}), 1);
  EXPECT_EQ(partner(3, {0, 1, 2}), 2);
  EXPECT_EQ(partner(3, {0, 1}), -1);
  EXPECT_EQ(partner(1, {0}), 0);
}

}  // namespace
}  // namespace tunec::test
