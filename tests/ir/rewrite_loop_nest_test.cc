// Tests of the functions that visit or replace the nodes of a loop nest.
#include "ir/nest/rewrite_loop_nest.h"

#include <gtest/gtest.h>

#include "tests/ir/nests.h"

namespace tunec::test {
namespace {

LoopNest Parsed(std::string_view text) { return *ParseLoopNest(text, "test"); }

template <class Kind>
int Count(const LoopNest& nest) {
  int count = 0;
  ForEach<Kind>(nest, [&](const Kind&) { ++count; });
  return count;
}

TEST(VisitLoopNest, ReachesTilesAndRoles) {
  const LoopNest nest = Parsed(kSpecialized);
  EXPECT_EQ(Count<Loop>(nest), 3);
  EXPECT_EQ(Count<Store>(nest), 2);
  EXPECT_EQ(Count<Tile>(nest), 1);
  EXPECT_EQ(Count<Barrier>(nest), 0);
}

TEST(VisitLoopNest, ReportsAccessesOfCopiesAndPrefetches) {
  const LoopNest nest = Parsed(kEverything);
  std::string accesses;
  VisitNodes(nest.phases[0].body, [&](const NestNode& node) {
    if (std::holds_alternative<Store>(node.value)) return;
    ForEachAccess(node, [&](TensorId tensor, bool writes) {
      accesses += (writes ? " writes " : " reads ") + nest.tensors[tensor].name;
    });
  });
  EXPECT_EQ(accesses, " reads A writes S reads A");
}

TEST(RewriteLoopNest, KeepsWhatNoFunctionTakes) {
  for (const auto& [name, text] : kNests) {
    EXPECT_EQ(Print(Rewrite(Parsed(text), [](Barrier barrier) { return barrier; })), text) << name;
  }
}

TEST(RewriteLoopNest, RemovesNodesWhereverTheyAre) {
  for (const auto& [name, text] : kNests) {
    const LoopNest nest = Rewrite(Parsed(text), [](const Store&) { return Body(); });
    EXPECT_EQ(Count<Store>(nest), 0) << name;
    EXPECT_EQ(Count<Loop>(nest), Count<Loop>(Parsed(text))) << name;
  }
}

TEST(RewriteLoopNest, PutsSeveralNodesInThePlaceOfOne) {
  const LoopNest nest = Rewrite(Parsed(kTiledMatmul), [](Store store) {
    Body twice = BodyOf(store);
    Append(twice, BodyOf(std::move(store)));
    return twice;
  });
  EXPECT_EQ(Count<Store>(nest), 2 * Count<Store>(Parsed(kTiledMatmul)));
}

// A loop is passed to the callback after its body is rewritten. Therefore the callback can remove a
// loop that it made empty.
TEST(RewriteLoopNest, GoesFromTheInsideOut) {
  const LoopNest nest =
      Rewrite(Parsed(kTiledMatmul),
              Overloaded{
                  [](const Store&) { return Body(); },
                  [](Loop loop) { return loop.body.empty() ? Body() : BodyOf(std::move(loop)); },
              });
  EXPECT_TRUE(nest.phases[0].body.empty());
  EXPECT_EQ(Count<Loop>(nest), 4);  // two around the alloc, and two inside it around an if
}

}  // namespace
}  // namespace tunec::test
