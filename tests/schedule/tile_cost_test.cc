// Tests of the choice among register tiles of about equal cost. A tile is preferred if the constant
// operand is already packed for the tile's number of columns.
#include "schedule/sketches/tile_cost.h"

#include <gtest/gtest.h>

#include "schedule/sketch.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

const std::vector<CostedTile> kTiles = {{{.rows = 8, .columns = 16}, 104},
                                        {{.rows = 6, .columns = 32}, 100},
                                        {{.rows = 7, .columns = 48}, 103},
                                        {{.rows = 3, .columns = 48}, 106},
                                        {{.rows = 4, .columns = 64}, 120}};

int64_t ColumnsWhere(const HoldsColumns& holds) { return CheapestTile(kTiles, holds).columns; }

TEST(CheapestTile, IsTheCheapestWhereNothingIsHeld) {
  EXPECT_EQ(ColumnsWhere({}), 32);
  EXPECT_EQ(ColumnsWhere([](int64_t) { return false; }), 32);
}

TEST(CheapestTile, IsTheCheapestWhereAllIsHeld) {
  EXPECT_EQ(ColumnsWhere([](int64_t) { return true; }), 32);
}

// Costs that differ by at most half a percent count as equal. The choice must stay the same if
// the operand is packed for the chosen number of columns.
TEST(CheapestTile, IsTheSameWhereItsColumnsAreHeld) {
  const std::vector<CostedTile> tiles = {{{.rows = 9, .columns = 48}, 100.9},
                                         {{.rows = 5, .columns = 64}, 100.5},
                                         {{.rows = 6, .columns = 64}, 100.3}};
  const TileSizes alone = CheapestTile(tiles, {});
  const TileSizes held =
      CheapestTile(tiles, [&](int64_t columns) { return columns == alone.columns; });
  EXPECT_EQ(alone.rows, 6);
  EXPECT_EQ(held.rows, 6);
}

TEST(CheapestTile, IsOneThatIsHeldIfThatCostsLittle) {
  EXPECT_EQ(ColumnsWhere([](int64_t columns) { return columns == 16; }), 16);
  const TileSizes tile = CheapestTile(kTiles, [](int64_t columns) { return columns >= 48; });
  EXPECT_EQ(tile.columns, 48);
  EXPECT_EQ(tile.rows, 7);
}

TEST(CheapestTile, IsNotOneThatIsHeldIfThatCostsMuch) {
  EXPECT_EQ(ColumnsWhere([](int64_t columns) { return columns == 64; }), 32);
}

TEST(CheapestTile, OfNoneIsOneRow) { EXPECT_EQ(CheapestTile({}, {}).rows, 1); }

// Returns the initial schedule of the first sketch, for a product with this many rows and 768
// columns. `packed` returns whether a pack step's result exists already.
std::string FirstSchedule(int64_t rows, const IsPacked& packed) {
  const Compute compute = MustParse(ProductText({.rows = rows,
                                                 .columns = 768,
                                                 .length = 256,
                                                 .right = {.weight = "constant"},
                                                 .value = "acc[i, j] + 1.0"}));
  const std::vector<NamedCompute> lowerings = {{"direct", compute}};
  const Target target = Avx512();
  const std::vector<Sketch> sketches = SketchesFor({.lowerings = lowerings,
                                                    .target = target,
                                                    .rounding = ReductionOrder::kAny,
                                                    .packed = packed});
  return Print(sketches.front().Fill(sketches.front().InitialDecisions()));
}

TEST(TileSketch, TakesAnOrderThatIsInMemory) {
  for (const int64_t rows : {16, 32, 64, 128, 256, 512}) {
    for (const int64_t columns : {32, 48, 64}) {
      const std::string schedule = FirstSchedule(
          rows, [&](const PackStep& pack) { return pack.axes.back().factor == columns; });
      EXPECT_NE(schedule.find(fmt::format("pack B 1/{0} 0 1%{0}\n", columns)), std::string::npos)
          << rows << " rows, for " << columns << " columns:\n"
          << schedule;
    }
  }
}

// If all rows fit in a block, their number of tiles is not split, so that there is one partial
// tile.
TEST(TileSketch, HasOneBlockForAllRowsThatFit) {
  const std::string schedule = FirstSchedule(59, {});
  const Result<Schedule> parsed = ParseSchedule(schedule, "schedule");
  ASSERT_TRUE(parsed) << schedule;
  int64_t tiles = 0;
  for (const LoopStep& step : parsed->loop_steps) {
    const auto* const split = std::get_if<SplitStep>(&step);
    if (split != nullptr && split->loop == "acc.part.i")
      tiles = split->factors.at(0) * split->factors.at(1);
  }
  EXPECT_GE(tiles, 59) << schedule;
}

// A tile of two rows and three vectors has too few independent sums, so it is not chosen.
TEST(TileSketch, DoesNotTakeOneThatIsSlow) {
  const auto holds_48 = [](const PackStep& pack) { return pack.axes.back().factor == 48; };
  EXPECT_EQ(FirstSchedule(2, holds_48), FirstSchedule(2, {}));
}

}  // namespace
}  // namespace tunec::test
