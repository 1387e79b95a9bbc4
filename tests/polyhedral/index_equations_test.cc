// Tests of the solver for equations between indices, with handwritten and random systems. The
// solutions of most systems are enumerated.
#include "polyhedral/legality/index_equations.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

#include "support/random.h"

namespace tunec {
namespace {

IndexExpr V(int variable) { return IndexExpr::Var(VarId(variable)); }
IndexExpr Floor(const IndexExpr& value, int64_t divisor) {
  return IndexExpr::FloorDiv(value, divisor);
}

// A system of equations over variables with extents.
class Equations {
 public:
  explicit Equations(std::vector<int64_t> extents)
      : extents_(std::move(extents)), solver_([this](VarId v) {
          return Interval{0, extents_[v.index()] - 1};
        }) {}

  void Add(const IndexExpr& left, const IndexExpr& right) {
    all_.push_back(left - right);
    solver_.Add(left, right);
  }
  bool AreEqual(const IndexExpr& left, const IndexExpr& right) const {
    return solver_.Replace(left - right) == std::optional(IndexExpr(0));
  }
  bool AreContradictory() const { return solver_.AreContradictory(); }

  // Checks the conclusions with every solution. Returns the number of solutions.
  int CheckConclusions() const {
    std::vector<int64_t> point(extents_.size(), 0);
    int solutions = 0;
    const std::function<void(size_t)> visit = [&](size_t position) {
      if (position < point.size()) {
        for (point[position] = 0; point[position] < extents_[position]; ++point[position])
          visit(position + 1);
        return;
      }
      for (const IndexExpr& expression : all_)
        if (Evaluate(expression, point) != 0) return;
      ++solutions;
      for (size_t v = 0; v < point.size(); ++v) {
        const auto value = solver_.Replace(V(static_cast<int>(v)));
        ASSERT_TRUE(value) << "variable " << v;
        EXPECT_EQ(Evaluate(*value, point), point[v]) << "variable " << v;
      }
    };
    visit(0);
    if (solutions > 0) EXPECT_FALSE(AreContradictory());
    return solutions;
  }

