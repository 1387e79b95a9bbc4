#include "db/tables/sketch_names.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

constexpr std::string_view kSchedule =
    "lower direct\ncache_write acc\npack B 1/16 0 1%16\nsplit acc.j 16\nsplit acc.i 2 14\n";
constexpr std::string_view kWide = "lower direct\nwiden A acc\nsplit sum.x 16\n";

TEST(SketchNames, NameTheColumnsThatTheScheduleSplitsFirst) {
  EXPECT_EQ(WithNamedSketch("sketch=direct/tile rows=14 by=random seed=3", kSchedule),
            "sketch=direct/tile/j rows=14 by=random seed=3");
  EXPECT_EQ(WithNamedSketch("sketch=direct/tile2", kSchedule), "sketch=direct/tile/j");
  EXPECT_EQ(WithNamedSketch("sketch=direct/tile12 rows=1", kWide),
            "sketch=direct/tile/x/wide rows=1");
}

TEST(SketchNames, LeaveOtherNotesAsTheyAre) {
  for (const std::string_view note :
       {"", "seed=3", "sketch=direct/rows vector=16", "sketch=direct/tile/j rows=14",
        "sketch=direct/tiles rows=1", "sketch=tile", "by=sketch=direct/tile"}) {
    EXPECT_EQ(WithNamedSketch(note, kSchedule), note);
  }
  EXPECT_EQ(WithNamedSketch("sketch=direct/tile", "lower direct\nsplitting a.i 4\n"),
            "sketch=direct/tile");
}

}  // namespace
}  // namespace tunec
