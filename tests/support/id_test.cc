// Tests of typed ids and of the vectors that they index.
#include "support/id.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <concepts>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace tunec {
namespace {

struct Bird;
struct Fish;
using BirdId = Id<Bird>;
using FishId = Id<Fish>;
using Birds = IdVector<BirdId, std::string>;

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <class Vector, class Position>
concept IndexedBy = requires(Vector vector, Position position) {
  vector[position];
};

static_assert(!std::convertible_to<int, BirdId> && !std::convertible_to<BirdId, int>);
static_assert(!std::constructible_from<BirdId, FishId>);
static_assert(Comparable<BirdId, BirdId> && !Comparable<BirdId, FishId>);
static_assert(!Comparable<BirdId, int>);
static_assert(IndexedBy<Birds, BirdId> && !IndexedBy<Birds, FishId>);
static_assert(!IndexedBy<Birds, size_t> && !IndexedBy<Birds, int>);
static_assert(!IndexedBy<std::vector<int>, BirdId>);
static_assert(std::forward_iterator<IdRange<BirdId>::Iterator>);
static_assert(std::is_trivially_copyable_v<BirdId> && sizeof(BirdId) == sizeof(int32_t));

TEST(Id, IsItsPosition) {
  EXPECT_EQ(BirdId(), BirdId(0));
  EXPECT_EQ(BirdId(3).index(), 3U);
  EXPECT_EQ(BirdId(3).next(), BirdId(4));
  EXPECT_LT(BirdId(2), BirdId(10));
}

TEST(Id, PrintsAsItsNumber) {
  EXPECT_EQ(fmt::format("S{} {:>3}", BirdId(7), BirdId(-1)), "S7  -1");
}

TEST(IdVector, GivesNewElementsTheNextId) {
  Birds birds = {"wren"};
  EXPECT_EQ(birds.next_id(), BirdId(1));
  EXPECT_EQ(birds.push_back("rook"), BirdId(1));
  EXPECT_EQ(birds[BirdId(1)], "rook");
  EXPECT_EQ(birds.id_of(birds.begin() + 1), BirdId(1));
}

TEST(IdVector, ListsItsIdsInOrder) {
  const Birds birds(3, "coot");
  std::vector<BirdId> ids;
  for (const BirdId id : birds.ids()) ids.push_back(id);
  EXPECT_EQ(ids, (std::vector{BirdId(0), BirdId(1), BirdId(2)}));
  EXPECT_EQ(Birds().ids().begin(), Birds().ids().end());
}

TEST(IdVector, KnowsWhatItContains) {
  const Birds birds(2);
  EXPECT_TRUE(birds.contains(BirdId(0)));
  EXPECT_TRUE(birds.contains(BirdId(1)));
  EXPECT_FALSE(birds.contains(BirdId(2)));
  EXPECT_FALSE(birds.contains(BirdId(-1)));
}

TEST(IdVector, InsertsAndErasesAtAnId) {
  Birds birds = {"a", "b", "c"};
  birds.insert(BirdId(1), "new");
  EXPECT_EQ(birds, (Birds{"a", "new", "b", "c"}));
  birds.erase(BirdId(0));
  EXPECT_EQ(birds, (Birds{"new", "b", "c"}));
  const std::vector<std::string> more = {"x", "y"};
  birds.insert(birds.next_id(), more.begin(), more.end());
  EXPECT_EQ(birds, (Birds{"new", "b", "c", "x", "y"}));
  EraseIf(birds, [](const std::string& bird) { return bird == "b" || bird == "y"; });
  EXPECT_EQ(birds, (Birds{"new", "c", "x"}));
}

TEST(IdVector, HoldsBits) {
  IdVector<BirdId, bool> flags(2, false);
  flags[BirdId(1)] = true;
  EXPECT_FALSE(flags[BirdId(0)]);
  EXPECT_TRUE(flags[BirdId(1)]);
}

}  // namespace
}  // namespace tunec