 private:
  std::vector<int64_t> extents_;
  std::vector<IndexExpr> all_;
  IndexEquations solver_;
};

TEST(IndexEquations, RowAndColumnDetermineThePosition) {
  Equations equations({12, 12});
  equations.Add(Floor(V(0), 4), Floor(V(1), 4));
  EXPECT_FALSE(equations.AreEqual(V(0), V(1)));
  equations.Add(IndexExpr::Mod(V(0), 4), IndexExpr::Mod(V(1), 4));
  EXPECT_TRUE(equations.AreEqual(V(0), V(1)));
  EXPECT_EQ(equations.CheckConclusions(), 12);
}

TEST(IndexEquations, TheOrderOfTheEquationsDoesNotMatter) {
  for (const int first : {0, 1, 2}) {
    Equations equations({24, 24});
    const auto index = [](int v) {
      return std::vector{Floor(V(v), 12), IndexExpr::Mod(Floor(V(v), 4), 3) + 1,
                         IndexExpr::Mod(V(v), 4) + 2};
    };
    for (int i = 0; i < 3; ++i) equations.Add(index(0)[(first + i) % 3], index(1)[(first + i) % 3]);
    EXPECT_TRUE(equations.AreEqual(V(0), V(1))) << first;
    EXPECT_EQ(equations.CheckConclusions(), 24);
  }
}

TEST(IndexEquations, BlocksAndOffsetsInsideThemAreSeparate) {
  // Row 2 * floor(p/3) + d of an image, and tile column p mod 3, in a transformed convolution.
  Equations equations({9, 2, 9, 2});
  equations.Add(Floor(V(0), 3) * 2 + V(1), Floor(V(2), 3) * 2 + V(3));
  EXPECT_TRUE(equations.AreEqual(V(1), V(3)));
  equations.Add(IndexExpr::Mod(V(0), 3), IndexExpr::Mod(V(2), 3));
  EXPECT_TRUE(equations.AreEqual(V(0), V(2)));
  EXPECT_EQ(equations.CheckConclusions(), 18);
}

TEST(IndexEquations, OverlappingBlocksDetermineNothing) {
  Equations equations({9, 3, 9, 3});
  equations.Add(V(0) * 2 + V(1), V(2) * 2 + V(3));
  EXPECT_FALSE(equations.AreEqual(V(1), V(3)));
  EXPECT_FALSE(equations.AreEqual(V(0), V(2)));
  EXPECT_GT(equations.CheckConclusions(), 27);
}

TEST(IndexEquations, AVariableWithoutNarrowBoundsIsReplaced) {
  // Variable 2 is the position 2 * row + tap in an image.
  Equations equations({5, 3, 11});
  equations.Add(V(2), V(0) * 2 + V(1));
  EXPECT_TRUE(equations.AreEqual(V(2) - V(0) * 2, V(1)));
  EXPECT_EQ(equations.CheckConclusions(), 15);
}

TEST(IndexEquations, DisjointRangesAreContradictory) {
  Equations equations({4, 4});
  equations.Add(V(0), V(1) + 4);
  EXPECT_TRUE(equations.AreContradictory());
  EXPECT_EQ(equations.CheckConclusions(), 0);
}

TEST(IndexEquations, EvenAndOddPositionsAreContradictory) {
  Equations equations({4, 4});
  equations.Add(V(0) * 2, V(1) * 2 + 1);
  EXPECT_TRUE(equations.AreContradictory());
  EXPECT_EQ(equations.CheckConclusions(), 0);
}

TEST(IndexEquations, LoadedIndicesSayNothing) {
  Equations equations({4, 4});
  equations.Add(IndexExpr::Loaded(0) + V(0), IndexExpr::Loaded(0) + V(1) + 9);
  equations.Add(IndexExpr::Loaded(0) + V(0), IndexExpr::Loaded(1));
  EXPECT_FALSE(equations.AreContradictory());
  EXPECT_FALSE(equations.AreEqual(V(0), V(1)));
}

TEST(IndexEquations, LargeFactorsDoNotOverflow) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  Equations equations({6, 6, 6});
  equations.Add(V(0) * kLarge + V(1) * (kLarge - 1), V(2) * kLarge);
  equations.Add(Floor(V(0), 2) * kLarge + V(1), Floor(V(2), 2) * kLarge);
  EXPECT_GT(equations.CheckConclusions(), 0);
}

// Each of these systems has a solution, but substitutions can give numbers beyond int64.
TEST(IndexEquations, ProductsOfLargeFactorsDoNotOverflow) {
  constexpr int64_t kLarge = int64_t{1} << 28;
  constexpr int64_t kExtent = int64_t{1} << 40;
  Equations division({8, 4, kLarge});
  division.Add(Floor(V(0), 4) + V(2) * 3 + 3, V(1) * kLarge);
  division.Add(Floor(V(0), 4) * (int64_t{1} << 36), 0);
  EXPECT_FALSE(division.AreContradictory());

  Equations values(std::vector<int64_t>(9, kExtent));
  values.Add(V(0), V(1) * kLarge);
  values.Add(V(1), V(2) * kLarge);
  values.Add(V(2), (V(3) - V(4)) * kLarge + V(5));
  values.Add(V(5), V(8) + 1);
  values.Add(V(0), 0);
  EXPECT_FALSE(values.AreContradictory());

  Equations zero({kExtent, kExtent});
  zero.Add(Floor(V(0), 4), V(1) * kLarge);
  zero.Add(Floor(V(0), 4) * (int64_t{1} << 36), 0);
  EXPECT_FALSE(zero.AreContradictory());
}

TEST(IndexEquations, ManyDivisionsAreIgnored) {
  Equations equations(std::vector<int64_t>(16, 1000));
  IndexExpr left;
  IndexExpr right;
  for (int v = 0; v < 8; ++v) {
    left += IndexExpr::Mod(V(v), 7) * (v + 1);
    right += IndexExpr::Mod(V(v + 8), 7) * (v + 1);
  }
  equations.Add(left, right + 10000);
  EXPECT_FALSE(equations.AreContradictory());
}

// Returns a random sum of a constant and of multiples of variables and floor divisions.
IndexExpr RandomIndex(Random& random, int variables, int depth = 2) {
  IndexExpr sum(static_cast<int64_t>(random.Below(5)) - 2);
  for (uint64_t terms = 1 + random.Below(3); terms > 0; --terms) {
    constexpr int64_t kFactors[] = {-4, -2, -1, 1, 1, 1, 2, 3, 4};
    const int64_t factor = kFactors[random.Below(std::size(kFactors))];
    const bool divides = depth > 0 && random.Below(3) == 0;
    sum += divides ? Floor(RandomIndex(random, variables, depth - 1),
                           static_cast<int64_t>(2 + random.Below(3))) *
                         factor
                   : V(static_cast<int>(random.Below(variables))) * factor;
  }
  return sum;
}

TEST(IndexEquations, ConclusionsHoldForAllSolutionsOfRandomSystems) {
  Random random(20261129);
  int solvable = 0;
  int contradictory = 0;
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    std::vector<int64_t> extents;
    for (int v = 0; v < 4; ++v) extents.push_back(static_cast<int64_t>(1 + random.Below(6)));
    Equations equations(extents);
    for (uint64_t count = 1 + random.Below(3); count > 0; --count)
      equations.Add(RandomIndex(random, 4), RandomIndex(random, 4));
    solvable += equations.CheckConclusions() > 0 ? 1 : 0;
    contradictory += equations.AreContradictory() ? 1 : 0;
  }
  // Solvable and contradictory systems occur.
  EXPECT_GT(solvable, 500);
  EXPECT_GT(contradictory, 100);
}

// The variables are positions of two instances that access one element. The index is a random split
// of a position into dimensions, as in layouts and transposes.
TEST(IndexEquations, SplitPositionsAreDetermined) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    std::vector<int64_t> sizes;
    for (uint64_t count = 2 + random.Below(3); count > 0; --count)
      sizes.push_back(static_cast<int64_t>(2 + random.Below(4)));
    int64_t extent = 1;
    for (const int64_t size : sizes) extent *= size;
    Equations equations({extent, extent});
    std::vector<size_t> dimensions;
    for (size_t d = 0; d < sizes.size(); ++d)
      dimensions.insert(dimensions.begin() + static_cast<int64_t>(random.Below(d + 1)), d);
    for (const size_t dimension : dimensions) {
      int64_t stride = 1;
      for (size_t d = dimension + 1; d < sizes.size(); ++d) stride *= sizes[d];
      const auto index = [&](int v) {
        const IndexExpr whole = Floor(V(v), stride);
        const IndexExpr own = dimension == 0 ? whole : IndexExpr::Mod(whole, sizes[dimension]);
        return own * static_cast<int64_t>(1 + round % 3) + static_cast<int64_t>(dimension);
      };
      equations.Add(index(0), index(1));
    }
    EXPECT_TRUE(equations.AreEqual(V(0), V(1)));
    EXPECT_EQ(equations.CheckConclusions(), extent);
  }
}

}  // namespace
}  // namespace tunec
