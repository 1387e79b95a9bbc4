#include "db/tables/older_schedules.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

constexpr std::string_view kWorkload = R"(compute group {
  input in0: f32[37, 29]
  weight w1: f32[29, 13] constant align 64
  weight w2: f16[29, 13] constant
  input in3: f16[13]
  output out0: f32[37, 13]
  workspace acc: f32[37, 13]
  acc[i: 37, j: 13, k: 29 reduction]:
    acc[i, j] sum= in0[i, k] * w1[k, j]
}
)";

TEST(OlderSchedules, SayHowCopiesOfArgumentsAreMade) {
  EXPECT_EQ(WithStorageOrders("lower direct\n"
                              "cache_write acc\n"
                              "pack w1 1/16 0 1%16\n"
                              "pack in0 1 0\n"
                              "split acc.j 16\n"
                              "vectorize acc.j.1\n",
                              kWorkload),
            "lower direct\n"
            "cache_write acc\n"
            "pack w1 1/16 0 1%16\n"
            "pack in0 1 0\n"
            "storage_order w1.pack 64\n"
            "storage_order in0.pack 64\n"
            "split acc.j 16\n"
            "vectorize acc.j.1\n");
  EXPECT_EQ(WithStorageOrders("lower direct\npack w1 1 0\n", kWorkload),
            "lower direct\npack w1 1 0\nstorage_order w1.pack 64\n");
}

// Of widened tensors, only constants get a storage order. Steps on the loops that widen an input do
// not change.
TEST(OlderSchedules, SayHowConstantsAreWidened) {
  EXPECT_EQ(WithStorageOrders("lower direct\n"
                              "widen w2 acc\n"
                              "widen in3 acc\n"
                              "pack w2.wide 1/16 0 1%16\n"
                              "vectorize in3.wide.d0\n",
                              kWorkload),
            "lower direct\n"
            "widen w2 acc\n"
            "widen in3 acc\n"
            "pack w2.wide 1/16 0 1%16\n"
            "storage_order w2.wide 64\n"
            "vectorize in3.wide.d0\n");
}

// Packing a workspace makes no copy. So these schedules do not change, like the others below.
TEST(OlderSchedules, LeaveOthersAsTheyAre) {
  for (const std::string_view schedule :
       {"", "lower direct\n", "lower direct\npack acc 1 0\nsplit acc.j 16\n",
        "lower direct\nreduce_split acc k 4 outer\npack acc.part 2 0 1\nsplit acc.j 4\n",
        "lower direct\nwiden acc out0\n", "lower direct\npack w11 1 0\n",
        "lower direct\nunpack w1\n", "lower direct\nsplit acc.j 16\npack w1 1 0\n", "pack"}) {
    EXPECT_EQ(WithStorageOrders(schedule, kWorkload), schedule);
  }
  EXPECT_EQ(WithStorageOrders("lower direct\npack w1 1 0\n", "no Compute"),
            "lower direct\npack w1 1 0\n");
}

}  // namespace
}  // namespace tunec
