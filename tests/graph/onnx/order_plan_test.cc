// Tests of the choice between the ways to select the first elements of rows.
#include "graph/onnx/handlers/order_plan.h"

#include <gtest/gtest.h>

namespace tunec::onnx_import {
namespace {

OrderMethod MethodFor(int64_t rows, int64_t length, int64_t k) {
  return OrderPlanner(rows).Best(length, k).method;
}

TEST(OrderPlan, FewElementsAreCounted) {
  EXPECT_EQ(MethodFor(1, 10, 3), OrderMethod::kCount);
  EXPECT_EQ(MethodFor(100, 20, 20), OrderMethod::kCount);
  EXPECT_EQ(MethodFor(1, 300, 300), OrderMethod::kCount);
}

TEST(OrderPlan, ManyElementsAreSortedByTheNetwork) {
  EXPECT_EQ(MethodFor(1, 4096, 4096), OrderMethod::kNetwork);
  EXPECT_EQ(MethodFor(32, 1000, 1000), OrderMethod::kNetwork);
}

TEST(OrderPlan, FewElementsOfLongRowsAreFoundByPieces) {
  for (const int64_t length : {1000, 32000, 672000}) {
    OrderPlanner planner(4);
    const OrderPlan plan = planner.Best(length, 10);
    EXPECT_EQ(plan.method, OrderMethod::kPieces) << length;
    EXPECT_GE(plan.pieces, 10);
    EXPECT_LT(plan.pieces, length);
    EXPECT_EQ(plan.pieces & (plan.pieces - 1), 0);
    EXPECT_LT(plan.cost, planner.BestWithoutPieces(length, 10).cost);
  }
}

// Each estimate grows with the work.
TEST(OrderPlan, MoreWorkCostsMore) {
  double before = 0;
  for (int64_t length = 8; length <= 1 << 20; length *= 2) {
    const double cost = OrderPlanner(8).Best(length, 8).cost;
    EXPECT_GT(cost, before) << length;
    EXPECT_GE(OrderPlanner(16).Best(length, 8).cost, cost) << length;
    before = cost;
  }
}

}  // namespace
}  // namespace tunec::onnx_import
