#include "support/source.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

TEST(Source, PointsAtTheColumn) {
  const std::string text = "first\n\tsecond line\n";
  const Error error{ErrorCode::kParse, "wrong word", SourceLocation{"f.graph", 2, 3}};
  EXPECT_EQ(FormatWithSource(error, text),
            "f.graph:2:3: error: wrong word\n    2 | \tsecond line\n      | \t ^");
}

TEST(Source, WithoutALineSaysOnlyTheMessage) {
  EXPECT_EQ(FormatWithSource({ErrorCode::kIo, "disk full", std::nullopt}, "x"), "error: disk full");
  EXPECT_EQ(FormatWithSource({ErrorCode::kParse, "m", SourceLocation{"f", 9, 1}}, "x"),
            "f:9:1: error: m");
}

TEST(Source, LocatesBytes) {
  EXPECT_EQ(LocationOf("ab\ncd", "f", 4), (SourceLocation{"f", 2, 2}));
  EXPECT_EQ(LocationOf("ab\ncd", "f", 99), (SourceLocation{"f", 2, 3}));
  EXPECT_EQ(LocationOf("", "f", 0), (SourceLocation{"f", 1, 1}));
}

}  // namespace
}  // namespace tunec
