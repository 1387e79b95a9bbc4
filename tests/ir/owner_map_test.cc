// Tests of the register fragments of mma.sync. Every element of an operand must belong to one lane,
// the one in NVIDIA's description.
#include "ir/owner_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "ir/tile_intrinsic.h"

namespace tunec {
namespace {

// A function that returns the matrix position of element i of lane 4 * group + in_group. The
// formulas are those of NVIDIA's PTX ISA 9.2, 9.7.14.5, "Matrix Fragments for mma.m16n8k16 / k8 /
// k32".
using Described = std::function<MatrixPosition(int64_t group, int64_t in_group, int64_t i)>;

struct Fragment {
  std::string tile;
  std::string operand;
  int64_t elements = 0;
  Described position;
};
void PrintTo(const Fragment& fragment, std::ostream* out) {
  *out << fragment.tile << " " << fragment.operand;
}

Described Left16() {
  return [](int64_t group, int64_t in_group, int64_t i) {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return MatrixPosition{upper ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  };
}
Described Right16() {
  return [](int64_t group, int64_t in_group, int64_t i) {
    return MatrixPosition{in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  };
}
Described Sums() {
  return [](int64_t group, int64_t in_group, int64_t i) {
    return MatrixPosition{i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
  };
}

std::vector<Fragment> Fragments() {
  std::vector<Fragment> fragments;
  for (const std::string tile : {"mma.m16n8k16.bf16", "mma.m16n8k16.f16"}) {
    fragments.push_back({tile, "left", 8, Left16()});
    fragments.push_back({tile, "right", 4, Right16()});
    fragments.push_back({tile, "accumulator", 4, Sums()});
  }
  fragments.push_back(
      {"mma.m16n8k8.tf32", "left", 4, [](int64_t group, int64_t in_group, int64_t i) {
         return MatrixPosition{i == 0 || i == 2 ? group : group + 8,
                               i < 2 ? in_group : in_group + 4};
       }});
  fragments.push_back(
      {"mma.m16n8k8.tf32", "right", 2, [](int64_t group, int64_t in_group, int64_t i) {
         return MatrixPosition{i == 0 ? in_group : in_group + 4, group};
       }});
  fragments.push_back({"mma.m16n8k8.tf32", "accumulator", 4, Sums()});
  fragments.push_back(
      {"mma.m16n8k32.s8", "left", 16, [](int64_t group, int64_t in_group, int64_t i) {
         const bool upper = i < 4 || (i >= 8 && i < 12);
         return MatrixPosition{upper ? group : group + 8,
                               in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
       }});
  fragments.push_back(
      {"mma.m16n8k32.s8", "right", 8, [](int64_t group, int64_t in_group, int64_t i) {
         return MatrixPosition{in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
       }});
  fragments.push_back({"mma.m16n8k32.s8", "accumulator", 4, Sums()});
  return fragments;
}

const TileOperand& OperandOf(const TileIntrinsic& tile, const std::string& operand) {
  if (operand == "left") return tile.left;
  return operand == "right" ? tile.right : tile.accumulator;
}

std::pair<int64_t, int64_t> ShapeOf(const TileIntrinsic& tile, const std::string& operand) {
  const TileAxis rows = operand == "right" ? TileAxis::kReduced : TileAxis::kRow;
  const TileAxis columns = operand == "left" ? TileAxis::kReduced : TileAxis::kColumn;
  return {tile.Extent(rows), tile.Extent(columns)};
}

int64_t Mistakes(const OwnerMap& map, const Described& described) {
  int64_t mistakes = 0;
  for (int64_t lane = 0; lane < kWarpThreads; ++lane) {
    for (int64_t i = 0; i < ElementsOfLane(map); ++i) {
      mistakes += Locate(map, {lane, i}) != described(lane / 4, lane % 4, i) ? 1 : 0;
    }
  }
  return mistakes;
}

bool HasOneOwnerEach(const OwnerMap& map, int64_t rows, int64_t columns) {
  std::set<std::pair<int64_t, int64_t>> positions;
  for (int64_t lane = 0; lane < kWarpThreads; ++lane) {
    for (int64_t i = 0; i < ElementsOfLane(map); ++i) {
      const auto [row, column] = Locate(map, {lane, i});
      if (row < 0 || row >= rows || column < 0 || column >= columns) return false;
      positions.insert({row, column});
    }
  }
  return std::ssize(positions) == rows * columns &&
         kWarpThreads * ElementsOfLane(map) == rows * columns;
}

class OwnerMaps : public testing::TestWithParam<Fragment> {
 protected:
  const TileIntrinsic& tile() const { return *FindTileIntrinsic(GetParam().tile); }
  const OwnerMap& map() const { return *OperandOf(tile(), GetParam().operand).owners; }
};

TEST_P(OwnerMaps, AreWhatIsDescribed) {
  EXPECT_EQ(ElementsOfLane(map()), GetParam().elements);
  EXPECT_EQ(Mistakes(map(), GetParam().position), 0);
}

TEST_P(OwnerMaps, GiveEachElementOneOwner) {
  const auto [rows, columns] = ShapeOf(tile(), GetParam().operand);
  EXPECT_TRUE(HasOneOwnerEach(map(), rows, columns));
  const std::vector<Owner> owners = OwnersOf(map(), rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const Owner& owner = owners[static_cast<size_t>(row * columns + column)];
      EXPECT_EQ(Locate(map(), owner), (MatrixPosition{row, column}));
      // The index expressions must give the same owner in other matrices of an array.
      for (const int64_t next : {int64_t{0}, rows}) {
        const std::vector<int64_t> at = {row + next, column + 3 * columns};
        const IndexExpr r = IndexExpr::Var(VarId(0));
        const IndexExpr c = IndexExpr::Var(VarId(1));
        EXPECT_EQ(Evaluate(LaneOf(map(), r, c), at), owner.lane);
        EXPECT_EQ(Evaluate(ElementOf(map(), r, c), at), owner.element);
      }
    }
  }
}

// Each digit of an extent above 1 in turn is wrong, in two ways.
TEST_P(OwnerMaps, AreFoundWrongWithOneWrongEntry) {
  const auto [rows, columns] = ShapeOf(tile(), GetParam().operand);
  int planted = 0;
  const auto plant = [&](std::vector<OwnerDigit> OwnerMap::*digits, size_t d, auto change) {
    OwnerMap wrong = map();
    if ((wrong.*digits)[d].extent == 1) return;
    change((wrong.*digits)[d]);
    ++planted;
    EXPECT_GT(Mistakes(wrong, GetParam().position), 0) << "digit " << d;
    EXPECT_FALSE(HasOneOwnerEach(wrong, rows, columns)) << "digit " << d;
  };
  for (const auto digits : {&OwnerMap::lane, &OwnerMap::element}) {
    for (size_t d = 0; d < (map().*digits).size(); ++d) {
      plant(digits, d, [](OwnerDigit& digit) { std::swap(digit.rows, digit.columns); });
      plant(digits, d, [](OwnerDigit& digit) {
        digit.rows *= 2;
        digit.columns *= 2;
      });
    }
  }
  EXPECT_GE(planted, 6);
}

INSTANTIATE_TEST_SUITE_P(Tiles, OwnerMaps, testing::ValuesIn(Fragments()), [](const auto& info) {
  std::string name = info.param.tile + "_" + info.param.operand;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(OwnerMapEntries, ReadByHand) {
  const TileIntrinsic& bf16 = *FindTileIntrinsic("mma.m16n8k16.bf16");
  EXPECT_EQ(Locate(*bf16.left.owners, {.lane = 0, .element = 0}), (MatrixPosition{0, 0}));
  EXPECT_EQ(Locate(*bf16.left.owners, {.lane = 5, .element = 3}), (MatrixPosition{9, 3}));
  EXPECT_EQ(Locate(*bf16.left.owners, {.lane = 31, .element = 7}), (MatrixPosition{15, 15}));
  EXPECT_EQ(Locate(*bf16.right.owners, {.lane = 6, .element = 2}), (MatrixPosition{12, 1}));
  EXPECT_EQ(Locate(*bf16.accumulator.owners, {.lane = 13, .element = 3}), (MatrixPosition{11, 3}));
}

}  // namespace
}  // namespace tunec
