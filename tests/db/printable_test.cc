#include "db/printable.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

TEST(Printable, ReplacesWhatControlsATerminal) {
  EXPECT_EQ(Printable("plain text"), "plain text");
  EXPECT_EQ(Printable("\x1b[2J\n\x7f"), "?[2J??");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J \xc2\x80"),
            "??2J ??");
  EXPECT_EQ(Printable("gr\xc3\xb6\xc3\x9f"
                      "e \xc2\xa0"),
            "gr\xc3\xb6\xc3\x9f"
            "e \xc2\xa0");
  EXPECT_EQ(Printable("\xff\xc2"), "??");
}

}  // namespace
}  // namespace tunec
