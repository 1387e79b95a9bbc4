#include "support/duration.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

TEST(Duration, Parses) {
  EXPECT_EQ(ParseDuration("30s").value(), 30);
  EXPECT_EQ(ParseDuration("10m").value(), 600);
  EXPECT_EQ(ParseDuration("1.5h").value(), 5400);
  EXPECT_EQ(ParseDuration("45").value(), 45);
  for (const char* text : {"", "m", "10 m", "10x", "0s", "-1m", "nan", "inf", "1e400h", "10ms"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

}  // namespace
}  // namespace tunec
