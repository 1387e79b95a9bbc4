#include "support/unique_names.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

TEST(UniqueNames, NumbersNamesThatAreInUse) {
  UniqueNames names;
  EXPECT_EQ(names.Make("a"), "a");
  EXPECT_EQ(names.Make("a"), "a_1");
  EXPECT_EQ(names.Make("a_2"), "a_2");
  EXPECT_EQ(names.Make("a"), "a_3");
  EXPECT_EQ(names.Make("a_1"), "a_1_1");
  EXPECT_TRUE(names.Contains("a_3"));
  EXPECT_FALSE(names.Contains("b"));
}

TEST(UniqueNames, RemovedNamesAreFree) {
  UniqueNames names;
  names.Make("a");
  names.Remove("a");
  EXPECT_FALSE(names.Contains("a"));
  EXPECT_EQ(names.Make("a"), "a");
}

TEST(UniqueNames, ManyEqualNamesTakeLinearTime) {
  UniqueNames names;
  for (int i = 0; i < 300000; ++i) names.Make("constant");
  EXPECT_EQ(names.Make("constant"), "constant_300000");
}

}  // namespace
}  // namespace tunec
