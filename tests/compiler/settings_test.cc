// Tests of the table of settings and of the list of settings in the C header.
#include "compiler/options/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "support/file.h"
#include "tests/golden/golden_file.h"

namespace tunec {
namespace {

TEST(Settings, HaveNamesAndFlagsOfTheirOwn) {
  std::set<std::string_view> names, flags;
  for (const Setting& setting : SettingTable()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    if (!setting.flag.empty()) {
      EXPECT_TRUE(flags.insert(setting.flag).second) << setting.flag;
      EXPECT_TRUE(setting.flag.starts_with("--")) << setting.flag;
    }
    EXPECT_FALSE(setting.help.empty() || setting.help.ends_with('.')) << setting.name;
    EXPECT_EQ(FindSetting(setting.name), &setting);
  }
  EXPECT_EQ(FindSetting("trails"), nullptr);
}

TEST(Settings, FormsInJson) {
  EXPECT_EQ(JsonForm(*FindSetting("trials")), "N");
  EXPECT_EQ(JsonForm(*FindSetting("naive")), "true");
  EXPECT_EQ(JsonForm(*FindSetting("timing_lock")), "false");
  EXPECT_EQ(JsonForm(*FindSetting("rules")), R"(["FILE", ...])");
  EXPECT_EQ(JsonForm(*FindSetting("shapes")), R"({"INPUT": [N, ...], ...})");
  EXPECT_EQ(JsonForm(*FindSetting("db")), R"("FILE" or null)");
}

TEST(Settings, DimensionsHaveSizesOrRanges) {
  EXPECT_EQ(*ParseDimSizes("16"), (DimSizes{{16}}));
  EXPECT_EQ(*ParseDimSizes("1,8"), (DimSizes{{1, 8}}));
  EXPECT_EQ(*ParseDimSizes("7..12"), (DimSizes{{7, 8, 10, 12}, /*exact=*/false}));
  EXPECT_EQ(*ParseDimSizes("32..32"), (DimSizes{{32}, /*exact=*/false}));
  EXPECT_TRUE(ParseDimSizes("32..32")->IsOpen());
  EXPECT_FALSE(ParseDimSizes("32")->IsOpen());
  for (const char* wrong : {"", "-1", "1,", ",1", "1..", "..2", "0..4", "4..3", "1...4", "1..4,5",
                            "1..2000000000000000", "99999999999999999999"})
    EXPECT_FALSE(ParseDimSizes(wrong)) << wrong;
  EXPECT_EQ(*ParseDimSizes("batch"), (DimSizes{.same_as = "batch"}));
  EXPECT_FALSE(ParseDimSizes("batch")->IsOpen());
}

// `tools/dev bless` rewrites the list in the header.
TEST(Settings, GoldenTheCHeaderListsThem) {
  const std::string path = std::string(TUNEC_TEST_DATA) + "/../api/include/tunec/tunec.h";
  const std::string list = DescribeAsC(SettingTable());
  auto header = ReadFile(path);
  ASSERT_TRUE(header) << header.error().message;
  const size_t begin = header->find(" *   \"");
  const size_t end = header->find(" *\n", begin);
  ASSERT_NE(end, std::string::npos);
  if (test::RewritesGoldens()) {
    std::ofstream(path) << header->replace(begin, end - begin, list);
  } else {
    EXPECT_EQ(header->substr(begin, end - begin), list);
  }
  for (size_t at = 0; at < list.size(); at = list.find('\n', at) + 1)
    EXPECT_LE(list.find('\n', at) - at, 100) << list.substr(at, 100);
}

}  // namespace
}  // namespace tunec
